#include "state/state_sql.h"

Status state_record_event(StateStore *store, Str type, Str entity, Str payload_json, Error *err) {
    return state_execute(
        store, "INSERT INTO events (happened_at, type, entity, payload_json) VALUES (?1, ?2, ?3, ?4)",
        VALUES(state_int(clock_now_us()), state_text(type), state_text(entity), state_text(payload_json)), err);
}
