/* `interlace.yaml` with its `.env` and overlay as typed values: the project's settings (docs/reference/configuration.md
 * is generated from the key tables in project_keys.c). Lives in the arena it was loaded into. */
#ifndef INTERLACE_CONFIG_PROJECT_CONFIG_H
#define INTERLACE_CONFIG_PROJECT_CONFIG_H

#include "config/config_value.h"

typedef struct ConfigSetting {
    Str name, value;
} ConfigSetting;
DEFINE_VEC(ConfigSettingVec, config_setting_vec, ConfigSetting)

typedef struct AttachConfig {
    Str alias;
    Str uri; /* a DuckDB file: absolute path; with a scheme: as written */
    SourceSpan place;
} AttachConfig;
DEFINE_VEC(AttachConfigVec, attach_config_vec, AttachConfig)

typedef struct EngineConfig {
    Str name;          /* "default", … */
    Str type;          /* "duckdb", "ducklake", … as written or taken from `database` */
    Str database;      /* as written after interpolation; for a file use database_path */
    Str database_path; /* absolute; ":memory:" as it is. Of a DuckLake: its catalog file, or empty */
    Str dialect;       /* resolved: "duckdb" for the DuckDB family */
    Str alias, data_path, metadata_schema; /* of a DuckLake; empty: not set; a folder as data_path is absolute */
    ConfigSettingVec settings;
    AttachConfigVec attach;
    StrVec later_keys; /* keys that are set and not in this release: refused when the engine is used */
    SourceSpan place;
} EngineConfig;
DEFINE_VEC(EngineConfigVec, engine_config_vec, EngineConfig)

typedef enum VarType { VAR_STRING, VAR_INT, VAR_FLOAT, VAR_BOOL, VAR_DATE, VAR_TIMESTAMP } VarType;
typedef struct VarConfig {
    Str name;
    VarType type;
    Str value; /* canonical text: true/false, decimal number, ISO date or timestamp, or the string itself */
    SourceSpan place;
} VarConfig;
DEFINE_VEC(VarConfigVec, var_config_vec, VarConfig)

/* A file, or many, as a relation that SQL models can name. */
typedef struct InputConfig {
    Str name;
    Str format;     /* "parquet", "csv", "json", "delta", "iceberg" */
    Str path;       /* as written after interpolation, tokens and all (config/path_tokens.h) */
    Str connection; /* an http connection or a secret; empty: none */
    bool watch;
    bool is_remote;             /* `path` has a scheme */
    const ConfigValue *options; /* of csv, checked; NULL: none */
    SourceSpan place;
} InputConfig;
DEFINE_VEC(InputConfigVec, input_config_vec, InputConfig)

/* A webhook that is told of changes; without a model, tag or owner of all, else of those that any of these names. */
typedef struct WebhookConfig {
    Str name;
    Str url, secret;             /* may have a ${NAME} that is not set; never shown */
    StrVec models, tags, owners; /* models: names and globs */
    StrVec environments;         /* empty: prod */
    int64_t attempts;            /* after so many failed ones it is given up */
    SourceSpan place;
} WebhookConfig;
DEFINE_VEC(WebhookConfigVec, webhook_config_vec, WebhookConfig)

typedef struct ProjectConfig {
    Str root; /* absolute */
    Str name;
    Str default_dialect; /* as written, else that of the default engine */
    Str default_engine;
    EngineConfigVec engines;         /* never empty; holds default_engine */
    Str state_path;                  /* absolute */
    Str cache_path;                  /* absolute: <root>/.interlace/cache */
    StrVec model_paths, macro_paths; /* relative to the root */
    int64_t parallelism;
    Str timezone;                   /* empty: not set */
    VarConfigVec vars;              /* in the order written */
    Str python_interpreter;         /* empty: search */
    const ConfigValue *connections; /* validated; NULL when absent */
    InputConfigVec inputs;          /* in the order written; no two names differ only in letter case */
    WebhookConfigVec webhooks;      /* of `notify`, in the order written */
    bool notes_are_optional;        /* of `notes` */
    StrVec warnings;                /* one line each */
} ProjectConfig;

typedef struct ConfigOptions {
    Str root;    /* as given by --path; must exist */
    Str overlay; /* empty: INTERLACE_OVERLAY, else none */
} ConfigOptions;

/* Without interlace.yaml all defaults apply. Faults are added to `faults` as far as they can be told apart; FAILED when
 * there was one. Creates nothing on disk. Keys of the reference that a later piece of work brings (state_url, cdc,
 * streams, secrets, engines of another type, …) are accepted when they have no effect on what is asked for, and
 * are otherwise refused where they are used: see the tables in project_keys.c. */
MUST_CHECK Status project_config_check_root(Str root, Error *err); /* "no interlace project at …" */
MUST_CHECK Status project_config_load(const ConfigOptions *options, Arena *arena, ProjectConfig **config_out,
                                      ErrorList *faults);

const EngineConfig *project_config_engine(const ProjectConfig *config, Str name); /* NULL when absent */
const VarConfig *project_config_var(const ProjectConfig *config, Str name);

/* Refuses what opening the engine would need and this build or configuration cannot give: an unresolved ${NAME}, an
 * engine type of a later piece of work, a PostgreSQL string without a host. Called before the warehouse is touched. */
MUST_CHECK Status engine_config_check_usable(const EngineConfig *engine, Error *err);

/* Markdown: a section with a table for each map of the configuration. */
void project_config_write_reference(StrBuf *out);

#define CONFIG_HIDDEN "\xE2\x80\xA6" /* …, in the place of a secret */

/* The value of an HTTP header of that name is secret. */
bool config_is_secret_header(Str name);
/* `text` with passwords, tokens and keys of DSNs replaced by `…`. */
Str config_redact_dsn(Arena *arena, Str text);

#endif
