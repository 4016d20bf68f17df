#include "cli/mcp_input.h"

#include "base/files.h"
#include "run/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A signal may reach any thread: how soon the reading one looks. */
#define SIGNAL_CHECK_MS 200

struct McpInput {
    int in, out;
    int wake[2]; /* closed at its writing end when reading is to end */
    pthread_t thread;
    McpFramer framer; /* reading thread only */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    McpMessage *first, *last; /* waiting, in the order they came */
    size_t count;
    McpMessage *running;
    bool is_ended;       /* no message follows */
    bool is_closing;     /* nobody takes messages any more */
    bool stopped_for_it; /* the running one was asked to stop, by the client */
};

void mcp_message_destroy(McpMessage *message) {
    if (message != NULL) {
        arena_destroy(message->arena);
        free(message);
    }
}

/* --- The reading thread ----------------------------------------------------------------------------------------------
 */

static bool same_id(const ConfigValue *a, const ConfigValue *b) {
    return a != NULL && b != NULL && a->kind == CONFIG_SCALAR && b->kind == CONFIG_SCALAR && a->quoted == b->quoted &&
           str_equal(a->text, b->text);
}

static void stop_running(McpInput *input) {
    if (!cancel_requested()) {
        input->stopped_for_it = true;
        cancel_request(SIGINT);
    }
}

/* Of the running message and of those that wait; unknown ids are no fault: the answer may be on its way. */
static void cancel(McpInput *input, const ConfigValue *id) {
    if (input->running != NULL && same_id(config_find(input->running->value, STR("id")), id)) {
        input->running->is_cancelled = true;
        stop_running(input);
    }
    for (McpMessage *message = input->first; message != NULL; message = message->next) {
        message->is_cancelled = message->is_cancelled || same_id(config_find(message->value, STR("id")), id);
    }
}

static McpMessage *message_create(const McpFrame *frame) {
    static const char *const problems[] = {
        [MCP_FRAME_NONE] = "",
        [MCP_FRAME_MESSAGE] = "",
        [MCP_FRAME_TOO_LONG] = "the message is longer than 4 MiB",
        [MCP_FRAME_BAD_HEADERS] = "headers without a sound Content-Length",
    };
    AUTO(error) Error err = {0};
    McpMessage *message = heap_alloc_zeroed(1, sizeof *message);
    message->arena = arena_create();
    message->framing = frame->framing;
    message->problem = str_from(problems[frame->kind]);
    ConfigValue *value = NULL;
    Str text = str_copy(message->arena, frame->text);
    if (frame->kind == MCP_FRAME_MESSAGE) {
        if (failed(json_read(text, STR_EMPTY, message->arena, &value, &err))) {
            message->problem = str_copy(message->arena, err.message);
        } else {
            message->value = value;
        }
    }
    return message;
}

/* Takes the message. */
static void deliver(McpInput *input, McpMessage *message) {
    pthread_mutex_lock(&input->lock);
    if (str_equal(config_text(message->value, STR("method")), STR("notifications/cancelled"))) {
        cancel(input, config_find(config_find(message->value, STR("params")), STR("requestId")));
        pthread_mutex_unlock(&input->lock);
        mcp_message_destroy(message);
        return;
    }
    while (input->count == MCP_QUEUE_MAX && !input->is_closing) {
        pthread_cond_wait(&input->changed, &input->lock);
    }
    *(input->last == NULL ? &input->first : &input->last->next) = message;
    input->last = message;
    input->count++;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->lock);
}

static void deliver_all(McpInput *input, bool is_end) {
    for (;;) {
        McpFrame frame = mcp_framer_next(&input->framer, is_end);
        if (frame.kind == MCP_FRAME_NONE) {
            return;
        }
        deliver(input, message_create(&frame));
    }
}

/* False at the end of the input. */
static bool read_some(McpInput *input) {
    char block[16384];
    ssize_t size = read(input->in, block, sizeof block);
    if (size < 0 && errno == EINTR) {
        return true;
    }
    if (size > 0) {
        mcp_framer_add(&input->framer, (Str){.ptr = block, .size = (size_t)size});
    }
    deliver_all(input, size <= 0);
    return size > 0;
}

static void end_input(McpInput *input, bool stops_running) {
    pthread_mutex_lock(&input->lock);
    input->is_ended = true;
    if (stops_running && input->running != NULL) {
        stop_running(input);
    }
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->lock);
}

static bool was_signalled(McpInput *input) {
    pthread_mutex_lock(&input->lock);
    bool is_signal = cancel_requested() && !input->stopped_for_it;
    pthread_mutex_unlock(&input->lock);
    return is_signal;
}

/* After the end of the input, `out` is still watched: requests that were read are answered as long as someone listens.
 */
static void *read_messages(void *context) {
    McpInput *input = context;
    struct pollfd watched[] = {{.fd = input->in, .events = POLLIN}, {.fd = input->out}, {.fd = input->wake[0]}};
    for (;;) {
        (void)poll(watched, COUNT_OF(watched), SIGNAL_CHECK_MS);
        if (watched[2].revents != 0) {
            return NULL;
        }
        bool is_deserted = (watched[1].revents & (POLLERR | POLLHUP)) != 0;
        if (is_deserted || was_signalled(input)) {
            end_input(input, is_deserted);
            return NULL;
        }
        if (watched[0].fd >= 0 && watched[0].revents != 0 && !read_some(input)) {
            watched[0].fd = -1;
            end_input(input, false);
        }
    }
}

/* --- The owner's thread ----------------------------------------------------------------------------------------------
 */

McpInput *mcp_input_open(int in, int out) {
    McpInput *input = heap_alloc_zeroed(1, sizeof *input);
    input->in = in;
    input->out = out;
    pthread_mutex_init(&input->lock, NULL);
    pthread_cond_init(&input->changed, NULL);
    if (pipe2(input->wake, O_CLOEXEC) != 0 || pthread_create(&input->thread, NULL, read_messages, input) != 0) {
        abort();
    }
    return input;
}

void mcp_input_close(McpInput *input) {
    if (input == NULL) {
        return;
    }
    pthread_mutex_lock(&input->lock);
    input->is_closing = true;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->lock);
    (void)close(input->wake[1]);
    pthread_join(input->thread, NULL);
    (void)close(input->wake[0]);
    while (input->first != NULL) {
        McpMessage *message = input->first;
        input->first = message->next;
        mcp_message_destroy(message);
    }
    mcp_framer_deinit(&input->framer);
    pthread_cond_destroy(&input->changed);
    pthread_mutex_destroy(&input->lock);
    free(input);
}

McpMessage *mcp_input_next(McpInput *input) {
    pthread_mutex_lock(&input->lock);
    while (input->first == NULL && !input->is_ended) {
        pthread_cond_wait(&input->changed, &input->lock);
    }
    McpMessage *message = cancel_requested() ? NULL : input->first;
    if (message != NULL) {
        input->first = message->next;
        input->last = input->first == NULL ? NULL : input->last;
        input->count--;
        input->running = message;
        pthread_cond_broadcast(&input->changed);
    }
    pthread_mutex_unlock(&input->lock);
    return message;
}

bool mcp_input_done(McpInput *input, McpMessage *message) {
    pthread_mutex_lock(&input->lock);
    input->running = NULL;
    if (input->stopped_for_it) {
        cancel_request(0);
        input->stopped_for_it = false;
    }
    bool is_cancelled = message->is_cancelled;
    pthread_mutex_unlock(&input->lock);
    return is_cancelled;
}
