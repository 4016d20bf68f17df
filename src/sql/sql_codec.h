/* Bytes of cache entries. Numbers are 32 bits in the machine's byte order (the cache is of one machine), texts are
 * their size and bytes, vectors are their count and items. Reading bytes of any kind is safe: whether they made sense
 * is told at the end. */
#ifndef INTERLACE_SQL_SQL_CODEC_H
#define INTERLACE_SQL_SQL_CODEC_H

#include "base/vec.h"

void sql_put_number(StrBuf *bytes, size_t number); /* STR_NOT_FOUND, or far below 2^32, as all of a text is */
void sql_put_text(StrBuf *bytes, Str text);
void sql_put_texts(StrBuf *bytes, const StrVec *texts);

typedef struct SqlDecoder {
    Str bytes;
    size_t offset;
    Arena *arena;
    bool is_sound; /* false for good after the first read that does not fit */
} SqlDecoder;

size_t sql_get_number(SqlDecoder *decoder);
Str sql_get_text(SqlDecoder *decoder); /* borrows from the bytes */
StrVec sql_get_texts(SqlDecoder *decoder);
size_t sql_get_count(SqlDecoder *decoder);           /* of items of which each takes four bytes or more */
bool sql_decoder_is_done(const SqlDecoder *decoder); /* all bytes were read, and made sense */

#endif
