#include "config/project_keys.h"

#include "config/project_config.h"

/* `meaning` begins a sentence that the reference page ends; of a refused key it also names the feature in the error. */

static const Str dialect_names[] = {
    STR_INIT("duckdb"),   STR_INIT("postgres"), STR_INIT("snowflake"),
    STR_INIT("bigquery"), STR_INIT("spark"),    STR_INIT("redshift"),
};
static const Str engine_type_names[] = {
    STR_INIT("duckdb"),   STR_INIT("ducklake"),  STR_INIT("quack"),    STR_INIT("motherduck"), STR_INIT("postgres"),
    STR_INIT("redshift"), STR_INIT("snowflake"), STR_INIT("bigquery"), STR_INIT("spark"),      STR_INIT("adbc"),
};
static const Str secret_types[] = {
    STR_INIT("s3"),   STR_INIT("gcs"),      STR_INIT("r2"),          STR_INIT("azure"),
    STR_INIT("http"), STR_INIT("postgres"), STR_INIT("huggingface"),
};
static const Str secret_providers[] = {STR_INIT("config"), STR_INIT("credential_chain")};
static const Str url_styles[] = {STR_INIT("path"), STR_INIT("vhost")};
static const Str transports[] = {STR_INIT("native"), STR_INIT("adbc")};
static const Str var_types[] = {
    STR_INIT("string"), STR_INIT("int"), STR_INIT("float"), STR_INIT("bool"), STR_INIT("date"), STR_INIT("timestamp"),
};
static const Str input_formats[] = {
    STR_INIT("parquet"), STR_INIT("csv"), STR_INIT("json"), STR_INIT("delta"), STR_INIT("iceberg"),
};
static const Str drift_policies[] = {STR_INIT("reject"), STR_INIT("evolve"), STR_INIT("quarantine")};
static const Str consumer_modes[] = {STR_INIT("auto"), STR_INIT("none")};
static const Str snapshot_modes[] = {STR_INIT("initial"), STR_INIT("never")};
static const Str note_modes[] = {STR_INIT("required"), STR_INIT("optional")};
static const Str loss_modes[] = {STR_INIT("error"), STR_INIT("cast")};
static const Str isolation_modes[] = {STR_INIT("pool"), STR_INIT("process-per-task")};

#define CHOICES(list) .shape = KEY_CHOICE, .choices = (list), .choice_count = COUNT_OF(list)
#define TABLE(rule_list) .rules = (rule_list), .count = COUNT_OF(rule_list)

/* clang-format off */
static const KeyRule secret_rules[] = {
    {.name = STR_INIT("type"), CHOICES(secret_types), .standard = "s3", .meaning = "Kind of store"},
    {.name = STR_INIT("provider"), CHOICES(secret_providers), .standard = "config", .meaning = "Where the credentials come from"},
    {.name = STR_INIT("key_id"), .meaning = "Access key"},
    {.name = STR_INIT("secret"), .meaning = "Secret key"},
    {.name = STR_INIT("session_token"), .meaning = "Token of a temporary session"},
    {.name = STR_INIT("endpoint"), .meaning = "`host` or `host:port`, without a scheme"},
    {.name = STR_INIT("region"), .meaning = "Region of the store"},
    {.name = STR_INIT("url_style"), CHOICES(url_styles), .meaning = "How bucket names are put into addresses; `path` for look-alikes of S3"},
    {.name = STR_INIT("use_ssl"), .shape = KEY_BOOL, .standard = "true", .meaning = "Whether to use TLS"},
    {.name = STR_INIT("scope"), .meaning = "URL prefix the secret is for"},
    {.name = STR_INIT("account_id"), .meaning = "Account of an `r2` store"},
    {.name = STR_INIT("connection_string"), .meaning = "Connection string of an `azure` store"},
    {.name = STR_INIT("account_name"), .meaning = "Account of an `azure` store"},
    {.name = STR_INIT("tenant_id"), .meaning = "Tenant of an `azure` service principal"},
    {.name = STR_INIT("client_id"), .meaning = "Client of an `azure` service principal"},
    {.name = STR_INIT("client_secret"), .meaning = "Its secret"},
    {.name = STR_INIT("token"), .meaning = "Token for `huggingface`"},
    {.name = STR_INIT("bearer_token"), .meaning = "Token sent with each `http` request"},
    {.name = STR_INIT("host"), .meaning = "Host of a `postgres` secret"},
    {.name = STR_INIT("port"), .meaning = "Port of a `postgres` secret"},
    {.name = STR_INIT("database"), .meaning = "Database of a `postgres` secret"},
    {.name = STR_INIT("user"), .meaning = "User of a `postgres` secret"},
    {.name = STR_INIT("password"), .meaning = "Password of a `postgres` secret"},
};
const KeyTable secret_keys = {
    .title = "Secrets", TABLE(secret_rules),
    .about = "`secrets: {name: {…}}`. Values are never shown: not in logs, plans, errors or the API.",
};

static const KeyRule engine_rules[] = {
    {.name = STR_INIT("type"), CHOICES(engine_type_names), .standard = "duckdb", .meaning = "Kind of warehouse; without it, the prefix of `database` tells. This release runs `duckdb` and `ducklake`"},
    {.name = STR_INIT("database"), .standard = ".interlace/warehouse.duckdb", .meaning = "A DuckDB file under the project or `:memory:`; a DuckLake by its catalog: `ducklake:<file>`, `ducklake:sqlite:<file>`, `ducklake:postgres:<connection string>`; other types take their own prefix or DSN"},
    {.name = STR_INIT("dialect"), CHOICES(dialect_names), .meaning = "Dialect of the models on it; by default that of its type"},
    {.name = STR_INIT("alias"), .meaning = "Catalog name of a DuckLake; by default the engine's name, and the project's for `default`"},
    {.name = STR_INIT("data_path"), .meaning = "Folder in which a DuckLake keeps its Parquet files; it is recorded when the lake is made. By default beside a catalog file, `<catalog>.files`; needed with a PostgreSQL catalog"},
    {.name = STR_INIT("metadata_schema"), .meaning = "Schema of a DuckLake's catalog tables"},
    {.name = STR_INIT("secrets"), .shape = KEY_NAMED_MAPS, .keys = &secret_keys, .release = KEY_REFUSED_ON_USE, .standard = "{}", .meaning = "Credentials, created when the engine is opened"},
    {.name = STR_INIT("quack_token"), .standard = "INTERLACE_QUACK_TOKEN", .meaning = "Token of a `quack:` server"},
    {.name = STR_INIT("attach"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "Alias to database: attached when the engine is opened, read and written as `<alias>.<schema>.<table>`. This release attaches DuckDB files and PostgreSQL databases (`postgresql://…`)"},
    {.name = STR_INIT("settings"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "DuckDB settings (`memory_limit`, `threads`, …). `memory_limit` without `temp_directory` spills to `.tmp` under the project"},
    {.name = STR_INIT("max_connections"), .shape = KEY_INT, .minimum = 1, .release = KEY_REFUSED_ON_USE, .meaning = "Most connections at once"},
    {.name = STR_INIT("connect_timeout"), .release = KEY_REFUSED_ON_USE, .standard = "10s", .meaning = "How long to wait for a connection"},
    {.name = STR_INIT("statement_timeout"), .release = KEY_REFUSED_ON_USE, .meaning = "How long one statement may take"},
    {.name = STR_INIT("session"), .shape = KEY_TEXT_LIST, .release = KEY_REFUSED_ON_USE, .meaning = "Statements run on each new connection"},
    {.name = STR_INIT("read_only"), .shape = KEY_BOOL, .release = KEY_REFUSED_ON_USE, .standard = "false", .meaning = "Open the warehouse for reading only"},
    {.name = STR_INIT("transport"), CHOICES(transports), .release = KEY_REFUSED_ON_USE, .standard = "native", .meaning = "How the warehouse is reached"},
    {.name = STR_INIT("driver"), .release = KEY_REFUSED_ON_USE, .meaning = "ADBC driver, by path or name"},
    {.name = STR_INIT("options"), .shape = KEY_NAMED_TEXTS, .release = KEY_REFUSED_ON_USE, .standard = "{}", .meaning = "Options of the driver"},
    {.name = STR_INIT("extension_directory"), .release = KEY_REFUSED_ON_USE, .meaning = "Where DuckDB extensions are looked for"},
    {.name = STR_INIT("auto_install"), .shape = KEY_BOOL, .release = KEY_REFUSED_ON_USE, .standard = "false", .meaning = "Whether missing DuckDB extensions are fetched"},
};
const KeyTable engine_keys = {
    .title = "Engines", TABLE(engine_rules),
    .about = "`engines: {name: {…}}`. An engine is opened when a model needs it: a broken one that is not used fails nothing.",
};

static const KeyRule http_connection_rules[] = {
    {.name = STR_INIT("type"), .required = true, .meaning = "`http`"},
    {.name = STR_INIT("base_url"), .required = true, .meaning = "What relative addresses are added to"},
    {.name = STR_INIT("headers"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "Sent with each request"},
};
const KeyTable http_connection_keys = {
    .title = "Connections of type `http`", TABLE(http_connection_rules),
    .about = "`connections: {name: {type: http, …}}`, for Python models and inputs.",
};

static const KeyRule postgres_connection_rules[] = {
    {.name = STR_INIT("type"), .required = true, .meaning = "`postgres`"},
    {.name = STR_INIT("dsn"), .required = true, .meaning = "PostgreSQL URI or keyword string"},
};
const KeyTable postgres_connection_keys = {
    .title = "Connections of type `postgres`", TABLE(postgres_connection_rules),
    .about = "`connections: {name: {type: postgres, …}}`, for Python models.",
};

static const KeyRule var_rules[] = {
    {.name = STR_INIT("type"), CHOICES(var_types), .required = true, .meaning = "Type of the value"},
    {.name = STR_INIT("value"), .shape = KEY_ANY, .required = true, .meaning = "The value; dates as `YYYY-MM-DD`, timestamps as ISO 8601"},
};
static const KeyTable var_keys = {
    .title = "Vars", TABLE(var_rules),
    .about = "`vars: {name: {type: …, value: …}}`. In SQL `var('name')` becomes the value as a typed literal.",
};

static const KeyRule input_option_rules[] = {
    {.name = STR_INIT("delimiter"), .meaning = "Text between two fields; found out when not set"},
    {.name = STR_INIT("header"), .shape = KEY_BOOL, .standard = "true", .meaning = "Whether the first line names the columns"},
    {.name = STR_INIT("quote"), .meaning = "Character around fields; found out when not set"},
    {.name = STR_INIT("nullstr"), .shape = KEY_TEXT_LIST, .meaning = "Texts that mean NULL, in place of the empty field"},
    {.name = STR_INIT("columns"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "Column to type. With a header, any of them: the others' types are found out; without one, all of them, in their order"},
};
static const KeyTable input_option_keys = {
    .title = "Options of an input", TABLE(input_option_rules),
    .about = "`inputs: {name: {options: {…}}}`, for format `csv`.",
};

static const KeyRule input_rules[] = {
    {.name = STR_INIT("format"), CHOICES(input_formats), .required = true, .meaning = "How the files are read; `delta` and `iceberg` need the extension of that name"},
    {.name = STR_INIT("path"), .required = true, .meaning = "File, glob, folder or URL (`s3 gs gcs r2 http https`, with the extension `httpfs`). `${date}`, `${datetime}` and `${workspace}` are filled in by every build"},
    {.name = STR_INIT("connection"), .meaning = "An `http` connection, whose headers are sent, or a secret of the engine"},
    {.name = STR_INIT("watch"), .shape = KEY_BOOL, .standard = "false", .meaning = "Whether the files' content counts as a change of the models that read them; only for files of this machine"},
    {.name = STR_INIT("options"), .shape = KEY_MAP, .keys = &input_option_keys, .standard = "{}", .meaning = "How a CSV file is written"},
};
static const KeyTable input_keys = {
    .title = "Inputs", TABLE(input_rules), .about = "`inputs: {name: {…}}`: files as relations that any SQL model can name.",
};

static const KeyRule notify_rules[] = {
    {.name = STR_INIT("url"), .required = true, .meaning = "Where messages are posted, `http://` or `https://`. Never shown"},
    {.name = STR_INIT("secret"), .required = true, .meaning = "Key of the signature (HMAC-SHA256), best as `${NAME}`. Never shown"},
    {.name = STR_INIT("models"), .shape = KEY_TEXT_LIST, .meaning = "Models, by name or glob, of whose changes it is told"},
    {.name = STR_INIT("tags"), .shape = KEY_TEXT_LIST, .meaning = "Models with one of these tags, too"},
    {.name = STR_INIT("owners"), .shape = KEY_TEXT_LIST, .meaning = "Models of one of these owners, too. Without models, tags and owners: all"},
    {.name = STR_INIT("environments"), .shape = KEY_TEXT_LIST, .standard = "[prod]", .meaning = "Only changes of these environments"},
    {.name = STR_INIT("attempts"), .shape = KEY_INT, .minimum = 1, .standard = "8", .meaning = "How often a message is sent before it is given up and kept"},
};
static const KeyTable notify_keys = {
    .title = "Notify", TABLE(notify_rules), .about = "`notify: {name: {…}}`: webhooks told of changes ([changes](../changes.md)).",
};

static const KeyRule cdc_rules[] = {
    {.name = STR_INIT("connection"), .required = true, .meaning = "A `postgres` connection"},
    {.name = STR_INIT("slot"), .required = true, .meaning = "Replication slot"},
    {.name = STR_INIT("publication"), .required = true, .meaning = "Publication"},
    {.name = STR_INIT("tables"), .shape = KEY_TEXT_LIST, .required = true, .meaning = "Tables that are copied"},
    {.name = STR_INIT("stream"), .required = true, .meaning = "Stream they are copied to"},
    {.name = STR_INIT("snapshot"), CHOICES(snapshot_modes), .standard = "never", .meaning = "Whether existing rows are copied first"},
};
static const KeyTable cdc_keys = {
    .title = "Change data capture", TABLE(cdc_rules), .about = "`cdc: {name: {…}}`.",
};

static const KeyRule stream_rules[] = {
    {.name = STR_INIT("schema"), .shape = KEY_NAMED_TEXTS, .required = true, .meaning = "Field to type"},
    {.name = STR_INIT("idempotency_key"), .meaning = "Field by which repeated events are recognised"},
    {.name = STR_INIT("retention"), .meaning = "How long landed events stay in the log"},
    {.name = STR_INIT("table_retention"), .meaning = "How long rows stay in the warehouse"},
    {.name = STR_INIT("on_schema_drift"), CHOICES(drift_policies), .standard = "reject", .meaning = "What becomes of events of another shape"},
    {.name = STR_INIT("max_pending"), .shape = KEY_INT, .minimum = 1, .standard = "100000", .meaning = "Most events that wait to be landed"},
    {.name = STR_INIT("max_event_bytes"), .shape = KEY_INT, .minimum = 1, .standard = "1048576", .meaning = "Largest event"},
    {.name = STR_INIT("flush_interval"), .standard = "50ms", .meaning = "How long events are gathered"},
    {.name = STR_INIT("batch_rows"), .shape = KEY_INT, .minimum = 1, .standard = "5000", .meaning = "Most rows landed at once"},
    {.name = STR_INIT("dedup_window"), .meaning = "How long keys are remembered"},
    {.name = STR_INIT("consumers"), CHOICES(consumer_modes), .standard = "auto", .meaning = "Whether consumer groups may be made"},
    {.name = STR_INIT("engine"), .meaning = "Engine the events land in"},
};
static const KeyTable stream_keys = {
    .title = "Streams", TABLE(stream_rules), .about = "`streams: {name: {…}}`: streams declared without Python.",
};

static const KeyRule service_rules[] = {
    {.name = STR_INIT("allowed_hosts"), .shape = KEY_TEXT_LIST, .standard = "[]", .meaning = "Host names that requests may carry"},
    {.name = STR_INIT("cors_origins"), .shape = KEY_TEXT_LIST, .standard = "[]", .meaning = "Origins that browsers may call from"},
    {.name = STR_INIT("max_body_bytes"), .shape = KEY_INT, .minimum = 1, .standard = "10485760", .meaning = "Largest request body"},
    {.name = STR_INIT("query_role"), .meaning = "PostgreSQL role of the query console"},
    {.name = STR_INIT("lockdown"), .shape = KEY_BOOL, .standard = "false", .meaning = "Whether queries may read listed places only"},
};
static const KeyTable service_keys = {
    .title = "Service", TABLE(service_rules), .about = "`service: {…}`: the HTTP service.",
};

static const KeyRule scheduler_rules[] = {
    {.name = STR_INIT("timezone"), .meaning = "IANA zone of cron expressions"},
    {.name = STR_INIT("slots"), .shape = KEY_INT, .minimum = 1, .standard = "1", .meaning = "Runs at once"},
    {.name = STR_INIT("pools"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "Pool to its number of places"},
    {.name = STR_INIT("retries"), .shape = KEY_INT, .minimum = 0, .standard = "2", .meaning = "How often a failed run is tried again"},
    {.name = STR_INIT("retry_backoff"), .standard = "30s", .meaning = "Wait before the first repetition; it doubles"},
};
static const KeyTable scheduler_keys = {
    .title = "Scheduler", TABLE(scheduler_rules), .about = "`scheduler: {…}`.",
};

static const KeyRule retention_rules[] = {
    {.name = STR_INIT("events"), .standard = "30d", .meaning = "How long events are kept"},
    {.name = STR_INIT("checks"), .standard = "30d", .meaning = "How long check results are kept"},
    {.name = STR_INIT("runs"), .standard = "90d", .meaning = "How long finished runs are kept"},
    {.name = STR_INIT("generations"), .shape = KEY_INT, .minimum = 1, .standard = "50", .meaning = "Promotions of an environment that are kept"},
};
static const KeyTable retention_keys = {
    .title = "Retention", TABLE(retention_rules), .about = "`retention: {…}`: of the state database.",
};

static const KeyRule python_rules[] = {
    {.name = STR_INIT("interpreter"), .meaning = "Interpreter that runs Python models; by default the project's virtual environment, then `python3`"},
    {.name = STR_INIT("isolation"), CHOICES(isolation_modes), .standard = "pool", .meaning = "Whether workers are kept or started anew for each model"},
    {.name = STR_INIT("max_rss"), .standard = "2GiB", .meaning = "Memory at which a worker is replaced"},
};
const KeyTable python_keys = {
    .title = "Python", TABLE(python_rules), .about = "`python: {…}`; a text alone is the interpreter.",
};

static const KeyRule transfer_rules[] = {
    {.name = STR_INIT("on_loss"), CHOICES(loss_modes), .standard = "error", .meaning = "What becomes of values that the target cannot hold exactly"},
    {.name = STR_INIT("reuse"), .shape = KEY_BOOL, .standard = "false", .meaning = "Whether an unchanged copy is used again"},
};
static const KeyTable transfer_keys = {
    .title = "Transfer", TABLE(transfer_rules), .about = "`transfer: {…}`: copies between engines.",
};

static const KeyRule ducklake_rules[] = {
    {.name = STR_INIT("expire_snapshots"), .shape = KEY_ANY, .meaning = "Age at which snapshots expire"},
    {.name = STR_INIT("cleanup"), .shape = KEY_ANY, .meaning = "Whether files no longer needed are deleted"},
    {.name = STR_INIT("compact"), .shape = KEY_ANY, .meaning = "Whether small files are joined"},
};
static const KeyTable ducklake_keys = {
    .title = "DuckLake", TABLE(ducklake_rules), .about = "`ducklake: {…}`: upkeep by `interlace gc --lake`.",
};

static const KeyRule project_rules[] = {
    {.name = STR_INIT("name"), .standard = "interlace", .meaning = "Name of the project"},
    {.name = STR_INIT("default_dialect"), CHOICES(dialect_names), .standard = "duckdb", .meaning = "Dialect models are written in unless their engine or they themselves say otherwise"},
    {.name = STR_INIT("default_engine"), .standard = "default", .meaning = "Engine of models without `engine:`"},
    {.name = STR_INIT("engines"), .shape = KEY_NAMED_MAPS, .keys = &engine_keys, .standard = "{}", .meaning = "Named engines. Without `default` among them, one is made from the keys below"},
    {.name = STR_INIT("database"), .standard = ".interlace/warehouse.duckdb", .meaning = "Database of the engine `default`: a DuckDB file, `:memory:`, or a DuckLake (`ducklake:…`)"},
    {.name = STR_INIT("alias"), .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("data_path"), .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("metadata_schema"), .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("secrets"), .shape = KEY_NAMED_MAPS, .keys = &secret_keys, .release = KEY_REFUSED_ON_USE, .standard = "{}", .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("quack_token"), .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("attach"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("settings"), .shape = KEY_NAMED_TEXTS, .standard = "{}", .meaning = "As in an engine, for `default`"},
    {.name = STR_INIT("state_path"), .standard = ".interlace/state.db", .meaning = "SQLite file of what is recorded: snapshots, environments, runs"},
    {.name = STR_INIT("state_url"), .release = KEY_REFUSED_AS_CONFIG, .meaning = "PostgreSQL state"},
    {.name = STR_INIT("stream_path"), .standard = ".interlace/streams.db", .meaning = "File of the stream log"},
    {.name = STR_INIT("stream_url"), .release = KEY_WITHOUT_EFFECT, .meaning = "PostgreSQL stream log"},
    {.name = STR_INIT("event_log_path"), .release = KEY_WITHOUT_EFFECT, .meaning = "File to which every event is appended as one line of JSON"},
    {.name = STR_INIT("model_paths"), .shape = KEY_TEXT_LIST, .standard = "[models]", .meaning = "Folders of models"},
    {.name = STR_INIT("macro_paths"), .shape = KEY_TEXT_LIST, .standard = "[macros]", .meaning = "Folders of macros"},
    {.name = STR_INIT("parallelism"), .shape = KEY_INT, .minimum = 1, .standard = "4", .meaning = "Models built or checked at once; `--parallelism` wins"},
    {.name = STR_INIT("connections"), .shape = KEY_NAMED_MAPS, .standard = "{}", .meaning = "Named sources for Python models"},
    {.name = STR_INIT("inputs"), .shape = KEY_NAMED_MAPS, .keys = &input_keys, .standard = "{}", .meaning = "Files as relations that SQL models can name"},
    {.name = STR_INIT("vars"), .shape = KEY_NAMED_MAPS, .keys = &var_keys, .standard = "{}", .meaning = "Values for models"},
    {.name = STR_INIT("cdc"), .shape = KEY_NAMED_MAPS, .keys = &cdc_keys, .release = KEY_REFUSED, .standard = "{}", .meaning = "Change data capture"},
    {.name = STR_INIT("timezone"), .meaning = "IANA zone of windows and naive times; by default the zone recorded in the state database"},
    {.name = STR_INIT("streams"), .shape = KEY_NAMED_MAPS, .keys = &stream_keys, .release = KEY_REFUSED, .standard = "{}", .meaning = "Streams declared without Python"},
    {.name = STR_INIT("notify"), .shape = KEY_NAMED_MAPS, .keys = &notify_keys, .standard = "{}", .meaning = "Webhooks told of changes"},
    {.name = STR_INIT("notes"), CHOICES(note_modes), .standard = "required", .meaning = "Whether a campaign that changes published windows of `prod` needs a note"},
    {.name = STR_INIT("service"), .shape = KEY_MAP, .keys = &service_keys, .release = KEY_WITHOUT_EFFECT, .standard = "{}", .meaning = "The HTTP service"},
    {.name = STR_INIT("scheduler"), .shape = KEY_MAP, .keys = &scheduler_keys, .release = KEY_WITHOUT_EFFECT, .standard = "{}", .meaning = "The scheduler"},
    {.name = STR_INIT("retention"), .shape = KEY_MAP, .keys = &retention_keys, .release = KEY_WITHOUT_EFFECT, .standard = "{}", .meaning = "How long the state database keeps things"},
    {.name = STR_INIT("python"), .shape = KEY_TEXT_OR_MAP, .keys = &python_keys, .meaning = "Interpreter of Python models, or a map"},
    {.name = STR_INIT("transfer"), .shape = KEY_MAP, .keys = &transfer_keys, .release = KEY_WITHOUT_EFFECT, .standard = "{}", .meaning = "Copies between engines"},
    {.name = STR_INIT("ducklake"), .shape = KEY_MAP, .keys = &ducklake_keys, .release = KEY_WITHOUT_EFFECT, .standard = "{}", .meaning = "Upkeep of DuckLakes"},
};
const KeyTable project_keys = {
    .title = "Top-level keys", TABLE(project_rules),
    .about = "A key that is not listed here is refused, with the nearest one that is. Keys that begin with `x-` are yours.",
};
/* clang-format on */

static const KeyTable *const reference_sections[] = {
    &project_keys,  &engine_keys,   &secret_keys,  &http_connection_keys, &postgres_connection_keys,
    &var_keys,      &python_keys,   &input_keys,   &input_option_keys,    &notify_keys,
    &cdc_keys,      &stream_keys,   &service_keys, &scheduler_keys,       &retention_keys,
    &transfer_keys, &ducklake_keys,
};

void project_config_write_reference(StrBuf *out) {
    for (size_t i = 0; i < COUNT_OF(reference_sections); i++) {
        if (i > 0) {
            strbuf_char(out, '\n');
        }
        key_table_write_reference(reference_sections[i], out);
    }
}
