/* lemma/lemma.h: the library for C99 and for languages that bind C. It loads, inspects and runs
 * models.
 *
 * A model belongs to one thread at a time. Models are independent of each other. The model owns
 * every pointer that a function returns; the caller never frees one. Strings are UTF-8 and never
 * NULL. An index out of range and a NULL model are allowed everywhere; the result is then 0, NULL,
 * an empty string or LEMMA_UNUSABLE. The library prints nothing.
 */
#ifndef LEMMA_LEMMA_H
#define LEMMA_LEMMA_H

#include <stddef.h>
#include <stdint.h>

#include "lemma/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of functions that return an int; also the exit status of the program `lemma`. */
enum lemma_status {
    LEMMA_GOOD = 0,
    LEMMA_WRONG = 1,    /* the model is wrong, or fails on these inputs */
    LEMMA_UNUSABLE = 2, /* an unreadable file, or unsuitable arguments */
    LEMMA_FAULT = 3     /* a defect of Lemma */
};

/* Element types. Half precision is passed as bits, bool as bytes 0 and 1. */
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

/* The engine: chosen by the size of the model, the interpreter, or compiled machine code. */
enum lemma_engine { LEMMA_AUTO = 0, LEMMA_INTERPRET = 1, LEMMA_COMPILE = 2 };

typedef struct lemma_model lemma_model;

/* Zero is the default of every field. */
typedef struct lemma_options {
    const char* graph;             /* the graph to load; NULL: the first */
    const char* const* attributes; /* graph attributes, each "NAME=VALUE" */
    size_t attribute_count;
    int real;              /* the type of `real`: LEMMA_F16, BF16, F32 or F64; 0: F32 */
    int quantize;          /* not 0: apply `@quantize` */
    int random_weights;    /* not 0: variables without data get random values */
    uint64_t weights_seed; /* seed of random weights */
    uint64_t seed;         /* seed of random operators */
    int engine;            /* enum lemma_engine */
    int threads;           /* threads of compiled code; 0: one */
    const char* weights;   /* a .safetensors file that replaces the model's data; may be NULL */
} lemma_options;

/* Elements in row-major order. */
typedef struct lemma_tensor {
    int type; /* enum lemma_type */
    size_t rank;
    const int64_t* shape;
    const void* data;
    size_t size; /* bytes of the data */
} lemma_tensor;

/* "0.1.0" */
LEMMA_API const char* lemma_version(void);

/* ---- Model ---- */

/* Loads a folder, an archive or a file. `options` may be NULL. On failure `*model` still holds the
 * problems. Free it in every case. It is NULL only if there is no memory. */
LEMMA_API int lemma_load(const char* path, const lemma_options* options, lemma_model** model);

/* Frees a model and everything that it returned. NULL is allowed. */
LEMMA_API void lemma_free(lemma_model* model);

/* All problems of the last call that returned a status, as one text; empty on success. */
LEMMA_API const char* lemma_error(const lemma_model* model);

/* The number of these problems. A successful call may have warnings. */
LEMMA_API size_t lemma_problem_count(const lemma_model* model);

/* One problem as readable text, with an excerpt of the model. */
LEMMA_API const char* lemma_problem_text(const lemma_model* model, size_t index);

/* The id of a problem in docs/errors, such as "extent-mismatch"; may be empty. */
LEMMA_API const char* lemma_problem_kind(const lemma_model* model, size_t index);

/* ---- Inspection ---- */

/* A group of tensors. The items of a pack `xs` are separate tensors: `xs.0`, `xs.1`, … */
enum lemma_group { LEMMA_INPUTS = 0, LEMMA_OUTPUTS = 1, LEMMA_VARIABLES = 2 };

/* The number of tensors in a group. */
LEMMA_API size_t lemma_count(const lemma_model* model, int group);

/* The name of a tensor. */
LEMMA_API const char* lemma_name(const lemma_model* model, int group, size_t index);

/* The type of a tensor, an enum lemma_type. */
LEMMA_API int lemma_type_of(const lemma_model* model, int group, size_t index);

/* The rank of a tensor. */
LEMMA_API size_t lemma_rank(const lemma_model* model, int group, size_t index);

/* The extent of each axis; -1: a runtime extent. */
LEMMA_API const int64_t* lemma_shape(const lemma_model* model, int group, size_t index);

/* The upper bound of each extent; -1: no bound. */
LEMMA_API const int64_t* lemma_bounds(const lemma_model* model, int group, size_t index);

/* The number of operations in the graph. */
LEMMA_API size_t lemma_operation_count(const lemma_model* model);

/* The operator of an operation, such as "nn.conv". */
LEMMA_API const char* lemma_operation_name(const lemma_model* model, size_t index);

/* The label of an operation in the model. */
LEMMA_API const char* lemma_operation_label(const lemma_model* model, size_t index);

/* ---- Runs ---- */

/* Copies a tensor for all following runs; NULL removes it. lemma_run checks whether it fits. */
LEMMA_API int lemma_set_input(lemma_model* model, const char* name, const lemma_tensor* tensor);

/* Runs one step: computes the outputs, then updates the variables. */
LEMMA_API int lemma_run(lemma_model* model);

/* An output of the last run. The data is valid until the next run. */
LEMMA_API int lemma_get_output(lemma_model* model, const char* name, lemma_tensor* tensor);

/* The current value of a variable. The data is valid until the next call about this variable. */
LEMMA_API int lemma_get_variable(lemma_model* model, const char* name, lemma_tensor* tensor);

/* Sets a variable; the data is copied. */
LEMMA_API int lemma_set_variable(lemma_model* model, const char* name, const lemma_tensor* tensor);

/* Writes a .dat file for each variable. */
LEMMA_API int lemma_save_variables(lemma_model* model, const char* folder);

#ifdef __cplusplus
}
#endif

#endif /* LEMMA_LEMMA_H */
