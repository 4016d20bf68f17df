/* A flatbuffer, as far as it is needed here: a table starts with the distance back to its vtable, which holds the sizes
 * of both and then, for each field, its place in the table (0: absent). References are distances forward. Everything is
 * little-endian. Each read is checked against the message: nothing is taken for granted. */
#include "python/arrow_ipc_check.h"

#include <string.h>

/* A place in the message; NOWHERE after anything that leads out of it. */
#define NOWHERE SIZE_MAX

enum { MESSAGE_HEADER_TYPE = 1, MESSAGE_HEADER = 2 };
enum { BATCH_LENGTH = 0, BATCH_NODES = 1, BATCH_BUFFERS = 2 };
enum { SCHEMA_FIELDS = 1 };
enum { FIELD_TYPE_KIND = 2, FIELD_TYPE = 3, FIELD_DICTIONARY = 4, FIELD_CHILDREN = 5 };
enum { HEADER_TYPE_SCHEMA = 1, HEADER_TYPE_RECORD_BATCH = 3 };
#define PAIR_SIZE 16 /* a node or a buffer: two int64 */

static bool read_at(Str message, size_t at, void *value, size_t size) {
    if (at == NOWHERE || at > message.size || message.size - at < size) {
        return false;
    }
    memcpy(value, message.ptr + at, size);
    return true;
}

static size_t follow(Str message, size_t at) {
    uint32_t distance;
    return read_at(message, at, &distance, sizeof distance) ? at + distance : NOWHERE;
}

static size_t find_field(Str message, size_t table, unsigned field) {
    int32_t back;
    uint16_t vtable_size;
    uint16_t place;
    if (!read_at(message, table, &back, sizeof back)) {
        return NOWHERE;
    }
    int64_t vtable = (int64_t)table - back;
    size_t entry = 4 + 2 * (size_t)field;
    if (vtable < 0 || !read_at(message, (size_t)vtable, &vtable_size, sizeof vtable_size) || vtable_size < entry + 2) {
        return NOWHERE;
    }
    bool is_there = read_at(message, (size_t)vtable + entry, &place, sizeof place) && place != 0;
    return is_there ? table + place : NOWHERE;
}

typedef struct Pair {
    int64_t first, second;
} Pair;

typedef const char *(*PairCheck)(Pair pair, int64_t limit);

/* A column: its length, and how many of its values are null. */
static const char *check_node(Pair node, int64_t limit) {
    if (node.first < 0 || node.first > limit) {
        return "a column of impossible length";
    }
    return node.second < 0 || node.second > node.first ? "a column with an impossible number of nulls" : NULL;
}

/* A buffer: its place in the body, a multiple of 8, and its size. */
static const char *check_buffer(Pair buffer, int64_t limit) {
    if (buffer.first < 0 || buffer.second < 0 || buffer.first > limit || buffer.second > limit - buffer.first) {
        return "a buffer outside of its message";
    }
    return buffer.first % 8 == 0 ? NULL : "a buffer at an odd place";
}

/* Absent vectors are empty. */
static const char *check_pairs(Str message, size_t field, PairCheck check, int64_t limit) {
    uint32_t count;
    if (field == NOWHERE) {
        return NULL;
    }
    size_t vector = follow(message, field);
    if (!read_at(message, vector, &count, sizeof count)) {
        return "a message that is cut short";
    }
    for (uint32_t i = 0; i < count; i++) {
        Pair pair;
        if (!read_at(message, vector + sizeof count + (size_t)i * PAIR_SIZE, &pair, sizeof pair)) {
            return "a message that is cut short";
        }
        const char *fault = check(pair, limit);
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

/* ---- Record batch */

static const char *check_batch(Str message, size_t batch, int64_t body_size) {
    int64_t length;
    if (read_at(message, find_field(message, batch, BATCH_LENGTH), &length, sizeof length) &&
        (length < 0 || length > ARROW_IPC_LENGTH_MAX)) {
        return "a batch of impossible length";
    }
    const char *fault = check_pairs(message, find_field(message, batch, BATCH_NODES), check_node, ARROW_IPC_LENGTH_MAX);
    return fault != NULL ? fault
                         : check_pairs(message, find_field(message, batch, BATCH_BUFFERS), check_buffer, body_size);
}

/* ---- Schema. A table may be referred to several times, so the fields are counted. */

static const char *check_fields(Str message, size_t field, int depth, int *count);

static const char *check_field(Str message, size_t table, int depth, int *count) {
    uint8_t kind;
    if (++*count > ARROW_IPC_FIELDS_MAX) {
        return "a schema of too many columns";
    }
    if (!read_at(message, find_field(message, table, FIELD_TYPE_KIND), &kind, sizeof kind) || kind == 0 ||
        follow(message, find_field(message, table, FIELD_TYPE)) == NOWHERE) {
        return "a column without a type";
    }
    if (find_field(message, table, FIELD_DICTIONARY) != NOWHERE) {
        return "a column that is encoded with a dictionary";
    }
    return check_fields(message, find_field(message, table, FIELD_CHILDREN), depth + 1, count);
}

static const char *check_fields(Str message, size_t field, int depth, int *count) {
    uint32_t size;
    if (field == NOWHERE) {
        return NULL;
    }
    size_t vector = follow(message, field);
    if (depth > ARROW_IPC_DEPTH_MAX || !read_at(message, vector, &size, sizeof size)) {
        return "a schema that is nested too deeply";
    }
    const char *fault = NULL;
    for (uint32_t i = 0; i < size && fault == NULL; i++) {
        size_t table = follow(message, vector + sizeof size + (size_t)i * sizeof(uint32_t));
        fault = table == NOWHERE ? "a message that is cut short" : check_field(message, table, depth, count);
    }
    return fault;
}

const char *arrow_ipc_check(Str message, int64_t body_size) {
    uint8_t type;
    int field_count = 0;
    size_t root = follow(message, 0);
    size_t header = follow(message, find_field(message, root, MESSAGE_HEADER));
    if (!read_at(message, find_field(message, root, MESSAGE_HEADER_TYPE), &type, sizeof type) || header == NOWHERE) {
        return "a message without content";
    }
    switch (type) {
    case HEADER_TYPE_SCHEMA:
        return check_fields(message, find_field(message, header, SCHEMA_FIELDS), 0, &field_count);
    case HEADER_TYPE_RECORD_BATCH:
        return check_batch(message, header, body_size);
    default:
        return "a message of a type that has no place there";
    }
}
