/* The format of the state file: its tables, and the numbered steps that lead from one format to the next.
 *
 * Names of models and environments compare without letter case, as the engines compare the views' names: a model whose
 * name is written differently is still the same model. */
#include "state/state_sql.h"

#include "sql/sql_lexer.h"

/* Marks the file as ours (application_id of SQLite's header): "ilce". */
#define STATE_APPLICATION_ID 0x696C6365

typedef struct Migration {
    int64_t version; /* that the step leads to */
    const char *script;
} Migration;

static const Migration migrations[] = {
    {.version = 1,
     .script = "CREATE TABLE meta ("
               "  name TEXT PRIMARY KEY,"
               "  value TEXT NOT NULL"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE snapshots ("
               "  name TEXT NOT NULL COLLATE NOCASE,"
               "  fingerprint TEXT NOT NULL,"
               "  revision INTEGER NOT NULL,"
               "  local_fingerprint TEXT NOT NULL,"
               "  metadata_hash TEXT NOT NULL,"
               "  physical_hash TEXT NOT NULL,"
               "  definition_sql TEXT,"
               "  definition_source TEXT,"
               "  physical_catalog TEXT,"
               "  physical_schema TEXT,"
               "  physical_name TEXT,"
               "  is_view INTEGER NOT NULL,"
               "  change_category TEXT,"
               "  engine TEXT NOT NULL,"
               "  created_at INTEGER NOT NULL,"
               "  verified_at INTEGER NOT NULL,"
               "  released_at INTEGER NOT NULL,"
               "  columns_json TEXT,"
               "  PRIMARY KEY (name, fingerprint, revision)"
               ") STRICT;"

               "CREATE TABLE pointers ("
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  fingerprint TEXT NOT NULL,"
               "  revision INTEGER NOT NULL,"
               "  promoted_at INTEGER NOT NULL,"
               "  PRIMARY KEY (environment, model)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE generations ("
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  generation INTEGER NOT NULL,"
               "  promoted_at INTEGER NOT NULL,"
               "  command TEXT NOT NULL,"
               "  PRIMARY KEY (environment, generation)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE generation_pointers ("
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  generation INTEGER NOT NULL,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  fingerprint TEXT NOT NULL,"
               "  revision INTEGER NOT NULL,"
               "  PRIMARY KEY (environment, generation, model),"
               "  FOREIGN KEY (environment, generation) REFERENCES generations ON DELETE CASCADE"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE intents ("
               "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
               "  environment TEXT NOT NULL COLLATE NOCASE UNIQUE,"
               "  command TEXT NOT NULL,"
               "  created_at INTEGER NOT NULL"
               ") STRICT;"

               "CREATE TABLE intent_pointers (" /* fingerprint NULL: the model's pointer goes */
               "  intent INTEGER NOT NULL REFERENCES intents ON DELETE CASCADE,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  position INTEGER NOT NULL,"
               "  fingerprint TEXT,"
               "  revision INTEGER NOT NULL,"
               "  promoted_at INTEGER NOT NULL,"
               "  PRIMARY KEY (intent, model)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE intent_views (" /* relation_name NULL: the view is dropped */
               "  intent INTEGER NOT NULL REFERENCES intents ON DELETE CASCADE,"
               "  position INTEGER NOT NULL,"
               "  engine TEXT NOT NULL,"
               "  view_schema TEXT NOT NULL,"
               "  view_name TEXT NOT NULL,"
               "  relation_schema TEXT,"
               "  relation_name TEXT,"
               "  PRIMARY KEY (intent, position)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE locks ("
               "  name TEXT PRIMARY KEY,"
               "  token TEXT NOT NULL,"
               "  command TEXT NOT NULL,"
               "  host TEXT NOT NULL,"
               "  boot_id TEXT NOT NULL,"
               "  pid_namespace TEXT NOT NULL,"
               "  pid INTEGER NOT NULL,"
               "  process_start INTEGER NOT NULL,"
               "  since INTEGER NOT NULL,"
               "  lease_until INTEGER NOT NULL"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE check_results ("
               "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  fingerprint TEXT NOT NULL,"
               "  check_name TEXT NOT NULL,"
               "  check_type TEXT NOT NULL,"
               "  severity TEXT NOT NULL,"
               "  status TEXT NOT NULL,"
               "  failures INTEGER NOT NULL,"
               "  message TEXT,"
               "  executed_at INTEGER NOT NULL,"
               "  seconds REAL NOT NULL,"
               "  trigger_kind TEXT NOT NULL,"
               "  sample_json TEXT"
               ") STRICT;"

               "CREATE TABLE events ("
               "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
               "  happened_at INTEGER NOT NULL,"
               "  type TEXT NOT NULL,"
               "  entity TEXT NOT NULL,"
               "  payload_json TEXT NOT NULL"
               ") STRICT;"

               "PRAGMA user_version = 1;"},
    {.version = 2,
     .script = "CREATE TABLE ledger (" /* start and end in wall time; rows of one relation never overlap or touch */
               "  engine TEXT NOT NULL,"
               "  catalog TEXT NOT NULL COLLATE NOCASE,"
               "  schema TEXT NOT NULL COLLATE NOCASE,"
               "  name TEXT NOT NULL COLLATE NOCASE,"
               "  start_us INTEGER NOT NULL,"
               "  end_us INTEGER NOT NULL CHECK (start_us < end_us),"
               "  PRIMARY KEY (engine, catalog, schema, name, start_us)"
               ") STRICT, WITHOUT ROWID;"

               "ALTER TABLE snapshots ADD COLUMN config_json TEXT;" /* NULL: recorded by format 1 */
               "ALTER TABLE snapshots ADD COLUMN physical_objects TEXT;"

               "PRAGMA user_version = 2;"},
    {.version = 3,
     .script = "CREATE TABLE reclaimed (" /* snapshots that gc took; is_dropped 0: their relation is still to go */
               "  name TEXT NOT NULL COLLATE NOCASE,"
               "  fingerprint TEXT NOT NULL,"
               "  revision INTEGER NOT NULL,"
               "  engine TEXT NOT NULL,"
               "  physical_schema TEXT,"
               "  physical_name TEXT,"
               "  is_dropped INTEGER NOT NULL,"
               "  PRIMARY KEY (name, fingerprint, revision)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE orphans (" /* relations of interlace's schemas that no snapshot has, since when */
               "  engine TEXT NOT NULL,"
               "  schema TEXT NOT NULL,"
               "  name TEXT NOT NULL,"
               "  seen_at INTEGER NOT NULL,"
               "  PRIMARY KEY (engine, schema, name)"
               ") STRICT, WITHOUT ROWID;"

               "ALTER TABLE check_results ADD COLUMN run_id TEXT;" /* NULL: recorded by an earlier format */

               "PRAGMA user_version = 3;"},
    {.version = 4,
     .script = "CREATE TABLE changes ("
               "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
               "  stage TEXT NOT NULL CHECK (stage IN ('draft', 'in place', 'recorded')),"
               "  is_begun INTEGER NOT NULL,"
               "  kind TEXT NOT NULL,"
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  rows_before INTEGER," /* NULL: not known */
               "  rows_after INTEGER,"
               "  measure TEXT,"
               "  measure_before REAL,"
               "  measure_after REAL,"
               "  note TEXT,"
               "  who TEXT NOT NULL,"
               "  happened_at INTEGER NOT NULL,"
               "  campaign INTEGER,"
               "  is_published INTEGER NOT NULL" /* it is in the warehouse's table */
               ") STRICT;"
               "CREATE INDEX changes_of_model ON changes (model, id);"
               "CREATE INDEX changes_at_work ON changes (stage) WHERE stage <> 'recorded';"
               "CREATE INDEX changes_unpublished ON changes (id) WHERE stage = 'recorded' AND is_published = 0;"

               "CREATE TABLE change_windows (" /* wall time; they may touch: joined when they are read */
               "  change INTEGER NOT NULL REFERENCES changes ON DELETE CASCADE,"
               "  start_us INTEGER NOT NULL,"
               "  end_us INTEGER NOT NULL CHECK (start_us < end_us),"
               "  PRIMARY KEY (change, start_us)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE notices (" /* one message to one webhook; what it tells is in change_hooks */
               "  id TEXT PRIMARY KEY,"
               "  hook TEXT NOT NULL,"
               "  created_at INTEGER NOT NULL,"
               "  attempts INTEGER NOT NULL,"
               "  next_try_at INTEGER NOT NULL,"
               "  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),"
               "  ended_at INTEGER NOT NULL," /* 0: pending */
               "  last_error TEXT"
               ") STRICT, WITHOUT ROWID;"
               "CREATE INDEX notices_pending ON notices (next_try_at) WHERE state = 'pending';"

               "CREATE TABLE change_hooks (" /* notice NULL: of a draft */
               "  change INTEGER NOT NULL REFERENCES changes ON DELETE CASCADE,"
               "  hook TEXT NOT NULL,"
               "  notice TEXT REFERENCES notices ON DELETE SET NULL,"
               "  PRIMARY KEY (change, hook)"
               ") STRICT, WITHOUT ROWID;"
               "CREATE INDEX change_hooks_of_notice ON change_hooks (notice);"

               "PRAGMA user_version = 4;"},
    {.version = 5,
     .script = "CREATE TABLE campaigns ("
               "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
               "  environment TEXT NOT NULL COLLATE NOCASE,"
               "  state TEXT NOT NULL,"
               "  options_json TEXT NOT NULL,"
               "  start_us INTEGER NOT NULL,"
               "  end_us INTEGER NOT NULL CHECK (start_us < end_us),"
               "  note TEXT,"
               "  who TEXT NOT NULL,"
               "  created_at INTEGER NOT NULL,"
               "  published_at INTEGER NOT NULL,"
               "  error TEXT,"
               "  report_json TEXT"
               ") STRICT;"

               "CREATE TABLE campaign_models ("
               "  campaign INTEGER NOT NULL REFERENCES campaigns ON DELETE CASCADE,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  position INTEGER NOT NULL,"
               "  fingerprint TEXT NOT NULL,"
               "  revision INTEGER NOT NULL,"
               "  part TEXT NOT NULL,"
               "  engine TEXT NOT NULL,"
               "  schema TEXT,"
               "  name TEXT,"
               "  audited TEXT,"
               "  PRIMARY KEY (campaign, model)"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE campaign_batches (" /* the window in wall time; 0 to 0: the whole model */
               "  campaign INTEGER NOT NULL,"
               "  model TEXT NOT NULL COLLATE NOCASE,"
               "  position INTEGER NOT NULL,"
               "  start_us INTEGER NOT NULL,"
               "  end_us INTEGER NOT NULL,"
               "  state TEXT NOT NULL,"
               "  attempts INTEGER NOT NULL,"
               "  rows INTEGER NOT NULL,"
               "  seconds REAL NOT NULL,"
               "  error TEXT,"
               "  published TEXT,"
               "  PRIMARY KEY (campaign, model, position),"
               "  FOREIGN KEY (campaign, model) REFERENCES campaign_models ON DELETE CASCADE"
               ") STRICT, WITHOUT ROWID;"

               "CREATE TABLE campaign_plans ("
               "  id TEXT NOT NULL UNIQUE,"
               "  options_json TEXT NOT NULL"
               ") STRICT;"

               "PRAGMA user_version = 5;"},
    {.version = 6,
     .script = "ALTER TABLE campaign_models ADD COLUMN shown_fingerprint TEXT;" /* NULL: that of the campaign */
               "ALTER TABLE campaign_models ADD COLUMN put_schema TEXT;"        /* NULL: nothing is put elsewhere */
               "ALTER TABLE campaign_models ADD COLUMN put_name TEXT;"
               "ALTER TABLE campaign_models ADD COLUMN put_revision INTEGER;"

               "PRAGMA user_version = 6;"},
};
static_assert(COUNT_OF(migrations) == STATE_FORMAT_VERSION, "one step per format");

static void read_format(sqlite3_stmt *row, Arena *arena, void *rows) {
    (void)arena;
    *(StateFormat *)rows = (StateFormat){
        .version = state_column_int(row, 0),
        .application = state_column_int(row, 1),
        .object_count = state_column_int(row, 2),
    };
}

Status state_read_format(StateStore *store, StateFormat *format_out, Error *err) {
    StateFormat format = {0};
    TRY(state_query(store,
                    "SELECT (SELECT user_version FROM pragma_user_version),"
                    " (SELECT application_id FROM pragma_application_id),"
                    " (SELECT count(*) FROM sqlite_schema)",
                    NO_VALUES, read_format, NULL, &format, err));
    *format_out = format;
    return OK;
}

static Status newer_error(const StateStore *store, int64_t version, Error *err) {
    error_set(err, ERROR_CONFIGURATION,
              "state file '" STR_FMT "' has format %lld; this version of interlace knows formats up to %d",
              STR_ARG(store->path), (long long)version, STATE_FORMAT_VERSION);
    error_code(err, STR("state.newer"));
    error_hint(err, "use the newer interlace that wrote it, or name another file as `state:` in interlace.yaml");
    return FAILED;
}

Status state_check_format(const StateStore *store, StateFormat format, Error *err) {
    bool is_empty = format.application == 0 && format.object_count == 0;
    bool is_ours = format.application == STATE_APPLICATION_ID && format.version > 0;
    if (!is_empty && !is_ours) {
        error_set(err, ERROR_CONFIGURATION, "'" STR_FMT "' is a database, but not a state file of interlace",
                  STR_ARG(store->path));
        error_code(err, STR("state.foreign"));
        error_hint(err, "name another file as `state:` in interlace.yaml");
        return FAILED;
    }
    return format.version > STATE_FORMAT_VERSION ? newer_error(store, format.version, err) : OK;
}

/* What every new file says about itself. */
static Status record_origin(StateStore *store, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    Str application = str_format(scratch, "PRAGMA application_id = %d", STATE_APPLICATION_ID);
    TRY(state_script(store, application.ptr, err));
    return state_execute(store, "INSERT INTO meta (name, value) VALUES ('canonical_version', ?1)",
                         VALUES(state_text(str_format(scratch, "%d", SQL_CANONICAL_VERSION))), err);
}

/* Another process may have migrated meanwhile: what counts is the version inside the transaction. */
Status state_migrate(StateStore *store, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    StateFormat format;
    TRY(state_read_format(store, &format, err));
    TRY(state_check_format(store, format, err));

    for (size_t i = (size_t)format.version; i < COUNT_OF(migrations); i++) {
        TRY(state_script(store, migrations[i].script, err));
    }
    if (format.version == 0) {
        TRY(record_origin(store, err));
    }
    return state_transaction_commit(&transaction, err);
}
