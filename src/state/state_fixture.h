/* For the tests of this folder: a state file in a folder of its own, and processes that work on it and may die. */
#ifndef INTERLACE_STATE_STATE_FIXTURE_H
#define INTERLACE_STATE_STATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/files.h"
#include "state/state_store.h"

#include <sys/types.h>

typedef struct Fixture {
    Arena *arena;
    Str folder;
    Str path; /* of the state file; not created */
    Error err;
} Fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);
#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* Fails the test with the error's text. */
void assert_done(Status status, const Error *err);
void assert_refused(Status status, const Error *err, ErrorKind kind, const char *code);
void assert_text(Str actual, const char *expected);
void assert_mentions(Str text, const char *part);

StateStore *fixture_open(Fixture *f);
StateStore *fixture_open_existing(Fixture *f);
StateLock *fixture_lock(Fixture *f, StateStore *store);
/* Runs statements with SQLite itself, as a person with a shell would. */
void fixture_sql(Fixture *f, const char *sql);
int64_t fixture_sql_int(Fixture *f, const char *sql);
/* Names, sizes, times of change and contents of the folder's files: equal when nothing was written. */
Str fixture_folder_digest(Fixture *f);

Snapshot sample_snapshot(const char *name, const char *fingerprint);
Pointer sample_pointer(const char *model, const char *fingerprint);
/* Puts one pointer (or, with a NULL fingerprint, removes one) and gives the newest generation. */
int64_t fixture_promote(Fixture *f, StateStore *store, StateLock *lock, const char *model, const char *fingerprint);

/* ---- Processes. */

/* A piece of work that a process of its own does. It ends with 0 when all went well. */
typedef struct ChildWork {
    const char *name;
    int (*run)(Fixture *f);
} ChildWork;

/* Starts this program anew for one piece of work, with INTERLACE_HOOK set to `hook` (NULL: not set). */
pid_t fixture_start(Fixture *f, const char *work, const char *hook);
int fixture_wait(pid_t child); /* the status of waitpid */
int fixture_run(Fixture *f, const char *work, const char *hook);
void assert_killed(int status);
void assert_exited(int status, int code);
void wait_for_file(Str path); /* up to 20 s, then the test fails */

/* First thing in main: does the work and returns true when this process is a child. */
bool fixture_is_child(int argument_count, char **arguments, const ChildWork *works, size_t count, int *result_out);

#endif
