/* A task of the schedule is a batch. It waits for those batches of selected upstreams that hold what it reads; so a
 * campaign flows, window by window. Others stop it through the state: it looks before each batch, and twice a second.
 */
#include "backfill/campaign_work.h"

#include "backfill/campaign_area.h"
#include "backfill/campaign_hours.h"
#include "backfill/campaign_reads.h"
#include "backfill/campaign_seal.h"
#include "base/log.h"
#include "base/test_hooks.h"
#include "run/cancel.h"

#include <stdatomic.h>
#include <time.h>

#define TRIES 3
#define PAUSE_US ((int64_t)250000) /* before the second try; twice as long before each further one */
#define LOOK_US ((int64_t)500000)

typedef struct BatchTask {
    const CampaignModel *model;
    CampaignBatchRecord record;
    Error error; /* of the last try */
    Arena *arena;
} BatchTask;
DEFINE_VEC(BatchTaskVec, batch_task_vec, BatchTask)

/* Those of a model: [first, end) of the batches, and the task that stands for all of them. */
typedef struct ModelTasks {
    size_t first, end, barrier;
} ModelTasks;

/* How far a model is, as others are told: of what this process has to do. */
typedef struct ModelProgress {
    int64_t started_us; /* monotonic; 0: not begun */
    int64_t done, total, rows;
    bool is_over;
} ModelProgress;

typedef struct CampaignWork {
    Campaign *campaign;
    StateLock *lock;
    BatchTaskVec tasks;
    IndexVec *reads;           /* a vector a task: those without which it cannot be done */
    bool *is_whole;            /* a flag a model: all of its batches are done, known once its barrier was passed */
    atomic_bool is_stopped;    /* cancelled by another command: statements are interrupted */
    atomic_bool takes_no_more; /* paused */
    int64_t looked_us;         /* the driving thread's */
    ModelProgress *progress;   /* a model each; guarded by BuildContext.state_mutex */
    int64_t models_to_do;
    atomic_size_t rows;
    atomic_bool is_over_limit;
    CampaignHours hours;
    atomic_bool is_over_hours; /* no further batch before they begin again */
    int64_t started_us;
} CampaignWork;

/* ---- The state, as other commands see and change it. */

static void look_at_state(CampaignWork *work) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Campaign *campaign = work->campaign;
    Str state = STR_EMPTY;
    pthread_mutex_lock(&campaign->build.state_mutex);
    Status status = state_campaign_state(campaign->state, campaign->id, arena, &state, &err);
    pthread_mutex_unlock(&campaign->build.state_mutex);
    if (failed(status)) {
        log_debug("ignoring: " STR_FMT, STR_ARG(err.message)); /* it is looked at again, and each record is fenced */
        return;
    }
    if (!campaign_state_is(state, CAMPAIGN_RUNNING)) {
        atomic_store(&work->takes_no_more, true);
        bool is_paused = campaign_state_is(state, CAMPAIGN_PAUSED);
        atomic_store(&work->is_stopped, !is_paused);
    }
}

static bool are_hours(const CampaignWork *work) {
    return campaign_hours_hold(&work->hours, zone_wall(work->campaign->zone, clock_now_us()));
}

static void look_at_clock(CampaignWork *work) {
    if (!are_hours(work)) {
        atomic_store(&work->is_over_hours, true);
    }
}

static bool is_stopping(void *context) {
    CampaignWork *work = context;
    return atomic_load(&work->is_stopped) || cancel_requested();
}

static bool is_cancelled(void *context) {
    CampaignWork *work = context;
    int64_t now = clock_monotonic_us();
    if (now - work->looked_us > LOOK_US) {
        work->looked_us = now;
        look_at_state(work);
    }
    return is_stopping(work);
}

static void interrupt(void *context) {
    CampaignWork *work = context;
    engine_interrupt_all(work->campaign->build.engine);
}

static Status put_record(CampaignWork *work, const BatchTask *task, Error *err) {
    Campaign *campaign = work->campaign;
    pthread_mutex_lock(&campaign->build.state_mutex);
    Status status = state_campaign_put_batch(campaign->state, work->lock, campaign->id, &task->record, err);
    pthread_mutex_unlock(&campaign->build.state_mutex);
    return status;
}

/* ---- The rows of one batch. */

/* What the ledger of the audit relation has is done, by a try that died before it was recorded or by a batch's halves.
 */
static Status find_due(CampaignWork *work, const BatchTask *task, Arena *arena, IntervalSet *due_out, Error *err) {
    Campaign *campaign = work->campaign;
    IntervalSet filled;
    LedgerKey key = ledger_key(task->model->model, task->model->audit);
    pthread_mutex_lock(&campaign->build.state_mutex);
    Status status = state_ledger_load(campaign->state, &key, arena, &filled, err);
    pthread_mutex_unlock(&campaign->build.state_mutex);
    TRY(status);
    *due_out = interval_set_due(arena, &filled, task->model->target.grain, task->record.window);
    return OK;
}

static Status try_batch(CampaignWork *work, BatchTask *task, Arena *arena, ModelResult *result, Error *err) {
    BuildTarget target;
    campaign_aside_target(task->model, &target);
    if (target.is_windowed) {
        TRY(find_due(work, task, arena, &target.work.due, err));
    }
    if (target.is_windowed && target.work.due.count == 0) {
        return OK;
    }
    TRY(test_hook("campaign.batch", err));
    return build_target(&work->campaign->build, task->model->task, &target, arena, result, err);
}

/* A check or a contract says the same of the same rows. */
static bool may_pass_later(const Error *err) {
    return err->kind != ERROR_CHECK && err->kind != ERROR_SCHEMA && err->kind != ERROR_INTERRUPTED &&
           err->kind != ERROR_LOCK;
}

static void wait_before_next(CampaignWork *work, int64_t attempt) {
    int64_t left_us = PAUSE_US << (attempt - 1);
    while (left_us > 0 && !is_stopping(work)) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        left_us -= 50000;
    }
}

static Status try_until_done(CampaignWork *work, BatchTask *task, Error *err) {
    for (int64_t attempt = 1;; attempt++) {
        ModelResult result = {
            .model = task->model->model, .project = work->campaign->session->project, .attempts = attempt};
        AUTO(arena) Arena *arena = arena_create();
        task->record.attempts++;
        error_clear(err);
        if (!failed(try_batch(work, task, arena, &result, err))) {
            task->record.rows = result.rows.inserted + result.rows.updated;
            return OK;
        }
        if (attempt == TRIES || is_stopping(work) || !may_pass_later(err)) {
            return FAILED;
        }
        wait_before_next(work, attempt);
    }
}

/* What was expected is a guess: when it turns out wrong, somebody should look. */
static void keep_limits(CampaignWork *work, const BatchTask *task) {
    const CampaignOptions *options = &work->campaign->options;
    size_t rows = atomic_fetch_add(&work->rows, (size_t)task->record.rows) + (size_t)task->record.rows;
    int64_t spent_us = clock_monotonic_us() - work->started_us;
    bool is_over = (options->max_rows > 0 && (int64_t)rows > options->max_rows) ||
                   (options->max_us > 0 && spent_us > options->max_us);
    if (is_over) {
        atomic_store(&work->is_over_limit, true);
        atomic_store(&work->takes_no_more, true);
    }
}

/* ---- What others are told. */

static ModelProgress *progress_of(const CampaignWork *work, const CampaignModel *model) {
    return &work->progress[model - work->campaign->models];
}

static void start_progress(CampaignWork *work) {
    Campaign *campaign = work->campaign;
    work->progress = ARENA_NEW_ARRAY(campaign->arena, ModelProgress, campaign->model_count);
    for (size_t i = 0; i < work->tasks.count; i++) {
        ModelProgress *progress = progress_of(work, work->tasks.items[i].model);
        work->models_to_do += progress->total == 0;
        progress->total += campaign_grains(work->tasks.items[i].model, work->tasks.items[i].record.window);
    }
}

static void emit(const CampaignWork *work, const CampaignModel *model, Event event) {
    const ModelProgress *progress = progress_of(work, model);
    event.model = model->model;
    event.rows = (RowCounts){.is_known = true, .inserted = progress->rows};
    event.seconds = (double)(clock_monotonic_us() - progress->started_us) / 1e6;
    session_emit(work->campaign->session, event);
}

static void tell_begun(CampaignWork *work, const BatchTask *task) {
    ModelProgress *progress = progress_of(work, task->model);
    pthread_mutex_lock(&work->campaign->build.state_mutex);
    if (progress->started_us == 0) {
        progress->started_us = clock_monotonic_us();
        emit(work, task->model, (Event){.type = EVENT_MODEL_START, .total = work->models_to_do});
    }
    pthread_mutex_unlock(&work->campaign->build.state_mutex);
}

static void tell_done(CampaignWork *work, const BatchTask *task) {
    ModelProgress *progress = progress_of(work, task->model);
    pthread_mutex_lock(&work->campaign->build.state_mutex);
    progress->done += campaign_grains(task->model, task->record.window);
    progress->rows += task->record.rows;
    if (task->model->part == PART_WINDOWED) {
        emit(work, task->model, (Event){.type = EVENT_MODEL_WINDOW, .done = progress->done, .total = progress->total});
    }
    if (progress->done == progress->total) {
        progress->is_over = true;
        emit(work, task->model, (Event){.type = EVENT_MODEL_DONE});
    }
    pthread_mutex_unlock(&work->campaign->build.state_mutex);
}

/* Of those that were begun and are not done. No thread works any more. */
static void tell_undone(const CampaignWork *work) {
    for (size_t i = 0; i < work->tasks.count; i++) {
        const BatchTask *task = &work->tasks.items[i];
        ModelProgress *progress = progress_of(work, task->model);
        if (progress->started_us != 0 && !progress->is_over && task->error.message.size > 0) {
            progress->is_over = true;
            emit(work, task->model, (Event){.type = EVENT_MODEL_FAILED, .error = &task->error});
        }
    }
    for (size_t i = 0; i < work->campaign->model_count; i++) {
        if (work->progress[i].started_us != 0 && !work->progress[i].is_over) {
            emit(work, &work->campaign->models[i], (Event){.type = EVENT_MODEL_CANCELLED});
        }
    }
}

/* ---- One batch, with its record. */

static Status carry_out(CampaignWork *work, BatchTask *task, Error *err) {
    int64_t started_us = clock_monotonic_us();
    task->record.state = STR("running");
    task->record.error = STR_EMPTY;
    TRY(put_record(work, task, err));
    tell_begun(work, task);
    Status status = try_until_done(work, task, err);
    task->record.seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    bool is_failed = failed(status) && err->kind != ERROR_INTERRUPTED && !is_stopping(work);
    task->record.state = !failed(status) ? STR("done") : is_failed ? STR("failed") : STR("pending");
    task->record.error = is_failed ? str_copy(task->arena, err->message) : STR_EMPTY;
    AUTO(error) Error lost = {0};
    if (failed(put_record(work, task, &lost))) {
        if (!failed(status)) {
            error_move(err, &lost);
        }
        return FAILED;
    }
    TRY(status);
    keep_limits(work, task);
    tell_done(work, task);
    return test_hook("campaign.batch_done", err);
}

static bool is_done(const CampaignWork *work, size_t task) {
    return task < work->tasks.count ? str_equal(work->tasks.items[task].record.state, STR("done"))
                                    : work->is_whole[task - work->tasks.count];
}

static bool can_be_done(const CampaignWork *work, size_t task) {
    for (size_t i = 0; i < work->reads[task].count; i++) {
        if (!is_done(work, work->reads[task].items[i])) {
            return false;
        }
    }
    return true;
}

/* A batch that failed stops only those that read it: to the schedule it is done with. */
static TaskVerdict run_batch(void *context, size_t index, bool is_alone) {
    CampaignWork *work = context;
    if (index >= work->tasks.count) {
        work->is_whole[index - work->tasks.count] = can_be_done(work, index);
        return VERDICT_TASK_DONE;
    }
    BatchTask *task = &work->tasks.items[index];
    look_at_state(work);
    look_at_clock(work);
    if (atomic_load(&work->takes_no_more) || atomic_load(&work->is_over_hours) || is_stopping(work)) {
        return VERDICT_TASK_CANCELLED;
    }
    if (!can_be_done(work, index)) {
        return VERDICT_TASK_DONE;
    }
    error_clear(&task->error);
    if (!failed(carry_out(work, task, &task->error))) {
        return VERDICT_TASK_DONE;
    }
    if (task->error.kind == ERROR_INTERRUPTED || is_stopping(work)) {
        return VERDICT_TASK_CANCELLED;
    }
    bool wants_to_be_alone = engine_error_is_out_of_memory(&task->error) || build_must_be_alone(&task->error);
    return wants_to_be_alone && !is_alone ? VERDICT_TASK_AGAIN_ALONE : VERDICT_TASK_DONE;
}

/* ---- What waits for what. */

/* Rows that go in by key depend on the order of their windows, as does a function that reads what is there. */
static bool is_ordered(const CampaignModel *model) {
    return model->part != PART_WINDOWED || model->model->key.count > 0 ||
           target_reads_itself(model->model, &model->target);
}

static size_t most_at_once(const CampaignModel *model) {
    return is_ordered(model) ? 1 : (size_t)model->target.concurrency;
}

/* At most so many batches of a model at once: each waits for the one that many places before it. */
static void need_place(const CampaignWork *work, size_t task, IndexVec *needs, IndexVec *reads) {
    const BatchTask *batch = &work->tasks.items[task];
    size_t at_once = most_at_once(batch->model);
    if (task < at_once || work->tasks.items[task - at_once].model != batch->model) {
        return;
    }
    index_vec_push(work->campaign->arena, needs, task - at_once);
    if (is_ordered(batch->model)) {
        index_vec_push(work->campaign->arena, reads, task - at_once);
    }
}

static void need(const CampaignWork *work, size_t task, size_t other, IndexVec *needs) {
    index_vec_push(work->campaign->arena, &needs[task], other);
    index_vec_push(work->campaign->arena, &work->reads[task], other);
}

/* Without a cut each batch of `model` waits for all of `upstream`, by way of one task that stands for them. */
static void need_upstream(const CampaignWork *work, const ModelTasks *model, const ModelTasks *upstream,
                          const WindowScan *cut, IndexVec *needs) {
    for (size_t t = model->first; t < model->end; t++) {
        if (cut == NULL) {
            need(work, t, upstream->barrier, needs);
            continue;
        }
        for (size_t other = upstream->first; other < upstream->end; other++) {
            if (campaign_cut_reads(cut, work->tasks.items[t].record.window, work->tasks.items[other].record.window)) {
                need(work, t, other, needs);
            }
        }
    }
}

static void need_places(const CampaignWork *work, const ModelTasks *model, IndexVec *needs) {
    for (size_t t = model->first; t < model->end; t++) {
        need_place(work, t, &needs[t], &work->reads[t]);
        need(work, model->barrier, t, needs);
    }
}

static ModelTasks *find_ranges(const CampaignWork *work) {
    Campaign *campaign = work->campaign;
    ModelTasks *ranges = ARENA_NEW_ARRAY(campaign->arena, ModelTasks, campaign->model_count);
    for (size_t t = 0; t < work->tasks.count; t++) {
        ModelTasks *range = &ranges[work->tasks.items[t].model - campaign->models];
        range->first = range->end == 0 ? t : range->first;
        range->end = t + 1;
    }
    for (size_t i = 0; i < campaign->model_count; i++) {
        ranges[i].barrier = work->tasks.count + i;
    }
    return ranges;
}

/* A vector a task: a batch each, then one for each model that stands for all of its batches. */
static IndexVec *find_needs(CampaignWork *work, const ModelTasks *ranges) {
    Campaign *campaign = work->campaign;
    size_t count = work->tasks.count + campaign->model_count;
    IndexVec *needs = ARENA_NEW_ARRAY(campaign->arena, IndexVec, count);
    work->reads = ARENA_NEW_ARRAY(campaign->arena, IndexVec, count);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        bool *is_read = ARENA_NEW_ARRAY(campaign->arena, bool, campaign->model_count);
        campaign_upstreams(campaign, model->model, is_read);
        for (size_t u = 0; u < campaign->model_count; u++) {
            if (is_read[u] && ranges[u].end > 0) {
                need_upstream(work, &ranges[i], &ranges[u], campaign_cut(campaign, model, &campaign->models[u]), needs);
            }
        }
        need_places(work, &ranges[i], needs);
    }
    return needs;
}

/* ---- All batches. */

/* Those of a model stand together, in the order in which they are to be done. */
static Status list_tasks(CampaignWork *work, bool with_done, Error *err) {
    Campaign *campaign = work->campaign;
    CampaignBatchRecordVec batches = {0};
    TRY(state_load_campaign_batches(campaign->state, campaign->id, campaign->arena, &batches, err));
    size_t first = 0;
    while (first < batches.count) {
        const CampaignModel *model = campaign_find_model(campaign, batches.items[first].model);
        size_t end = first;
        while (end < batches.count && str_equal(batches.items[end].model, batches.items[first].model)) {
            end++;
        }
        bool is_turned = campaign->options.newest_first && !is_ordered(model);
        for (size_t i = first; i < end && model->part != PART_TERMINAL; i++) {
            const CampaignBatchRecord *batch = &batches.items[is_turned ? end - 1 - (i - first) : i];
            if (with_done || !str_equal(batch->state, STR("done"))) {
                batch_task_vec_push(campaign->arena, &work->tasks,
                                    (BatchTask){.model = model, .record = *batch, .arena = campaign->arena});
            }
        }
        first = end;
    }
    return OK;
}

static size_t thread_count(const Campaign *campaign) {
    if (!engine_capabilities(campaign->build.engine)->parallel_writers) {
        return 1;
    }
    return campaign->options.concurrency > 0 ? (size_t)campaign->options.concurrency
                                             : (size_t)campaign->session->project->config->parallelism;
}

static Status run_batches(CampaignWork *work, Error *err) {
    Campaign *campaign = work->campaign;
    work->is_whole = ARENA_NEW_ARRAY(campaign->arena, bool, campaign->model_count);
    start_progress(work);
    ScheduleOptions options = {
        .task_count = work->tasks.count + campaign->model_count,
        .needs = find_needs(work, find_ranges(work)),
        .thread_count = thread_count(campaign),
        .handle = &campaign->build.schedule,
        .keep_going = true,
        .run = run_batch,
        .interrupt = interrupt,
        .is_cancelled = is_cancelled,
        .context = work,
    };
    TaskState *states = ARENA_NEW_ARRAY(campaign->arena, TaskState, options.task_count);
    if (!schedule_run(&options, states)) {
        return error_set(err, ERROR_EXECUTION, "no thread could be started to work on the campaign");
    }
    engine_resume(campaign->build.engine);
    tell_undone(work);
    return OK;
}

/* ---- How it ended. */

static Status tell_stopped(const Campaign *campaign, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(arena) Arena *arena = arena_create();
    Str state = STR_EMPTY;
    if (!failed(state_campaign_state(campaign->state, campaign->id, arena, &state, &err))) {
        bool is_paused = campaign_state_is(state, CAMPAIGN_PAUSED);
        (void)error_set(&err, ERROR_PLAN, "campaign %lld was " STR_FMT " by another command", (long long)campaign->id,
                        STR_ARG(state));
        error_code(&err, is_paused ? STR("campaign.paused") : STR("campaign.cancelled"));
        if (is_paused) {
            error_hint(&err, "`interlace backfill resume %lld` does the rest", (long long)campaign->id);
        }
    }
    error_list_take(faults, &err);
    return FAILED;
}

/* running → paused. */
static Status pause_by_itself(const Campaign *campaign, ErrorKind kind, const char *why, ErrorList *faults) {
    AUTO(error) Error err = {0};
    bool is_moved = false;
    if (!failed(state_campaign_move(campaign->state, campaign->id, campaign_state_name(CAMPAIGN_RUNNING),
                                    campaign_state_name(CAMPAIGN_PAUSED), &is_moved, &err))) {
        (void)error_set(&err, kind, "%s: campaign %lld is paused; nothing is published", why, (long long)campaign->id);
        error_hint(&err, "`interlace backfill resume %lld` does the rest", (long long)campaign->id);
    }
    error_list_take(faults, &err);
    return FAILED;
}

/* Those that failed, and those that waited for them. */
static size_t count_undone(CampaignWork *work, ErrorList *faults) {
    size_t count = 0;
    for (size_t i = 0; i < work->tasks.count; i++) {
        BatchTask *task = &work->tasks.items[i];
        count += !str_equal(task->record.state, STR("done"));
        if (task->error.message.size > 0) {
            AUTO(error) Error copy = {0};
            error_copy(&copy, &task->error);
            error_list_take(faults, &copy);
        }
    }
    return count;
}

static Status fail(CampaignWork *work, size_t failures, ErrorList *faults) {
    Campaign *campaign = work->campaign;
    AUTO(error) Error err = {0};
    AUTO(strbuf) StrBuf text = {0};
    strbuf_format(&text, "%zu of %zu batches are not done", failures, work->tasks.count);
    if (failed(state_campaign_fail(campaign->state, work->lock, campaign->id, strbuf_str(&text), &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    (void)error_set(&err, ERROR_EXECUTION, "campaign %lld failed: " STR_FMT, (long long)campaign->id,
                    STR_ARG(strbuf_str(&text)));
    error_hint(&err, "mend the cause, then `interlace backfill resume %lld` does what is not done",
               (long long)campaign->id);
    error_list_take(faults, &err);
    return FAILED;
}

static bool is_all_done(const CampaignWork *work) {
    size_t done = 0;
    while (done < work->tasks.count && is_done(work, done)) {
        done++;
    }
    return done == work->tasks.count;
}

static bool waits_for_hours(CampaignWork *work) {
    return atomic_load(&work->is_over_hours) && !atomic_load(&work->takes_no_more) && !is_stopping(work);
}

/* False: there is nothing to wait for, or somebody stops it. Nothing is held meanwhile that others need. */
static bool wait_for_hours(CampaignWork *work) {
    Campaign *campaign = work->campaign;
    if (!waits_for_hours(work) || is_all_done(work)) {
        return false;
    }
    session_note(campaign->session, "campaign %lld waits for its hours (" STR_FMT ")", (long long)campaign->id,
                 STR_ARG(campaign->options.hours));
    campaign_close_warehouse(campaign);
    while (waits_for_hours(work) && !are_hours(work)) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
        look_at_state(work);
    }
    return waits_for_hours(work);
}

static Status end(CampaignWork *work, ErrorList *faults) {
    if (cancel_requested()) {
        return pause_by_itself(work->campaign, ERROR_INTERRUPTED, "interrupted", faults);
    }
    if (atomic_load(&work->is_over_limit) && count_undone(work, faults) > 0) {
        return pause_by_itself(work->campaign, ERROR_PLAN, "--max-time or --max-rows is reached", faults);
    }
    if (atomic_load(&work->takes_no_more) && !atomic_load(&work->is_over_limit)) {
        return tell_stopped(work->campaign, faults);
    }
    size_t failures = count_undone(work, faults);
    if (failures > 0) {
        return fail(work, failures, faults);
    }
    AUTO(error) Error err = {0};
    if (failed(
            campaign_seal(work->campaign, work->lock, CAMPAIGN_RUNNING, !work->campaign->options.skips_audit, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    return OK;
}

static void clear_tasks(CampaignWork *work) {
    for (size_t i = 0; i < work->tasks.count; i++) {
        error_deinit(&work->tasks.items[i].error);
    }
}

static Status carry_out_all(CampaignWork *work, Error *err) {
    Campaign *campaign = work->campaign;
    Str hours = campaign->options.hours;
    TRY(hours.size > 0 ? campaign_hours_parse(hours, &work->hours, err) : OK);
    TRY(campaign_area_make(campaign, err));
    TRY(list_tasks(work, false, err));
    return run_batches(work, err);
}

Status campaign_work(Campaign *campaign, StateLock *lock, bool *goes_on_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    CampaignWork work = {.campaign = campaign, .lock = lock, .started_us = clock_monotonic_us()};
    Status status = FAILED;
    campaign->build.lock = lock;
    campaign->build.is_stopping = is_stopping;
    campaign->build.stop_context = &work;
    *goes_on_out = false;
    if (failed(carry_out_all(&work, &err))) {
        error_list_take(faults, &err);
    } else {
        *goes_on_out = wait_for_hours(&work);
        status = *goes_on_out ? OK : end(&work, faults);
    }
    clear_tasks(&work);
    return status;
}

/* ---- Doing it again. */

static Status take_back(CampaignWork *work, BatchTask *task, Error *err) {
    LedgerKey key = ledger_key(task->model->model, task->model->audit);
    task->record.state = STR("pending");
    task->record.attempts = 0;
    if (task->record.window.start < task->record.window.end) {
        TRY(state_ledger_remove(work->campaign->state, work->lock, &key, task->record.window, err));
    }
    return put_record(work, task, err);
}

static Status find_moved(const CampaignWork *work, IndexVec *moved_out, Error *err) {
    CampaignBatchRecordVec batches = {0};
    for (size_t i = 0; i < work->tasks.count; i++) {
        campaign_batch_record_vec_push(work->campaign->arena, &batches, work->tasks.items[i].record);
    }
    return campaign_find_moved(work->campaign, &batches, work->campaign->arena, moved_out, err);
}

/* A task reads only those before it, and such that stand for all of a model before it. */
static void spread(const CampaignWork *work, const ModelTasks *ranges, bool *is_stale) {
    for (size_t i = 0; i < work->campaign->model_count; i++) {
        for (size_t t = ranges[i].first; t < ranges[i].end; t++) {
            for (size_t r = 0; r < work->reads[t].count; r++) {
                is_stale[t] = is_stale[t] || is_stale[work->reads[t].items[r]];
            }
            is_stale[ranges[i].barrier] = is_stale[ranges[i].barrier] || is_stale[t];
        }
    }
}

Status campaign_take_back_moved(Campaign *campaign, StateLock *lock, size_t *count_out, Error *err) {
    CampaignWork work = {.campaign = campaign, .lock = lock};
    IndexVec moved = {0};
    *count_out = 0;
    TRY(list_tasks(&work, true, err));
    TRY(find_moved(&work, &moved, err));
    const ModelTasks *ranges = find_ranges(&work);
    (void)find_needs(&work, ranges);
    bool *is_stale = ARENA_NEW_ARRAY(campaign->arena, bool, work.tasks.count + campaign->model_count);
    for (size_t i = 0; i < moved.count; i++) {
        is_stale[moved.items[i]] = true;
    }
    spread(&work, ranges, is_stale);
    for (size_t t = 0; t < work.tasks.count; t++) {
        if (is_stale[t]) {
            TRY(take_back(&work, &work.tasks.items[t], err));
            ++*count_out;
        }
    }
    return OK;
}
