/* Fingerprints of a project's models (spec 03 §1). Pure: the same project gives the same digits on every machine. */
#ifndef INTERLACE_PLAN_FINGERPRINT_H
#define INTERLACE_PLAN_FINGERPRINT_H

#include "project/project.h"
#include "sql/sql_cache.h"

/* Raised when the digits of some parts change. */
#define FINGERPRINT_CACHE_VERSION "fingerprints 1"

/* Fills local_fingerprint, fingerprint, metadata_hash and physical_hash of every model (an upstream first). `known` has
 * the fingerprints of earlier commands, and gets those that are new; NULL is fine. */
void fingerprint_project(Project *project, SqlCache *known);

/* The fingerprint that the model would have over upstreams of these fingerprints (any order). */
Str fingerprint_over(const Model *model, const StrVec *upstreams, Arena *arena);
/* … with another query and configuration: of an earlier version of it, as a snapshot records them. */
MUST_CHECK Status fingerprint_of_text(Str sql, Str config_json, const StrVec *upstreams, Arena *arena,
                                      Str *fingerprint_out, Error *err);

#endif
