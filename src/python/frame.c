#include "python/frame.h"

#define LENGTH_SIZE ((size_t)4)

static const Str frame_names[] = {
    [FRAME_READY] = STR_INIT("ready"),       [FRAME_LOADING] = STR_INIT("loading"),
    [FRAME_MANIFEST] = STR_INIT("manifest"), [FRAME_OPEN_INPUT] = STR_INIT("open_input"),
    [FRAME_OUTPUT] = STR_INIT("output"),     [FRAME_LOG] = STR_INIT("log"),
    [FRAME_RESULT] = STR_INIT("result"),     [FRAME_ERROR] = STR_INIT("error"),
    [FRAME_STALE] = STR_INIT("stale"),       [FRAME_PONG] = STR_INIT("pong"),
};
static_assert(COUNT_OF(frame_names) == FRAME_TYPE_COUNT, "one name per FrameType");

static size_t read_length(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

void frame_reader_deinit(FrameReader *reader) {
    strbuf_deinit(&reader->bytes);
    reader->start = 0;
}

/* Frames that were given out make room for what follows. */
void frame_reader_add(FrameReader *reader, Str bytes) {
    size_t left = reader->bytes.size - reader->start;
    if (reader->start > 0) {
        memmove(reader->bytes.data, reader->bytes.data + reader->start, left);
        reader->bytes.size = left;
        reader->start = 0;
    }
    strbuf_append(&reader->bytes, bytes);
}

Status frame_reader_next(FrameReader *reader, Str *payload_out, bool *has_frame_out, Error *err) {
    size_t left = reader->bytes.size - reader->start;
    *has_frame_out = false;
    if (left < LENGTH_SIZE) {
        return OK;
    }
    const char *frame = reader->bytes.data + reader->start;
    size_t size = read_length(frame);
    if (size > FRAME_SIZE_MAX) {
        return error_set(err, ERROR_EXECUTION, "protocol error: a frame of %zu bytes", size);
    }
    if (left - LENGTH_SIZE >= size) {
        *payload_out = (Str){frame + LENGTH_SIZE, size};
        reader->start += LENGTH_SIZE + size;
        *has_frame_out = true;
    }
    return OK;
}

int64_t frame_int(const ConfigValue *fields, Str key) {
    int64_t number = 0;
    return str_to_int64(config_text(fields, key), &number) ? number : 0;
}

bool frame_flag(const ConfigValue *fields, Str key) {
    return str_equal(config_text(fields, key), STR("true"));
}

static bool find_type(Str name, FrameType *type_out) {
    for (size_t i = 0; i < FRAME_TYPE_COUNT; i++) {
        if (str_equal(name, frame_names[i])) {
            *type_out = (FrameType)i;
            return true;
        }
    }
    return false;
}

Status frame_parse(Str payload, Arena *arena, Frame *frame_out, Error *err) {
    ConfigValue *fields = NULL;
    Str text = str_copy(arena, payload);
    AUTO(error) Error reason;
    error_init(&reason);
    if (failed(json_read(text, STR("frame"), arena, &fields, &reason))) {
        return error_set(err, ERROR_EXECUTION, "protocol error: " STR_FMT, STR_ARG(reason.message));
    }
    if (fields->kind != CONFIG_MAP) {
        return error_set(err, ERROR_EXECUTION, "protocol error: a frame that is %s", config_kind_name(fields->kind));
    }

    Frame frame = {.text = text, .fields = fields, .task = frame_int(fields, STR("task"))};
    Str name = config_text(fields, STR("t"));
    if (!find_type(name, &frame.type)) {
        return error_set(err, ERROR_EXECUTION, "protocol error: a frame of unknown type '" STR_FMT "'",
                         STR_ARG(str_slice(name, 0, 40)));
    }
    *frame_out = frame;
    return OK;
}

Status frame_encode(Str json, StrBuf *out, Error *err) {
    if (json.size > FRAME_SIZE_MAX) {
        return error_set(err, ERROR_EXECUTION, "a message to a Python worker has %zu bytes, more than %zu", json.size,
                         FRAME_SIZE_MAX);
    }
    for (size_t i = 0; i < LENGTH_SIZE; i++) {
        strbuf_char(out, (char)(json.size >> (8 * i) & 0xff));
    }
    strbuf_append(out, json);
    return OK;
}
