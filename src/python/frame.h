/* Control frames: u32 little-endian length, then one JSON object in UTF-8 with its type in "t". Decoding is pure, apart
 * from any socket: what user code can make arrive here is not trusted, and it is fuzzed (tests/fuzz/frame_fuzz.c). */
#ifndef INTERLACE_PYTHON_FRAME_H
#define INTERLACE_PYTHON_FRAME_H

#include "config/config_value.h"

#define FRAME_SIZE_MAX ((size_t)16 << 20)

/* From the worker. */
typedef enum FrameType {
    FRAME_READY,
    FRAME_LOADING,
    FRAME_MANIFEST,
    FRAME_OPEN_INPUT,
    FRAME_OUTPUT,
    FRAME_LOG,
    FRAME_RESULT,
    FRAME_ERROR,
    FRAME_STALE,
    FRAME_PONG,
    FRAME_TYPE_COUNT
} FrameType;

typedef struct Frame {
    FrameType type;
    Str text; /* the JSON */
    const ConfigValue *fields;
    int64_t task; /* 0: of no task */
} Frame;

/* Bytes as they arrive. A zeroed reader is ready. */
typedef struct FrameReader {
    StrBuf bytes;
    size_t start; /* of the next frame in `bytes` */
} FrameReader;

void frame_reader_deinit(FrameReader *reader);
void frame_reader_add(FrameReader *reader, Str bytes);
/* The payload of the next whole frame, borrowed until the reader is used again; `*has_frame_out` is false when more
 * bytes are needed. ExecutionError: longer than FRAME_SIZE_MAX, before anything is reserved for it. */
MUST_CHECK Status frame_reader_next(FrameReader *reader, Str *payload_out, bool *has_frame_out, Error *err);

/* ExecutionError: no JSON object, no known type. Everything is copied into the arena. */
MUST_CHECK Status frame_parse(Str payload, Arena *arena, Frame *frame_out, Error *err);

/* Fields, beside config_text; what is absent or of another kind reads as 0 or false. */
int64_t frame_int(const ConfigValue *fields, Str key);
bool frame_flag(const ConfigValue *fields, Str key);

/* `json` with its length in front. ExecutionError when it is longer than FRAME_SIZE_MAX. */
MUST_CHECK Status frame_encode(Str json, StrBuf *out, Error *err);

#endif
