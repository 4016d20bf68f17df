/* Attributes and small macros that every file may use. */
#ifndef INTERLACE_BASE_MACROS_H
#define INTERLACE_BASE_MACROS_H

#include <assert.h>
#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* `AUTO(plan) Plan *plan = …;` destroys the object on every way out of its scope, unless TAKE gave it away. */
#define AUTO(name) __attribute__((cleanup(name##_auto)))
#define DEFINE_AUTO(Type, name, destroy)                                                                               \
    static inline void name##_auto(Type **object) {                                                                    \
        destroy(*object);                                                                                              \
    }
/* The same for objects that live in the caller's memory (`x_init` / `x_deinit`). */
#define DEFINE_AUTO_VALUE(Type, name, deinit)                                                                          \
    static inline void name##_auto(Type *object) {                                                                     \
        deinit(object);                                                                                                \
    }

/* Moves the pointer out: the variable becomes NULL, its clean-up then does nothing. */
#define TAKE(pointer)                                                                                                  \
    __extension__({                                                                                                    \
        __typeof__(pointer) taken_ = (pointer);                                                                        \
        (pointer) = NULL;                                                                                              \
        taken_;                                                                                                        \
    })

#endif
