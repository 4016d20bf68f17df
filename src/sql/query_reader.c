#include "sql/query_reader.h"

#include <stdlib.h>

struct QueryReader {
    DuckParser *parser; /* NULL until the first text */
};

QueryReader *query_reader_create(DuckParser *parser) {
    QueryReader *reader = heap_alloc_zeroed(1, sizeof *reader);
    reader->parser = parser;
    return reader;
}

void query_reader_destroy(QueryReader *reader) {
    if (reader != NULL) {
        duck_parser_close(reader->parser);
        free(reader);
    }
}

Status query_reader_parser(QueryReader *reader, DuckParser **parser_out, Error *err) {
    if (reader->parser == NULL) {
        TRY(duck_parser_open(&reader->parser, err));
    }
    *parser_out = reader->parser;
    return OK;
}

Status query_reader_read(QueryReader *reader, Str text, Arena *arena, Query **query_out, Error *err) {
    DuckParser *parser = NULL;
    TRY(query_reader_parser(reader, &parser, err));
    return query_parse(parser, text, arena, query_out, err);
}
