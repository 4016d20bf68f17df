/* Indexes and constraints of a model's table (spec 01 §12.4): from what was declared to what its engine keeps.
 *
 * An object's name is its own within the model. Tables of interlace's own stand beside their earlier versions in one
 * schema, where the names of indexes must differ: there an object is created under physical_created_name. */
#ifndef INTERLACE_PROJECT_PHYSICAL_OBJECTS_H
#define INTERLACE_PROJECT_PHYSICAL_OBJECTS_H

#include "project/project.h"

typedef enum PhysicalKind {
    PHYSICAL_INDEX,
    PHYSICAL_UNIQUE_INDEX,
    PHYSICAL_PRIMARY_KEY,
    PHYSICAL_UNIQUE,
    PHYSICAL_NOT_NULL, /* one for each column */
    PHYSICAL_CHECK,
    PHYSICAL_FOREIGN_KEY,
    PHYSICAL_KIND_COUNT
} PhysicalKind;

typedef struct PhysicalObject {
    PhysicalKind kind;
    Str name;
    StrVec columns;
    Str expression; /* CHECK */
    Str to;         /* FOREIGN_KEY: the table, as it was written */
    StrVec fields;  /* FOREIGN_KEY */
    bool is_found;  /* in the record: it was there before us, so it is not ours to drop */
} PhysicalObject;
DEFINE_VEC(PhysicalObjectVec, physical_object_vec, PhysicalObject)

/* Where the table lies; decides what is enforced. */
typedef enum PhysicalPlace { PLACE_DUCKDB, PLACE_DUCKLAKE, PLACE_POSTGRES, PLACE_COUNT } PhysicalPlace;
PhysicalPlace physical_place(const Project *project, const Model *model);

/* DefinitionError (code physical.name): two objects of the model have one name. */
MUST_CHECK Status physical_objects_check(const Model *model, Arena *arena, Error *err);

/* What is kept for the model; nothing when it has no table, or its policy is to ignore. Warnings, one line each: what
 * is declared and not enforced there. */
void physical_objects_wanted(const Project *project, const Model *model, Arena *arena, PhysicalObjectVec *objects_out,
                             StrVec *warnings_out);

/* The record of what was created, and back. A record that cannot be read is empty: then nothing is ours to drop. */
Str physical_objects_to_json(const PhysicalObjectVec *objects, Arena *arena);
void physical_objects_from_json(Str json, Arena *arena, PhysicalObjectVec *objects_out);

/* Whatever was there before. */
bool physical_object_equal(const PhysicalObject *a, const PhysicalObject *b);
/* Those of `objects` of which `others` has no equal. */
PhysicalObjectVec physical_objects_without(const PhysicalObjectVec *objects, const PhysicalObjectVec *others,
                                           Arena *arena);

const char *physical_kind_word(PhysicalKind kind); /* "index" or "constraint" */
Str physical_created_name(const PhysicalObject *object, Str table, bool is_owned, Arena *arena);

#endif
