/* Time as one command sees it: the project's zone, one instant, the bounds that were asked for. */
#include "run/apply_steps.h"

const char *window_verb_name(WindowVerb verb) {
    static const char *const names[] = {
        [WINDOW_APPLY] = "apply",
        [WINDOW_RUN] = "run",
        [WINDOW_RESTATE] = "restate",
    };
    return names[verb];
}

static Status refuse_bound(const char *option, Str text, Error *err) {
    error_clear(err);
    return error_set(err, ERROR_USAGE, "%s must be an ISO timestamp (e.g. 2026-07-01T00:00:00); got '" STR_FMT "'",
                     option, STR_ARG(text));
}

Status window_bound_check(const char *option, Str text, Error *err) {
    CivilTime time;
    return failed(civil_time_parse(text, &time, err)) ? refuse_bound(option, text, err) : OK;
}

static Status read_bound(const Zone *zone, const char *option, Str text, bool *is_set, WallUs *wall_out, Error *err) {
    *is_set = text.size > 0;
    if (!*is_set) {
        return OK;
    }
    return failed(wall_parse(text, zone, wall_out, err)) ? refuse_bound(option, text, err) : OK;
}

Status window_request_read(Session *session, const ApplyOptions *options, const Zone **zone_out,
                           WindowRequest *request_out, Error *err) {
    WindowRequest request = {
        .verb = options->verb,
        .catch_up = options->catch_up,
        .environment = str_equal(options->environment, STR("prod")) ? STR_EMPTY : options->environment,
    };
    const Zone *zone = NULL;
    TRY(session_zone(session, &zone, err));
    request.now = zone_wall_reached(zone, clock_now_us());
    TRY(read_bound(zone, "--start", options->start, &request.has_start, &request.start, err));
    TRY(read_bound(zone, "--end", options->end, &request.has_end, &request.end, err));
    if (request.has_start && request.has_end && request.start >= request.end) {
        return error_set(err, ERROR_USAGE, "--start must be before --end; got '" STR_FMT "' and '" STR_FMT "'",
                         STR_ARG(options->start), STR_ARG(options->end));
    }
    *zone_out = zone;
    *request_out = request;
    return OK;
}
