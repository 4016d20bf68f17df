/* The file: header, index sorted by key, the entries' bytes. Numbers are in the machine's byte order: the magic is one,
 * so a file of another machine is not taken for ours. Structs are copied out, since nothing in the file need be
 * aligned. */
#include "sql/sql_cache.h"

#include "base/files.h"
#include "base/log.h"
#include "base/str_map.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_MAGIC UINT64_C(0x314C51532E6C6E69)
#define CACHE_FILE_SIZE_MAX ((size_t)256 << 20)

typedef struct CacheHeader {
    uint64_t magic;
    ContentHash version;
    uint64_t file_size;
    uint64_t index_checksum;
    uint64_t entry_count;
} CacheHeader;

typedef struct CacheIndexEntry {
    ContentHash key;
    uint64_t checksum; /* of its bytes */
    uint32_t start, size;
    uint32_t unused_count; /* writings of the file since its last use */
    uint32_t padding;
} CacheIndexEntry;

/* One entry while the file is written. */
typedef struct CacheItem {
    ContentHash key;
    Str bytes;
    uint32_t unused_count;
} CacheItem;
DEFINE_VEC(CacheItemVec, cache_item_vec, CacheItem)

struct SqlCache {
    Arena *arena;
    Str path;
    ContentHash version;
    Str file;           /* sound, or empty */
    size_t entry_count; /* in the file */
    bool *is_used;      /* by index */
    StrMap *added;      /* key's 16 bytes → Str */
};

static uint64_t checksum(Str bytes) {
    uint64_t sum = bytes.size;
    size_t offset = 0;
    for (; bytes.size - offset >= sizeof sum; offset += sizeof sum) {
        uint64_t word;
        memcpy(&word, bytes.ptr + offset, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    for (; offset < bytes.size; offset++) {
        sum = (sum ^ (unsigned char)bytes.ptr[offset]) * UINT64_C(0x100000001B3);
    }
    return sum ^ (sum >> 29);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static Str index_bytes(Str file, size_t entry_count) {
    return str_slice(file, sizeof(CacheHeader), sizeof(CacheHeader) + entry_count * sizeof(CacheIndexEntry));
}

static bool is_sound(Str file, ContentHash version, size_t *entry_count_out) {
    CacheHeader header;
    if (file.size < sizeof header) {
        return false;
    }
    memcpy(&header, file.ptr, sizeof header);
    bool is_ours = header.magic == CACHE_MAGIC && content_hash_equal(header.version, version) &&
                   header.file_size == file.size &&
                   header.entry_count <= (file.size - sizeof header) / sizeof(CacheIndexEntry);
    if (!is_ours || header.index_checksum != checksum(index_bytes(file, header.entry_count))) {
        return false;
    }
    *entry_count_out = header.entry_count;
    return true;
}

static void read_file(SqlCache *cache) {
    AUTO(error) Error err;
    error_init(&err);
    Str file = STR_EMPTY;
    if (!file_exists(cache->path)) {
        return;
    }
    if (failed(file_read(cache->path, CACHE_FILE_SIZE_MAX, cache->arena, &file, &err))) {
        log_debug("ignoring the SQL cache path=" STR_FMT " reason=" STR_FMT, STR_ARG(cache->path),
                  STR_ARG(err.message));
        return;
    }
    if (!is_sound(file, cache->version, &cache->entry_count)) {
        log_debug("ignoring the SQL cache path=" STR_FMT " reason=damaged or of another version", STR_ARG(cache->path));
        return;
    }
    cache->file = file;
    cache->is_used = ARENA_NEW_ARRAY(cache->arena, bool, cache->entry_count);
}

SqlCache *sql_cache_open(Str path, Str version) {
    SqlCache *cache = heap_alloc_zeroed(1, sizeof *cache);
    cache->arena = arena_create();
    cache->path = str_copy(cache->arena, path);
    cache->version = content_hash(version);
    cache->added = str_map_create(cache->arena, STR_MAP_EXACT);
    if (path.size > 0) {
        read_file(cache);
    }
    return cache;
}

static CacheIndexEntry index_entry(const SqlCache *cache, size_t index) {
    CacheIndexEntry entry;
    memcpy(&entry, index_bytes(cache->file, cache->entry_count).ptr + index * sizeof entry, sizeof entry);
    return entry;
}

/* Empty when they are damaged. */
static Str entry_bytes(const SqlCache *cache, const CacheIndexEntry *entry) {
    bool fits = entry->start <= cache->file.size && entry->size <= cache->file.size - entry->start;
    Str bytes = fits ? str_slice(cache->file, entry->start, (size_t)entry->start + entry->size) : STR_EMPTY;
    return checksum(bytes) == entry->checksum ? bytes : STR_EMPTY;
}

static int compare_keys(const ContentHash *a, const ContentHash *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static Str find_in_file(SqlCache *cache, ContentHash key) {
    size_t low = 0, high = cache->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        CacheIndexEntry entry = index_entry(cache, middle);
        int order = compare_keys(&entry.key, &key);
        if (order == 0) {
            cache->is_used[middle] = true;
            return entry_bytes(cache, &entry);
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return STR_EMPTY;
}

static Str key_text(const ContentHash *key) {
    return (Str){.ptr = (const char *)key->bytes, .size = sizeof key->bytes};
}

Str sql_cache_find(SqlCache *cache, ContentHash key) {
    const Str *added = str_map_find(cache->added, key_text(&key));
    return added != NULL ? *added : find_in_file(cache, key);
}

void sql_cache_put(SqlCache *cache, ContentHash key, Str bytes) {
    Str *entry = ARENA_NEW(cache->arena, Str);
    *entry = str_copy(cache->arena, bytes);
    str_map_put(cache->added, str_copy(cache->arena, key_text(&key)), entry);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static int compare_items(const void *a, const void *b) {
    return compare_keys(&((const CacheItem *)a)->key, &((const CacheItem *)b)->key);
}

static void collect_kept(const SqlCache *cache, CacheItemVec *items) {
    for (size_t i = 0; i < cache->entry_count; i++) {
        CacheIndexEntry entry = index_entry(cache, i);
        CacheItem item = {.key = entry.key, .bytes = entry_bytes(cache, &entry)};
        item.unused_count = cache->is_used[i] ? 0 : entry.unused_count + 1;
        bool is_replaced = str_map_contains(cache->added, key_text(&entry.key));
        if (item.bytes.size > 0 && !is_replaced && item.unused_count < SQL_CACHE_UNUSED_MAX) {
            cache_item_vec_push(cache->arena, items, item);
        }
    }
}

static void collect_added(const SqlCache *cache, CacheItemVec *items) {
    const StrMapEntry *entries = str_map_entries(cache->added);
    for (size_t i = 0; i < str_map_count(cache->added); i++) {
        CacheItem item = {.bytes = *(const Str *)entries[i].value};
        memcpy(item.key.bytes, entries[i].key.ptr, sizeof item.key.bytes);
        cache_item_vec_push(cache->arena, items, item);
    }
}

static void append_bytes(StrBuf *target, const void *bytes, size_t size) {
    strbuf_append(target, (Str){.ptr = bytes, .size = size});
}

static void append_index(StrBuf *index, const CacheItemVec *items) {
    size_t start = sizeof(CacheHeader) + items->count * sizeof(CacheIndexEntry);
    for (size_t i = 0; i < items->count; i++) {
        const CacheItem *item = &items->items[i];
        CacheIndexEntry entry = {.key = item->key,
                                 .checksum = checksum(item->bytes),
                                 .start = (uint32_t)start,
                                 .size = (uint32_t)item->bytes.size,
                                 .unused_count = item->unused_count};
        append_bytes(index, &entry, sizeof entry);
        start += item->bytes.size;
    }
}

static size_t total_size(const CacheItemVec *items) {
    size_t size = sizeof(CacheHeader) + items->count * sizeof(CacheIndexEntry);
    for (size_t i = 0; i < items->count; i++) {
        size += items->items[i].bytes.size;
    }
    return size;
}

static void build_file(const SqlCache *cache, const CacheItemVec *items, StrBuf *file) {
    AUTO(strbuf) StrBuf index = {0};
    append_index(&index, items);
    CacheHeader header = {.magic = CACHE_MAGIC,
                          .version = cache->version,
                          .file_size = total_size(items),
                          .index_checksum = checksum(strbuf_str(&index)),
                          .entry_count = items->count};
    strbuf_reserve(file, header.file_size);
    append_bytes(file, &header, sizeof header);
    strbuf_append(file, strbuf_str(&index));
    for (size_t i = 0; i < items->count; i++) {
        strbuf_append(file, items->items[i].bytes);
    }
}

static Status write_file(SqlCache *cache, Error *err) {
    AUTO(strbuf) StrBuf file = {0};
    CacheItemVec items = {0};
    collect_kept(cache, &items);
    collect_added(cache, &items);
    if (total_size(&items) > CACHE_FILE_SIZE_MAX) {
        items.count = 0;
        collect_added(cache, &items);
    }
    if (items.count > 1) {
        qsort(items.items, items.count, sizeof *items.items, compare_items);
    }
    build_file(cache, &items, &file);
    TRY(directory_create_all(path_directory(cache->path), err));
    return file_write_atomic(cache->path, strbuf_str(&file), false, err);
}

void sql_cache_close(SqlCache *cache) {
    if (cache == NULL) {
        return;
    }
    AUTO(error) Error err;
    error_init(&err);
    bool has_news = cache->path.size > 0 && str_map_count(cache->added) > 0;
    if (has_news && failed(write_file(cache, &err))) {
        log_debug("ignoring that the SQL cache was not written path=" STR_FMT " reason=" STR_FMT, STR_ARG(cache->path),
                  STR_ARG(err.message));
    }
    arena_destroy(cache->arena);
    free(cache);
}
