/* Session: everything one command works with: the loaded project, the state store, the engine, Python workers. Parts
 * open on first need, so that a command that needs no warehouse opens none. One thread drives it. */
#ifndef INTERLACE_RUN_SESSION_H
#define INTERLACE_RUN_SESSION_H

#include "engine/engine.h"
#include "project/project.h"
#include "python/python_runtime.h"
#include "run/event.h"
#include "state/state_store.h"
#include "window/zone.h"

struct Session;

typedef struct SessionOptions {
    Str root;      /* --path; an absent one is a ConfigurationError "no interlace project at …" */
    Str overlay;   /* --overlay */
    bool no_cache; /* --no-cache */
    EventSink events;
    bool *has_notices; /* may be NULL: set when a command of this session leaves webhooks to be told (run/notify.h) */
    /* Finishes what dead commands of upper folders left; under the lock `apply`. NULL: nothing. */
    Status (*recover)(struct Session *session, StateLock *lock, Error *err);
} SessionOptions;

DEFINE_VEC(ProjectVec, project_vec, Project *)

typedef struct Session {
    Project *project;
    EventSink events;
    /* private to run/ */
    SessionOptions options;
    PythonRuntime *python;
    StateStore *state;
    bool state_is_writable;
    Engine *engine;
    bool engine_is_read_only;
    StrVec writable_aliases, unused_aliases;
    Arena *arena;
    Str run_id;        /* of this command: INTERLACE_RUN_ID, else random */
    ProjectVec loaded; /* all projects of this command: the Python runtime keeps the first one's configuration */
    struct SessionLock *emit_lock;
    struct TestPoller *poller; /* run/test_poller.h */
} Session;

/* Loads the project (all faults are reported together) and computes fingerprints. Touches neither state nor warehouse.
 */
MUST_CHECK Status session_open(const SessionOptions *options, Session **session_out, ErrorList *faults);
void session_close(Session *session); /* NULL is fine */
DEFINE_AUTO(Session, session, session_close)

/* The project as its files are now and, with `dynamic` (may be NULL), as it would be with these in place of the files
 * of their names. The session owns it, and goes on with its own until the caller sets session->project. */
MUST_CHECK Status session_load_again(Session *session, const DynamicModelVec *dynamic, Project **project_out,
                                     ErrorList *faults);

/* The state store for reading: creates nothing on disk. Finishes nothing. */
MUST_CHECK Status session_state_for_reading(Session *session, StateStore **state_out, Error *err);
/* For writing: created when absent. */
MUST_CHECK Status session_state_for_writing(Session *session, StateStore **state_out, Error *err);
/* Attachments that the engine, opened for writing, may write to, and those that it leaves closed. Before its first use,
 * or it is opened anew when it has to. Copied. */
void session_use_attachments(Session *session, const StrVec *written, const StrVec *unused);
/* The project's zone (spec 02 §9.3): configured, else recorded, else the machine's. */
MUST_CHECK Status session_zone(Session *session, const Zone **zone_out, Error *err);
MUST_CHECK Status session_engine(Session *session, bool read_only, Engine **engine_out, Error *err);
/* No connection is in use. The next session_engine opens it anew. */
void session_close_engine(Session *session);

/* Any thread; calls are serialised. */
void session_emit(Session *session, Event event);
void session_note(Session *session, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
