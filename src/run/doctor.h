/* `doctor`: everything that a command would need, looked at, so that one who is stuck sees what is wrong. Changes
 * nothing: takes no lock, finishes no promotion. */
#ifndef INTERLACE_RUN_DOCTOR_H
#define INTERLACE_RUN_DOCTOR_H

#include "run/session.h"

typedef enum FindingStatus {
    FINDING_OK,
    FINDING_WARNING, /* worth knowing; the next command copes with it */
    FINDING_PROBLEM  /* stops commands, or something recorded is not there */
} FindingStatus;

typedef struct Finding {
    Str subject; /* "configuration", "models", "engine warehouse", … */
    FindingStatus status;
    Str message, hint; /* hint empty: none */
} Finding;
DEFINE_VEC(FindingVec, finding_vec, Finding)

/* In the order in which one part needs another. Never fails: what cannot be looked at is a finding. Texts live in
 * `arena`. */
void doctor_look(const SessionOptions *options, Arena *arena, FindingVec *findings_out);
const char *finding_status_name(FindingStatus status); /* "ok", "warning", "problem" */

#endif
