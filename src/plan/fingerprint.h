/* Fingerprints of a project's models (spec 03 §1). Pure: the same project gives the same digits on every machine. */
#ifndef INTERLACE_PLAN_FINGERPRINT_H
#define INTERLACE_PLAN_FINGERPRINT_H

#include "project/project.h"

/* Fills local_fingerprint, fingerprint, metadata_hash and physical_hash of every model (an upstream first). */
void fingerprint_project(Project *project);

#endif
