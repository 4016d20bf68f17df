/* Control frames of a worker: any bytes, cut anywhere (the first byte says where), and what is made of errors in them.
 */
#include "python/frame.h"
#include "python/worker_error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_frame(Str payload) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    Frame frame;
    if (failed(frame_parse(payload, arena, &frame, &err))) {
        return;
    }
    (void)frame_int(frame.fields, STR("rows"));
    (void)frame_flag(frame.fields, STR("is_volatile"));
    const WorkerErrorForm form = {STR("model 'm' failed: "), STR("model 'm': "), ERROR_EXECUTION};
    worker_error_set(frame.fields, &form, &err);
    (void)error_line(&err, arena);
}

/* False after nonsense: the worker would be killed. */
static bool take_frames(FrameReader *reader) {
    for (;;) {
        AUTO(error) Error err;
        error_init(&err);
        Str payload;
        bool has_frame;
        if (failed(frame_reader_next(reader, &payload, &has_frame, &err))) {
            return false;
        }
        if (!has_frame) {
            return true;
        }
        take_frame(payload);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str left = {(const char *)data, size};
    size_t piece = size > 0 ? (size_t)data[0] + 1 : 1;
    left = str_skip(left, 1);
    FrameReader reader = {0};
    bool goes_on = true;
    while (goes_on && left.size > 0) {
        frame_reader_add(&reader, str_slice(left, 0, piece));
        left = str_skip(left, piece);
        goes_on = take_frames(&reader);
    }
    frame_reader_deinit(&reader);
    return 0;
}
