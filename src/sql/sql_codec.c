#include "sql/sql_codec.h"

#include <string.h>

void sql_put_number(StrBuf *bytes, size_t number) {
    uint32_t value = number == STR_NOT_FOUND ? UINT32_MAX : (uint32_t)number;
    strbuf_append(bytes, (Str){.ptr = (const char *)&value, .size = sizeof value});
}

void sql_put_text(StrBuf *bytes, Str text) {
    sql_put_number(bytes, text.size);
    strbuf_append(bytes, text);
}

void sql_put_texts(StrBuf *bytes, const StrVec *texts) {
    sql_put_number(bytes, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        sql_put_text(bytes, texts->items[i]);
    }
}

size_t sql_get_number(SqlDecoder *decoder) {
    uint32_t value = 0;
    decoder->is_sound = decoder->is_sound && decoder->bytes.size - decoder->offset >= sizeof value;
    if (!decoder->is_sound) {
        return 0;
    }
    memcpy(&value, decoder->bytes.ptr + decoder->offset, sizeof value);
    decoder->offset += sizeof value;
    return value == UINT32_MAX ? STR_NOT_FOUND : value;
}

Str sql_get_text(SqlDecoder *decoder) {
    size_t size = sql_get_number(decoder);
    decoder->is_sound = decoder->is_sound && size <= decoder->bytes.size - decoder->offset;
    if (!decoder->is_sound) {
        return STR_EMPTY;
    }
    Str text = str_slice(decoder->bytes, decoder->offset, decoder->offset + size);
    decoder->offset += size;
    return text;
}

size_t sql_get_count(SqlDecoder *decoder) {
    size_t count = sql_get_number(decoder);
    decoder->is_sound = decoder->is_sound && count <= (decoder->bytes.size - decoder->offset) / sizeof(uint32_t);
    return decoder->is_sound ? count : 0;
}

StrVec sql_get_texts(SqlDecoder *decoder) {
    size_t count = sql_get_count(decoder);
    StrVec texts = {.items = ARENA_NEW_ARRAY(decoder->arena, Str, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        texts.items[i] = sql_get_text(decoder);
    }
    return texts;
}

bool sql_decoder_is_done(const SqlDecoder *decoder) {
    return decoder->is_sound && decoder->offset == decoder->bytes.size;
}
