#include "cli/command.h"

#include "cli/commands.h"

/* clang-format off */
const Option option_table[OPTION_COUNT] = {
    [OPTION_ENV]         = {"env", 'e', OPTION_TYPE_ENVIRONMENT, "NAME", "prod", .summary = "The environment"},
    [OPTION_ENV_FILTER]  = {"env", 'e', OPTION_TYPE_ENVIRONMENT, "NAME", .summary = "Only outcomes of this environment"},
    [OPTION_PATH]        = {"path", 'p', OPTION_TYPE_TEXT, "DIR", ".", .summary = "The project's folder"},
    [OPTION_SELECT]      = {"select", 's', OPTION_TYPE_LIST, "SEL",
                            .summary = "Only these models: NAME, GLOB, tag:T, path:DIR, state:modified, +NAME+"},
    [OPTION_EXCLUDE]     = {"exclude", 'x', OPTION_TYPE_LIST, "SEL", .summary = "Without these models"},
    [OPTION_JSON]        = {"json", 0, OPTION_TYPE_FLAG, .summary = "One JSON document on stdout"},
    [OPTION_JSON_OR_LINES] = {"json", 0, OPTION_TYPE_MAYBE_CHOICE, "lines", .choices = "document lines",
                            .summary = "One JSON document on stdout; with =lines one event a line, as it happens"},
    [OPTION_PARALLELISM] = {"parallelism", 0, OPTION_TYPE_NUMBER, "N", "0", .minimum = 0,
                            .summary = "Models worked on at once; 0 is the project's own setting"},
    [OPTION_MARKDOWN]    = {"markdown", 0, OPTION_TYPE_FLAG, .summary = "As Markdown, for a comment on a change"},
    [OPTION_DETAILED_EXIT_CODE] = {"detailed-exit-code", 0, OPTION_TYPE_FLAG,
                            .summary = "Exit 3 when there are changes, 4 when they are breaking"},
    [OPTION_DIFF]        = {"diff", 0, OPTION_TYPE_FLAG, .summary = "Also the difference of each changed model's text"},
    [OPTION_AGAINST]     = {"against", 0, OPTION_TYPE_ENVIRONMENT, "ENV",
                            .summary = "Compare with what this environment serves"},
    [OPTION_FROM]        = {"from", 0, OPTION_TYPE_ENVIRONMENT, "ENV",
                            .summary = "Start a new environment with what this one serves"},
    [OPTION_EXPLAIN]     = {"explain", 0, OPTION_TYPE_FLAG, .summary = "Also why each model is in the plan"},
    [OPTION_FORWARD_ONLY] = {"forward-only", 0, OPTION_TYPE_FLAG,
                            .summary = "New logic from now on, over a copy of the rows that are there"},
    [OPTION_FORCE]       = {"force", 0, OPTION_TYPE_FLAG, .summary = "Carry out breaking changes too"},
    [OPTION_KEEP_GOING]  = {"keep-going", 0, OPTION_TYPE_FLAG,
                            .summary = "After a failure still build what does not depend on it; nothing is promoted"},
    [OPTION_STRICT]      = {"strict", 0, OPTION_TYPE_FLAG, .summary = "Checks of severity warn block too"},
    [OPTION_DRY_RUN]     = {"dry-run", 0, OPTION_TYPE_FLAG, .summary = "Only show the plan"},
    [OPTION_NAME]        = {"name", 'n', OPTION_TYPE_TEXT, "NAME", .summary = "The project's name; else that of its folder"},
    [OPTION_TEMPLATE]    = {"template", 't', OPTION_TYPE_TEXT, "NAME", "quickstart", .summary = "What to start from"},
    [OPTION_LIST]        = {"list", 0, OPTION_TYPE_FLAG, .summary = "Show the templates, write nothing"},
    [OPTION_TAG]         = {"tag", 0, OPTION_TYPE_LIST, "TAG", .summary = "Only models with this tag"},
    [OPTION_COLUMNS]     = {"columns", 'c', OPTION_TYPE_FLAG, .summary = "Also what each column is made of"},
    [OPTION_LINEAGE_FORMAT] = {"format", 'f', OPTION_TYPE_CHOICE, "FORMAT", "text", .choices = "text json dot mermaid",
                            .summary = "How to show it"},
    [OPTION_DEPTH]       = {"depth", 0, OPTION_TYPE_NUMBER, "N", .minimum = 1, .summary = "At most so many steps away"},
    [OPTION_MODEL]       = {"model", 0, OPTION_TYPE_TEXT, "MODEL", .summary = "Only outcomes of this model"},
    [OPTION_STATUS]      = {"status", 0, OPTION_TYPE_CHOICE, "STATUS", .choices = "passed failed error",
                            .summary = "Only outcomes of this status"},
    [OPTION_SINCE]       = {"since", 0, OPTION_TYPE_TIME, "ISO", .summary = "Only outcomes from then on"},
    [OPTION_CHECKS_LIMIT] = {"limit", 'n', OPTION_TYPE_NUMBER, "N", "20", .minimum = 1, .summary = "At most so many outcomes"},
    [OPTION_UPDATE_GOLDEN] = {"update-golden", 0, OPTION_TYPE_FLAG, .summary = "Write the golden files instead of comparing"},
    [OPTION_JUNIT]       = {"junit", 0, OPTION_TYPE_TEXT, "FILE", .summary = "Also write the outcomes as JUnit XML"},
    [OPTION_NOW]         = {"now", 0, OPTION_TYPE_TIME, "ISO", .summary = "What the models take for the present time"},
    [OPTION_ROWS_LIMIT]  = {"limit", 'n', OPTION_TYPE_NUMBER, "N", "25", .minimum = 1,
                            .summary = "At most so many rows, up to 100"},
    [OPTION_FAIL_FAST]   = {"fail-fast", 0, OPTION_TYPE_FLAG, .summary = "Begin no further model after a blocking outcome"},
    [OPTION_JSON_OR_FULL] = {"json", 0, OPTION_TYPE_MAYBE_CHOICE, "full", .choices = "document full",
                            .summary = "One JSON document on stdout; with =full what was skipped, too"},
    [OPTION_CHECK]       = {"check", 0, OPTION_TYPE_TEXT, "NAME", .summary = "Only the check of this name"},
    [OPTION_QUERY_LIMIT] = {"limit", 'n', OPTION_TYPE_NUMBER, "N", "100", .minimum = 1,
                            .summary = "At most so many rows, up to 10,000"},
    [OPTION_QUERY_FORMAT] = {"format", 'f', OPTION_TYPE_CHOICE, "FORMAT", "table", .choices = "table csv json lines",
                            .summary = "How to print the rows"},
    [OPTION_START]       = {"start", 0, OPTION_TYPE_TEXT, "ISO",
                            .summary = "First moment of the windows, as 2026-07-01 or 2026-07-01T06:00"},
    [OPTION_END]         = {"end", 0, OPTION_TYPE_TEXT, "ISO", .summary = "End of the windows; itself not in them"},
    [OPTION_BATCH]       = {"batch", 0, OPTION_TYPE_TEXT, "N",
                            .summary = "At most so many adjacent windows in one statement; auto chooses"},
    [OPTION_CONCURRENCY] = {"concurrency", 0, OPTION_TYPE_NUMBER, "N", .minimum = 1,
                            .summary = "At most so many batches of a model at once"},
    [OPTION_ORDER]       = {"order", 0, OPTION_TYPE_CHOICE, "ORDER", "oldest", .choices = "oldest newest",
                            .summary = "Which windows of a model come first"},
    [OPTION_CATCH_UP]    = {"catch-up", 0, OPTION_TYPE_FLAG,
                            .summary = "Fill every complete window since the last one that is filled"},
    [OPTION_WINDOW]      = {"window", 0, OPTION_TYPE_RANGE, "START END",
                            .summary = "With what this window puts into the query"},
    [OPTION_SQL]         = {"sql", 0, OPTION_TYPE_FLAG, .summary = "Only its definition"},
    [OPTION_RENDERED]    = {"rendered", 0, OPTION_TYPE_FLAG, .summary = "Only the query as it would run, as render does"},
    [OPTION_SAMPLE]      = {"rows", 0, OPTION_TYPE_NUMBER, "N", "0", .minimum = 0,
                            .summary = "Also so many of its rows, up to 100"},
    [OPTION_TO]          = {"to", 0, OPTION_TYPE_NUMBER, "N", "0", .minimum = INT64_MIN,
                            .summary = "The generation to go back to; 0 is the one before the current"},
    [OPTION_LIST_GENERATIONS] = {"list", 0, OPTION_TYPE_FLAG, .summary = "List the generations, move nothing"},
    [OPTION_FORCE_DROP]  = {"force", 0, OPTION_TYPE_FLAG, .summary = "Also prod"},
    [OPTION_GRACE]       = {"grace", 0, OPTION_TYPE_DURATION, "DUR", "7d",
                            .summary = "Keep what was made or shown less long ago (30m, 12h, 7d); 0 keeps nothing"},
    [OPTION_READ_ONLY]   = {"read-only", 0, OPTION_TYPE_FLAG, .summary = "Offer no tool that writes"},
    [OPTION_YES]         = {"yes", 0, OPTION_TYPE_FLAG, .summary = "Do it"},
    [OPTION_CONNECT] = {"connect", 0, OPTION_TYPE_FLAG, .summary = "Open each, for reading; exit 1 when one fails"},
    [OPTION_SOURCE]      = {"source", 0, OPTION_TYPE_TEXT, "TABLE",
                            .summary = "In place of --against: a model, or a table as schema.name or alias.schema.name"},
    [OPTION_TARGET]      = {"target", 0, OPTION_TYPE_TEXT, "TABLE", .summary = "What --source is compared with"},
    [OPTION_ON]          = {"on", 0, OPTION_TYPE_LIST, "COLUMN",
                            .summary = "Match rows by this column; else by the model's key, else by whole rows"},
    [OPTION_DIFF_LIMIT]  = {"limit", 'n', OPTION_TYPE_NUMBER, "N", "20", .minimum = 0,
                            .summary = "Show at most so many rows of each kind, up to 1,000"},
    [OPTION_TOLERANCE]   = {"tolerance", 0, OPTION_TYPE_TEXT, "X", "0",
                            .summary = "Take floats that differ by no more than this for equal"},
    [OPTION_SCHEMA]      = {"schema", 0, OPTION_TYPE_FLAG, .summary = "Compare columns only, read no rows"},
    [OPTION_CAMPAIGN_START] = {"start", 0, OPTION_TYPE_TEXT, "ISO", .summary = "First moment of the range; required"},
    [OPTION_GAPS]        = {"gaps", 0, OPTION_TYPE_FLAG, .summary = "Only windows that are not filled"},
    [OPTION_RESTATE]     = {"restate", 0, OPTION_TYPE_FLAG, .summary = "Every window of the range, filled or not: the default"},
    [OPTION_AUDIT]       = {"audit", 0, OPTION_TYPE_FLAG, .summary = "As a campaign, which compares old and new and waits to be published"},
    [OPTION_NO_AUDIT]    = {"no-audit", 0, OPTION_TYPE_FLAG, .summary = "Do not compare old and new, as for a first load"},
    [OPTION_PUBLISH]     = {"publish", 0, OPTION_TYPE_CHOICE, "HOW", "manual", .choices = "auto manual",
                            .summary = "auto publishes when nothing speaks against it; manual waits for `backfill publish`"},
    [OPTION_ALLOW_REFUSED] = {"allow-refused", 0, OPTION_TYPE_FLAG, .summary = "Go on without the models that cannot take part"},
    [OPTION_REBASE]      = {"rebase", 0, OPTION_TYPE_FLAG, .summary = "First compute windows anew that have moved since the audit"},
    [OPTION_PROBE]       = {"probe", 0, OPTION_TYPE_FLAG, .summary = "Try one or two batches of each model unseen, for the estimate"},
    [OPTION_PLAN]        = {"plan", 0, OPTION_TYPE_TEXT, "ID", .summary = "Exactly what this plan said, if nothing has moved since"},
    [OPTION_DELIVER]     = {"deliver", 0, OPTION_TYPE_FLAG, .summary = "Also deliver tables and files outside of the warehouse, once the others are published"},
    [OPTION_HOURS]       = {"hours", 0, OPTION_TYPE_TEXT, "FROM-TO", .summary = "Begin batches only between these times of a day, as 22:00-06:00"},
    [OPTION_WAIT]        = {"wait", 0, OPTION_TYPE_FLAG, .summary = "Where another campaign is under way over the same windows, begin when it is over"},
    [OPTION_MAX_TIME]    = {"max-time", 0, OPTION_TYPE_DURATION, "DUR", .summary = "Refuse when it is expected to take longer, pause when it does"},
    [OPTION_MAX_ROWS]    = {"max-rows", 0, OPTION_TYPE_NUMBER, "N", .minimum = 1, .summary = "The same for the rows that it writes"},
    [OPTION_MAX_WINDOWS] = {"max-windows", 0, OPTION_TYPE_NUMBER, "N", .minimum = 1, .summary = "Refuse more windows than this"},
    [OPTION_NO_STALE]    = {"no-stale", 0, OPTION_TYPE_FLAG,
                            .summary = "Refuse when models behind the selection would be left with old figures"},
    [OPTION_AGAIN]       = {"again", 0, OPTION_TYPE_FLAG, .summary = "Compare anew, with what readers see now"},
    [OPTION_HTML]        = {"html", 0, OPTION_TYPE_TEXT, "FILE", .summary = "Also write it as a page, complete in one file"},
    [OPTION_ACCEPT]      = {"accept", 0, OPTION_TYPE_LIST, "MODEL.MEASURE",
                            .summary = "Publish though this threshold of the audit does not hold"},
    [OPTION_QUIET]       = {"quiet", 'q', OPTION_TYPE_FLAG, .summary = "Only errors and the final result"},
    [OPTION_VERBOSE]     = {"verbose", 0, OPTION_TYPE_COUNT,
                            .summary = "Each event as a line on stderr; twice: the debug log too"},
    [OPTION_DEBUG]       = {"debug", 0, OPTION_TYPE_FLAG, .summary = "Show where an error comes from"},
    [OPTION_COLOR]       = {"color", 0, OPTION_TYPE_CHOICE, "WHEN", "auto", .choices = "auto always never",
                            .summary = "Colours in what is printed"},
    [OPTION_NO_PROGRESS] = {"no-progress", 0, OPTION_TYPE_FLAG, .summary = "No live display"},
    [OPTION_LOG_FORMAT]  = {"log-format", 0, OPTION_TYPE_CHOICE, "FORMAT", "text", .choices = "text json",
                            .summary = "Form of the log lines on stderr"},
    [OPTION_LOCK_TIMEOUT] = {"lock-timeout", 0, OPTION_TYPE_DURATION, "DUR", "60s",
                            .summary = "How long to wait for another command (90s, 5m); 0 does not wait"},
    [OPTION_OVERLAY]     = {"overlay", 0, OPTION_TYPE_TEXT, "NAME", .summary = "Lay interlace.NAME.yaml over the configuration"},
    [OPTION_NO_CACHE]    = {"no-cache", 0, OPTION_TYPE_FLAG, .summary = "Read all sources anew"},
    [OPTION_INSTALL_COMPLETION] = {"install-completion", 0, OPTION_TYPE_FLAG,
                            .summary = "Install completion for the current shell"},
    [OPTION_SHOW_COMPLETION] = {"show-completion", 0, OPTION_TYPE_FLAG,
                            .summary = "Show the completion script of the current shell"},
    [OPTION_NOTE]        = {"note", 0, OPTION_TYPE_TEXT, "TEXT", .summary = "Why: goes into the change records, see `changes`"},
    [OPTION_CHANGES_MODEL] = {"model", 0, OPTION_TYPE_TEXT, "MODEL", .summary = "Only changes of this model"},
    [OPTION_CHANGES_ENV] = {"env", 'e', OPTION_TYPE_ENVIRONMENT, "NAME", .summary = "Only changes of this environment"},
    [OPTION_CHANGES_SINCE] = {"since", 0, OPTION_TYPE_TIME, "ISO", .summary = "Only changes from then on"},
    [OPTION_CHANGES_LIMIT] = {"limit", 'n', OPTION_TYPE_NUMBER, "N", "50", .minimum = 1, .summary = "At most so many changes"},
    [OPTION_UNDELIVERED] = {"undelivered", 0, OPTION_TYPE_FLAG, .summary = "List the messages that webhooks have not got"},
    [OPTION_REDELIVER]   = {"redeliver", 0, OPTION_TYPE_TEXT, "ID",
                            .summary = "Send such a message now, however often it failed; `all` sends each"},
    [OPTION_HELP]        = {"help", 'h', OPTION_TYPE_FLAG, .summary = "Show this help"},
    [OPTION_VERSION]     = {"version", 'v', OPTION_TYPE_FLAG, .summary = "Show the version"},
};

#define O(name) OPTION_BIT(OPTION_##name)
#define SELECTION (O(SELECT) | O(EXCLUDE))
#define CAMPAIGN (O(ENV) | O(PATH) | SELECTION | O(CAMPAIGN_START) | O(END) | O(BATCH) | O(CONCURRENCY) | O(GAPS) | \
                  O(RESTATE) | O(ALLOW_REFUSED) | O(NO_STALE) | O(MAX_TIME) | O(MAX_ROWS) | O(MAX_WINDOWS) | O(DELIVER))
#define CAMPAIGN_ID {"ID", .summary = "The number of a campaign, as `backfill list` shows it"}

const OptionSet global_options = O(QUIET) | O(VERBOSE) | O(DEBUG) | O(COLOR) | O(NO_PROGRESS) | O(LOG_FORMAT) |
                                 O(LOCK_TIMEOUT) | O(OVERLAY) | O(NO_CACHE) | O(INSTALL_COMPLETION) |
                                 O(SHOW_COMPLETION) | O(HELP) | O(VERSION);

const Command command_table[] = {
    {.name = "init", .summary = "Start a project from a template", .run = command_init,
     .arguments = {{"PATH", ".", .is_optional = true, .summary = "The folder; made when it is not there"}},
     .options = O(NAME) | O(TEMPLATE) | O(LIST) | O(JSON)},

    {.name = "plan", .summary = "Show what apply would change", .run = command_plan,
     .details = "Builds nothing and takes no lock. Exit 0 with or without changes.",
     .options = O(ENV) | O(PATH) | SELECTION | O(FORWARD_ONLY) | O(JSON) | O(MARKDOWN) | O(DETAILED_EXIT_CODE) |
                O(DIFF) | O(EXPLAIN) | O(AGAINST)},

    {.name = "apply", .summary = "Build what changed, check it, and make it live", .run = command_apply,
     .details = "Nothing becomes visible in the environment before everything is built and its checks passed.",
     .options = O(ENV) | O(PATH) | SELECTION | O(FORWARD_ONLY) | O(FORCE) | O(PARALLELISM) | O(KEEP_GOING) |
                O(STRICT) | O(FROM) | O(NOTE) | O(DRY_RUN) | O(JSON_OR_LINES)},

    {.name = "run", .summary = "Build the selected models now, filling windows that are due", .run = command_run,
     .details = "Incremental models fill what is missing of the range; without bounds the latest complete window.\n"
                "Other models are built once by their own strategy. Checks gate, then the environment moves.",
     .options = O(ENV) | O(PATH) | SELECTION | O(START) | O(END) | O(CATCH_UP) | O(BATCH) | O(CONCURRENCY) |
                O(ORDER) | O(PARALLELISM) | O(KEEP_GOING) | O(STRICT) | O(AUDIT) | O(NOTE) | O(DRY_RUN) | O(JSON_OR_LINES)},

    {.name = "restate", .summary = "Build the selected models again, whatever is filled", .run = command_restate,
     .details = "As run, but windows of the range are done again even if they are filled.",
     .options = O(ENV) | O(PATH) | SELECTION | O(START) | O(END) | O(BATCH) | O(CONCURRENCY) | O(ORDER) |
                O(PARALLELISM) | O(KEEP_GOING) | O(STRICT) | O(AUDIT) | O(NOTE) | O(DRY_RUN) | O(JSON_OR_LINES)},

    {.name = "intervals", .summary = "Show which windows of a model are filled", .run = command_intervals,
     .arguments = {{"MODEL", .summary = "An incremental model"}},
     .options = O(ENV) | O(PATH) | O(JSON)},

    {.name = "backfill plan", .summary = "Show what a campaign would do", .run = command_backfill_plan,
     .details = "Who takes part and how, windows and batches, what they read, what is left stale. Builds nothing.",
     .options = CAMPAIGN | O(PROBE) | O(JSON)},

    {.name = "backfill start", .summary = "Compute the past anew, beside what readers see", .run = command_backfill_start,
     .details = "A campaign: its batches are built and checked unseen, compared with what is published, and wait for\n"
                "`backfill publish`. It may be paused, resumed and cancelled from another terminal.",
     .options = CAMPAIGN | O(PLAN) | O(ORDER) | O(HOURS) | O(WAIT) | O(AUDIT) | O(NO_AUDIT) | O(PUBLISH) | O(NOTE) |
                O(JSON_OR_LINES)},

    {.name = "backfill list", .summary = "List the campaigns, newest first", .run = command_backfill_list,
     .options = O(PATH) | O(JSON)},

    {.name = "backfill status", .summary = "Show how far a campaign is", .run = command_backfill_status,
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(JSON)},

    {.name = "backfill pause", .summary = "Let a campaign begin no further batch", .run = command_backfill_pause,
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(JSON)},

    {.name = "backfill resume", .summary = "Do what is left of a campaign", .run = command_backfill_resume,
     .details = "Of one that is paused or failed, or whose process died. What is done is not done again.",
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(JSON_OR_LINES)},

    {.name = "backfill cancel", .summary = "Stop a campaign for good, and drop what it made", .run = command_backfill_cancel,
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(JSON)},

    {.name = "backfill audit", .summary = "Show old beside new before a campaign is published", .run = command_backfill_audit,
     .details = "Rows, keys, changed values, sums and NULLs of each model; what moved most; checks and thresholds.\n"
                "The report is made when the last batch is done, and stays with the campaign.",
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(AGAIN) | O(MARKDOWN) | O(HTML) | O(JSON)},

    {.name = "backfill publish", .summary = "Let readers see what a campaign made, all at once", .run = command_backfill_publish,
     .details = "One transaction replaces the windows of all its models. Nothing is computed: what was audited is published.",
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(ACCEPT) | O(REBASE) | O(NOTE) | O(JSON)},

    {.name = "backfill revert", .summary = "Put back the rows that a campaign replaced", .run = command_backfill_revert,
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(NOTE) | O(JSON)},

    {.name = "backfill discard", .summary = "Drop what a campaign made, and publish nothing", .run = command_backfill_discard,
     .arguments = {CAMPAIGN_ID}, .options = O(PATH) | O(JSON)},

    {.name = "models", .summary = "List the project's models", .run = command_models,
     .options = O(ENV) | O(PATH) | SELECTION | O(TAG) | O(JSON)},

    {.name = "show", .summary = "Show all about one model", .run = command_show,
     .details = "What it is and who reads it, what the environment serves of it, and a profile of each column.",
     .arguments = {{"MODEL", .summary = "A model"}},
     .options = O(ENV) | O(PATH) | O(SQL) | O(RENDERED) | O(WINDOW) | O(SAMPLE) | O(JSON)},

    {.name = "lineage", .summary = "Show what a model reads and what reads it", .run = command_lineage,
     .arguments = {{"MODEL", .is_optional = true, .summary = "A model; without one, the whole graph"}},
     .options = O(ENV) | O(PATH) | O(COLUMNS) | O(LINEAGE_FORMAT) | O(DEPTH) | O(JSON)},

    {.name = "impact", .summary = "Show everything that a column reaches", .run = command_impact,
     .details = "Columns made of it, models whose rows it decides, models that may use it unseen, checks, deliveries.",
     .arguments = {{"MODEL.COLUMN", .summary = "A column of a model"}},
     .options = O(ENV) | O(PATH) | O(JSON)},

    {.name = "render", .summary = "Show the query of a model as it would run", .run = command_render,
     .details = "Names are those of the tables it would read; with --window also the window's edges and clock.",
     .arguments = {{"MODEL", .summary = "A model of SQL"}},
     .options = O(ENV) | O(PATH) | O(WINDOW) | O(JSON)},

    {.name = "query", .summary = "Read from an environment with one SELECT", .run = command_query,
     .details = "Only reads: other statements, files, and tables that are not the project's are refused.\n"
                "With --json, types are named as Arrow does: int64, string, decimal128(10, 2), timestamp[us].",
     .arguments = {{"SQL", .summary = "The query; - reads it from stdin"}},
     .options = O(ENV) | O(PATH) | O(QUERY_LIMIT) | O(QUERY_FORMAT) | O(JSON)},

    {.name = "diff", .summary = "Compare the rows of two environments, or of two tables", .run = command_diff,
     .details = "The left side is --env, the right side --against; or --source and --target. Exit 1 when anything differs.",
     .options = O(ENV) | O(PATH) | SELECTION | O(AGAINST) | O(SOURCE) | O(TARGET) | O(ON) | O(DIFF_LIMIT) |
                O(TOLERANCE) | O(SCHEMA) | O(JSON)},

    {.name = "test", .summary = "Build models from fixture files and compare them with golden files", .run = command_test,
     .details = "Works in a database in memory: state and warehouse are not touched. Files are below tests/.",
     .options = O(PATH) | SELECTION | O(UPDATE_GOLDEN) | O(NOW) | O(JUNIT) | O(JSON)},

    {.name = "env list", .summary = "List the environments and how far they are behind", .run = command_env_list,
     .options = O(PATH) | O(JSON)},

    {.name = "env show", .summary = "Show what an environment serves of each model", .run = command_env_show,
     .arguments = {{"NAME", .summary = "An environment"}}, .options = O(PATH) | O(JSON)},

    {.name = "env diff", .summary = "Show the models that two environments serve differently", .run = command_env_diff,
     .arguments = {{"A", .summary = "An environment"}, {"B", .summary = "Another one"}}, .options = O(PATH) | O(JSON)},

    {.name = "env promote", .summary = "Let an environment serve what another one serves", .run = command_env_promote,
     .details = "Builds nothing. The checks of what is taken over run first, and nothing moves when one blocks.",
     .arguments = {{"FROM", .summary = "The environment that has it"}, {"TO", .summary = "The environment that gets it"}},
     .options = O(PATH) | O(SELECT) | O(NOTE) | O(DRY_RUN) | O(JSON)},

    {.name = "env rollback", .summary = "Let an environment serve what it served before", .run = command_env_rollback,
     .details = "Builds nothing, and undoes nothing in tables that were changed in place. It is a promotion like any\n"
                "other, so the next rollback goes forward again.",
     .arguments = {{"NAME", "prod", .is_optional = true, .summary = "The environment"}},
     .options = O(PATH) | O(TO) | O(LIST_GENERATIONS) | O(NOTE) | O(DRY_RUN) | O(JSON)},

    {.name = "env drop", .summary = "Take the views of an environment away", .run = command_env_drop,
     .arguments = {{"NAME", .summary = "The environment"}},
     .options = O(PATH) | O(FORCE_DROP) | O(DRY_RUN) | O(JSON)},

    {.name = "changes", .summary = "List what changed for readers: when, which periods, why, by whom", .run = command_changes,
     .details = "Restatements, rollbacks, forward-only and breaking changes, publications of backfills; newest first.",
     .options = O(PATH) | O(CHANGES_MODEL) | O(CHANGES_ENV) | O(CHANGES_SINCE) | O(CHANGES_LIMIT) |
                O(UNDELIVERED) | O(REDELIVER) | O(JSON)},

    {.name = "gc", .summary = "Drop tables that no environment serves any more", .run = command_gc,
     .details = "Also trims events and check results older than 30 days, and all but 50 generations an environment.",
     .options = O(PATH) | O(GRACE) | O(DRY_RUN) | O(JSON)},

    {.name = "reset", .summary = "Drop all that interlace made, and forget it", .run = command_reset,
     .details = "Views of all environments, interlace's own schemas, and what is recorded of them. What was delivered outside\n"
                "stays, and is not delivered again.",
     .options = O(PATH) | O(YES) | O(DRY_RUN) | O(JSON)},

    {.name = "checks list", .summary = "List recorded outcomes of checks, newest first", .run = command_checks_list,
     .options = O(PATH) | O(MODEL) | O(ENV_FILTER) | O(STATUS) | O(SINCE) | O(CHECKS_LIMIT) | O(JSON)},

    {.name = "checks run", .summary = "Check what an environment serves, without building", .run = command_checks_run,
     .options = O(ENV) | O(PATH) | SELECTION | O(CHECK) | O(PARALLELISM) | O(FAIL_FAST) | O(STRICT) | O(JSON_OR_FULL)},

    {.name = "checks rows", .summary = "Show the rows that a check finds wrong", .run = command_checks_rows,
     .details = "As the last check of that environment saw them, also when its build was rolled back. Up to 100 are kept.",
     .arguments = {{"MODEL", .summary = "A model"}, {"CHECK", .summary = "The name of one of its checks"}},
     .options = O(ENV) | O(PATH) | O(ROWS_LIMIT) | O(JSON)},

    {.name = "engines", .summary = "List the engines of the configuration", .run = command_engines,
     .options = O(PATH) | O(CONNECT) | O(JSON)},

    {.name = "connections", .summary = "List the connections of the configuration", .run = command_connections,
     .options = O(PATH) | O(JSON)},

    {.name = "doctor", .summary = "Look for what is wrong with the project or around it", .run = command_doctor,
     .details = "Configuration, models, state, lock, engines, recorded tables, disk. Changes nothing. Exit 1 when there is\n"
                "a problem.",
     .options = O(PATH) | O(JSON)},

    {.name = "unlock", .summary = "Remove the lock that a dead process left", .run = command_unlock,
     .details = "Seldom needed: the next command on the same machine does it. The lock of a live process stays.",
     .options = O(PATH) | O(YES) | O(JSON)},

    {.name = "docs", .summary = "Write the manual, to be read without a network", .run = command_docs,
     .arguments = {{"DIR", "interlace-docs", .is_optional = true, .summary = "The folder"}},
     .options = O(JSON)},

    {.name = "mcp", .summary = "Serve the project to an assistant over stdin and stdout", .run = command_mcp,
     .details = "The Model Context Protocol; the client starts this command and ends it by closing stdin.",
     .options = O(PATH) | O(READ_ONLY)},

    {.name = "version", .summary = "Show the version and what this build works with", .run = command_version,
     .options = O(JSON)},

    {.name = "completion", .summary = "Show the completion script of a shell", .run = command_completion,
     .arguments = {{"SHELL", .summary = "bash, zsh or fish"}}},

    {.name = "complete", .summary = "Show what may come next on a command line", .run = command_complete,
     .is_hidden = true, .arguments = {{"LINE", .summary = "The line up to the cursor"}}},

    {.name = "docs-reference", .summary = "Write the reference pages", .run = command_docs_reference, .is_hidden = true,
     .arguments = {{"DIR", .summary = "The folder"}}},
};
const size_t command_count = COUNT_OF(command_table);

const CommandGroup command_groups[] = {
    {"env", "Environments"},
    {"backfill", "Campaigns over the past"},
    {"checks", "Data checks"},
};
const size_t command_group_count = COUNT_OF(command_groups);

static const bool type_takes_value[OPTION_TYPE_TOTAL] = {
    [OPTION_TYPE_TEXT]     = true, [OPTION_TYPE_LIST] = true, [OPTION_TYPE_NUMBER]      = true, [OPTION_TYPE_CHOICE] = true,
    [OPTION_TYPE_DURATION] = true, [OPTION_TYPE_TIME] = true, [OPTION_TYPE_ENVIRONMENT] = true,
    [OPTION_TYPE_RANGE] = true,
};
/* clang-format on */

bool option_type_takes_value(OptionType type) {
    return type_takes_value[type];
}

const Command *command_find(Str name) {
    for (size_t i = 0; i < command_count; i++) {
        if (str_equal(name, str_from(command_table[i].name))) {
            return &command_table[i];
        }
    }
    return NULL;
}

const CommandGroup *command_group_find(Str name) {
    for (size_t i = 0; i < command_group_count; i++) {
        if (str_equal(name, str_from(command_groups[i].name))) {
            return &command_groups[i];
        }
    }
    return NULL;
}

bool command_is_in_group(const Command *command, const CommandGroup *group) {
    Str name = str_from(command->name);
    size_t blank = str_find_char(name, ' ');
    return blank != STR_NOT_FOUND && str_equal(str_slice(name, 0, blank), str_from(group->name));
}

size_t command_argument_count(const Command *command) {
    size_t count = 0;
    while (count < COMMAND_ARGUMENTS_MAX && command->arguments[count].name != NULL) {
        count++;
    }
    return count;
}

OptionId option_find_name(OptionSet set, Str name) {
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) != 0 && str_equal(name, str_from(option_table[id].name))) {
            return (OptionId)id;
        }
    }
    return OPTION_COUNT;
}

OptionId option_find_letter(OptionSet set, char letter) {
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) != 0 && option_table[id].letter == letter) {
            return (OptionId)id;
        }
    }
    return OPTION_COUNT;
}
