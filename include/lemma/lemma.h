/* lemma/lemma.h: the library for C99, and for languages that bind C: load a model, look at it, run
 * it.
 *
 * A model belongs to one thread at a time; models are independent of one another. Whatever a
 * function hands out belongs to the model and is never freed by the caller; texts are UTF-8 and
 * never NULL. Indices out of range and a NULL model are allowed everywhere: the answer is then 0,
 * NULL, an empty text, or LEMMA_UNUSABLE. Nothing is printed.
 */
#ifndef LEMMA_LEMMA_H
#define LEMMA_LEMMA_H

#include <stddef.h>
#include <stdint.h>

#include "lemma/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What functions that return an int give back: the exit status of the program `lemma`. */
enum lemma_status {
    LEMMA_GOOD = 0,
    LEMMA_WRONG = 1,    /* the model is wrong, or fails on these inputs */
    LEMMA_UNUSABLE = 2, /* an unreadable file, or arguments that do not fit the model */
    LEMMA_FAULT = 3     /* our own fault */
};

/* Types of elements. Half precision is given by its bits, bool as bytes 0 and 1. */
enum lemma_type {
    LEMMA_NO_TYPE = 0,
    LEMMA_F16 = 1,
    LEMMA_BF16 = 2,
    LEMMA_F32 = 3,
    LEMMA_F64 = 4,
    LEMMA_I8 = 5,
    LEMMA_I16 = 6,
    LEMMA_I32 = 7,
    LEMMA_I64 = 8,
    LEMMA_U8 = 9,
    LEMMA_U16 = 10,
    LEMMA_U32 = 11,
    LEMMA_U64 = 12,
    LEMMA_BOOL = 13,
    LEMMA_STR = 14 /* data is an array of `const char*` */
};

/* How a model runs: as its size says, interpreted, or compiled to machine code. */
enum lemma_engine { LEMMA_AUTO = 0, LEMMA_INTERPRET = 1, LEMMA_COMPILE = 2 };

typedef struct lemma_model lemma_model;

/* All zero is the default of everything. */
typedef struct lemma_options {
    const char* graph;             /* which of several; NULL: the first */
    const char* const* attributes; /* of the graph, "NAME=VALUE" each */
    size_t attribute_count;
    int real;              /* what `real` is computed in: LEMMA_F16, BF16, F32 or F64; 0: F32 */
    int quantize;          /* not 0: round tensors as `@quantize` says */
    int random_weights;    /* not 0: variables without data get random values */
    uint64_t weights_seed; /* of these */
    uint64_t seed;         /* of random operators */
    int engine;            /* enum lemma_engine */
    int threads;           /* of compiled code; 0: one */
    const char* weights;   /* a .safetensors file with data of variables; NULL: the model's own */
} lemma_options;

/* Elements in row-major order. */
typedef struct lemma_tensor {
    int type; /* enum lemma_type */
    size_t rank;
    const int64_t* shape;
    const void* data;
    size_t size; /* of the data, in bytes */
} lemma_tensor;

/* "0.1.0" */
LEMMA_API const char* lemma_version(void);

/* ---- A model -----------------------------------------------------------------------------------
 */

/* Loads a folder, archive or file; `options` may be NULL. `*model` is set even when this fails, to
 * ask for the problems, and is to be freed in every case; it is NULL only without memory. */
LEMMA_API int lemma_load(const char* path, const lemma_options* options, lemma_model** model);

/* Frees a model and all that it handed out; NULL is allowed. */
LEMMA_API void lemma_free(lemma_model* model);

/* What went wrong in the last call that returned a status, as one text; empty when it was good. */
LEMMA_API const char* lemma_error(const lemma_model* model);

/* The same one by one; after a good call there may be warnings. */
LEMMA_API size_t lemma_problem_count(const lemma_model* model);

/* One problem for people, with an excerpt of the model. */
LEMMA_API const char* lemma_problem_text(const lemma_model* model, size_t index);

/* Its id in docs/errors, such as "extent-mismatch"; may be empty. */
LEMMA_API const char* lemma_problem_kind(const lemma_model* model, size_t index);

/* ---- What it has -------------------------------------------------------------------------------
 */

/* Which tensors of a model are meant. The items of a pack `xs` count one by one: `xs.0`, `xs.1`, …
 */
enum lemma_group { LEMMA_INPUTS = 0, LEMMA_OUTPUTS = 1, LEMMA_VARIABLES = 2 };

/* How many there are. */
LEMMA_API size_t lemma_count(const lemma_model* model, int group);

/* The name of one. */
LEMMA_API const char* lemma_name(const lemma_model* model, int group, size_t index);

/* Its type, an enum lemma_type. */
LEMMA_API int lemma_type_of(const lemma_model* model, int group, size_t index);

/* How many axes it has. */
LEMMA_API size_t lemma_rank(const lemma_model* model, int group, size_t index);

/* The extent of each axis; -1: only a run tells. */
LEMMA_API const int64_t* lemma_shape(const lemma_model* model, int group, size_t index);

/* The most that each extent can be; -1: there is no bound. */
LEMMA_API const int64_t* lemma_bounds(const lemma_model* model, int group, size_t index);

/* How many operations the graph has. */
LEMMA_API size_t lemma_operation_count(const lemma_model* model);

/* The operator that one of them calls, such as "nn.conv". */
LEMMA_API const char* lemma_operation_name(const lemma_model* model, size_t index);

/* Its label in the model. */
LEMMA_API const char* lemma_operation_label(const lemma_model* model, size_t index);

/* ---- Running -----------------------------------------------------------------------------------
 */

/* Copies a tensor for all runs to come; NULL takes it back. Whether it fits is told by lemma_run.
 */
LEMMA_API int lemma_set_input(lemma_model* model, const char* name, const lemma_tensor* tensor);

/* One step: computes the outputs, then the variables take their next values. */
LEMMA_API int lemma_run(lemma_model* model);

/* An output of the last run. The data is valid until the next run. */
LEMMA_API int lemma_get_output(lemma_model* model, const char* name, lemma_tensor* tensor);

/* The value that a variable has now. The data is valid until the next call about this variable. */
LEMMA_API int lemma_get_variable(lemma_model* model, const char* name, lemma_tensor* tensor);

/* Gives a variable its value; the data is copied. */
LEMMA_API int lemma_set_variable(lemma_model* model, const char* name, const lemma_tensor* tensor);

/* Writes a .dat file for each variable. */
LEMMA_API int lemma_save_variables(lemma_model* model, const char* folder);

#ifdef __cplusplus
}
#endif

#endif /* LEMMA_LEMMA_H */
