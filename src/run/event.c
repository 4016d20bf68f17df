#include "run/event.h"

static const char *const event_names[] = {
    [EVENT_PLAN] = "plan",
    [EVENT_MODEL_START] = "start",
    [EVENT_MODEL_DONE] = "done",
    [EVENT_MODEL_FAILED] = "failed",
    [EVENT_MODEL_WINDOW] = "window",
    [EVENT_CHECK] = "check",
    [EVENT_MODEL_CANCELLED] = "cancelled",
    [EVENT_LOG] = "log",
    [EVENT_NOTE] = "note",
    [EVENT_PROMOTED] = "promoted",
    [EVENT_SUMMARY] = "summary",
};
static_assert(COUNT_OF(event_names) == EVENT_SUMMARY + 1, "one name per EventType");

const char *event_type_name(EventType type) {
    return event_names[type];
}
