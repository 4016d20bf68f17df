/* Named points at which a test makes the process die, fail or wait: INTERLACE_HOOK="name=action[@n]", several joined by
 * `,`. Actions: kill (SIGKILL), fail (the caller gets an Error), wait:<ms>, touch:<file> (creates it, then goes on).
 * `@n` means the n-th passage only (from 1). And things that the engine is to do without: INTERLACE_WITHOUT="name,…".
 * Compiled in by -Dtest_hooks=true; otherwise nothing is left of them. */
#ifndef INTERLACE_BASE_TEST_HOOKS_H
#define INTERLACE_BASE_TEST_HOOKS_H

#include "base/error.h"

#ifdef INTERLACE_TEST_HOOKS
MUST_CHECK Status test_hook(const char *name, Error *err);
bool test_without(const char *name);
#else
static inline Status test_hook(const char *name, Error *err) {
    (void)name;
    (void)err;
    return OK;
}
static inline bool test_without(const char *name) {
    (void)name;
    return false;
}
#endif

#endif
