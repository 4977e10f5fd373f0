// SPDX-License-Identifier: Apache-2.0
/* lemma/lemma.h: the library for C99 and for languages that bind C. It loads, inspects and runs
 * models; lemma/tools.h checks, converts and compiles them.
 *
 * Objects.  A `lemma_model` is a loaded model: program, weights and code. It never changes, so any
 *           number of threads may use it. A `lemma_session` holds the memory and the variables of
 *           runs, and belongs to one thread at a time. Sessions of one model share its weights and
 *           code, and run concurrently. A session keeps its model alive.
 * Errors.   A function that can fail returns an `enum lemma_status` as int. Its last argument may
 *           be a place for a report, which then holds the diagnostics, or NULL if there are none.
 *           The caller frees the report. A place that is NULL discards it.
 * Strings.  UTF-8, never NULL. A pointer that a function returns belongs to the object that was
 *           asked and lives as long as that object, unless the function says otherwise.
 * NULL.     A NULL object and an index out of range are allowed everywhere. The result is then 0,
 *           NULL, an empty string or LEMMA_UNUSABLE. Freeing NULL does nothing.
 * ABI.      A structure of options begins with its size, and grows only at its end. Zero is the
 *           default of every other field. docs/abi.md has the rules.
 *
 * The library prints nothing, installs no signal handler and lets no exception escape.
 */
#ifndef LEMMA_LEMMA_H
#define LEMMA_LEMMA_H

#include <stddef.h>
#include <stdint.h>

#include "lemma/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: 10000 * major + 100 * minor + patch. */
#define LEMMA_API_VERSION 10000

/* The result of functions that can fail; 0 to 3 are also the exit status of the program `lemma`. */
enum lemma_status {
    LEMMA_GOOD = 0,
    LEMMA_WRONG = 1,    /* the model is wrong, or fails on these inputs */
    LEMMA_UNUSABLE = 2, /* an unreadable file, or unsuitable arguments */
    LEMMA_FAULT = 3,    /* a defect of Lemma */
    LEMMA_STOPPED = 4   /* cancelled, or the time limit is over */
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

/* The version of the library, such as "0.2.0". */
LEMMA_API const char* lemma_version(void);

/* LEMMA_API_VERSION of the library that runs; its major number must be that of the header. */
LEMMA_API int lemma_api_version(void);

/* The name of a type, such as "f32"; empty if there is no such type. */
LEMMA_API const char* lemma_type_name(int type);

/* The bytes of an element; 0 for strings and if there is no such type. */
LEMMA_API size_t lemma_type_size(int type);

/* ---- Diagnostics as values ---- */

enum lemma_severity { LEMMA_ERROR = 0, LEMMA_WARNING = 1, LEMMA_NOTE = 2 };

/* Grows at its end. */
typedef struct lemma_diagnostic {
    int severity;             /* enum lemma_severity */
    const char* kind;         /* its page in docs/errors, such as "extent-mismatch"; may be empty */
    const char* message;      /* one sentence */
    const char* file;         /* empty: no place */
    int line, column;         /* from 1, columns in characters; 0: no place in a text */
    int end_line, end_column; /* one past the last character */
    const char* path;         /* the place in a binary model, such as "graph/node[3]:Relu" */
    const char* text;         /* as the program prints it, with excerpt, notes and suggestions */
} lemma_diagnostic;

typedef struct lemma_report lemma_report;

/* The number of diagnostics. */
LEMMA_API size_t lemma_report_count(const lemma_report* report);

/* One diagnostic; NULL out of range. */
LEMMA_API const lemma_diagnostic* lemma_report_at(const lemma_report* report, size_t index);

/* The texts of all diagnostics. */
LEMMA_API const char* lemma_report_text(const lemma_report* report);

/* The same as JSON, in the form of `lemma check --json`. */
LEMMA_API const char* lemma_report_json(const lemma_report* report);

LEMMA_API void lemma_report_free(lemma_report* report);

/* ---- Cancellation, time limits and progress, for calls that may take long ---- */

/* A request to stop. Any number of calls and threads may share one. */
typedef struct lemma_stop lemma_stop;

/* NULL if there is no memory. */
LEMMA_API lemma_stop* lemma_stop_create(void);

/* Stops the calls that have this request, from any thread or from a signal handler. */
LEMMA_API void lemma_stop_now(lemma_stop* stop);

/* Whether it was stopped: 1 or 0. */
LEMMA_API int lemma_stop_requested(const lemma_stop* stop);

/* Takes the request back, for the next call. */
LEMMA_API void lemma_stop_reset(lemma_stop* stop);

/* Only when no call uses it any more. */
LEMMA_API void lemma_stop_free(lemma_stop* stop);

/* Reports that `done` of `total` parts of a stage are done; total 0: unknown. Stages are "load",
 * "compile" and "run"; there may be more. Another result than 0 stops the call. The thread that
 * made the call calls it. */
typedef int (*lemma_progress)(void* user, const char* stage, uint64_t done, uint64_t total);

typedef struct lemma_control {
    size_t struct_size;
    lemma_stop* stop;        /* may be NULL */
    double seconds;          /* time limit of the call; 0: none */
    lemma_progress progress; /* may be NULL */
    void* user;              /* the first argument of `progress` */
} lemma_control;

/* ---- Tensors ---- */

/* Elements in row-major order. An array of these is passed to calls, so the structure stays as it
 * is. A call that reads a tensor does not change its data. */
typedef struct lemma_tensor {
    int type; /* enum lemma_type; LEMMA_NO_TYPE: no tensor */
    size_t rank;
    const int64_t* shape;
    void* data;
    size_t size; /* bytes of the data */
} lemma_tensor;

typedef struct lemma_named_tensor {
    const char* name;
    lemma_tensor tensor;
} lemma_named_tensor;

/* ---- Models ---- */

/* The engine: chosen by the size of the model, the interpreter, or compiled machine code. With
 * LEMMA_COMPILE, the interpreter never takes over. */
enum lemma_engine { LEMMA_AUTO = 0, LEMMA_INTERPRET = 1, LEMMA_COMPILE = 2 };

/* The numerics of compiled code, as `--numerics` of the program (docs/numerics.md). */
enum lemma_numerics {
    LEMMA_NUMERICS_DEFAULT = 0,
    LEMMA_NUMERICS_STRICT = 1,
    LEMMA_NUMERICS_FAST = 2
};

typedef struct lemma_model lemma_model;

typedef struct lemma_load_options {
    size_t struct_size;
    const char* graph;             /* the graph to load; NULL: the first */
    const char* const* attributes; /* graph attributes, each "NAME=VALUE" */
    size_t attribute_count;
    int real;              /* the type of `real`: LEMMA_F16, BF16, F32 or F64; 0: F32 */
    int quantize;          /* not 0: apply `@quantize` */
    int random_weights;    /* not 0: variables without data get random values */
    uint64_t weights_seed; /* seed of random weights */
    const char* weights;   /* a .safetensors file that replaces the model's data; may be NULL */
    /* Inner tensors that become outputs after those of the model; "*": all of them. */
    const char* const* extra_outputs;
    size_t extra_output_count;
    /* Inputs of ONNX models whose values decide shapes. A run must give the same values. */
    const lemma_named_tensor* values;
    size_t value_count;
    int engine;         /* enum lemma_engine */
    int numerics;       /* enum lemma_numerics */
    int accumulate_f32; /* not 0: sums of f32 are rounded to f32 at each step */
    const char* target; /* the processor, as `--target` of the program; NULL: this one */
    const char* cache;  /* folder of compiled kernels; NULL: the user's; empty: none */
    const lemma_control* control;
    const char*
        device; /* "cpu", "cuda", "cuda:N" or "auto"; NULL: that of LEMMA_DEVICE, or "cpu" */
} lemma_load_options;

/* Loads a folder, an archive or a file. `options` may be NULL. `*model` is NULL on failure. */
LEMMA_API int lemma_load(const char* path,
                         const lemma_load_options* options,
                         lemma_model** model,
                         lemma_report** report);

/* A file in memory. The name may have folders: "weights/conv.dat". */
typedef struct lemma_file {
    const char* name;
    const void* data;
    size_t size;
} lemma_file;

/* Loads a model from files in memory. The first one is the model: .onnx, .sknd, .nnef, or an
 * archive, by the ending of its name. The others are its further files, by their names relative to
 * it. No other file is read. The bytes are not needed after the call. */
LEMMA_API int lemma_load_memory(const lemma_file* files,
                                size_t count,
                                const lemma_load_options* options,
                                lemma_model** model,
                                lemma_report** report);

/* Another reference to the same model; each one is freed once. */
LEMMA_API lemma_model* lemma_model_share(lemma_model* model);

/* Frees a reference. Sessions go on. */
LEMMA_API void lemma_model_free(lemma_model* model);

/* ---- Inspection ---- */

/* A group of tensors. The items of a pack `xs` are separate tensors: `xs.0`, `xs.1`, … */
enum lemma_group { LEMMA_INPUTS = 0, LEMMA_OUTPUTS = 1, LEMMA_VARIABLES = 2 };

/* Grows at its end. */
typedef struct lemma_tensor_info {
    const char* name;
    int type; /* enum lemma_type */
    size_t rank;
    const int64_t* shape;       /* -1: a runtime extent */
    const int64_t* bounds;      /* the upper bound of each extent; -1: none */
    const char* const* extents; /* each extent as text, such as "224" or "2*n" */
    int optional;               /* not 0: an item of a pack with a runtime length */
    int updated;                /* not 0: a variable that runs change */
} lemma_tensor_info;

/* The name of the graph. */
LEMMA_API const char* lemma_model_name(const lemma_model* model);

/* "onnx", "sknd" or "nnef1". */
LEMMA_API const char* lemma_model_format(const lemma_model* model);

/* The engine of this model: LEMMA_INTERPRET or LEMMA_COMPILE. */
LEMMA_API int lemma_model_engine(const lemma_model* model);

/* The processor of compiled code, such as "avx512"; empty for the interpreter. */
LEMMA_API const char* lemma_model_target(const lemma_model* model);

/* The name of the device that runs kernels, such as "NVIDIA H200"; empty: the processor alone. */
LEMMA_API const char* lemma_model_device(const lemma_model* model);

/* Its number among those of its kind; -1: the processor alone. */
LEMMA_API int lemma_model_device_number(const lemma_model* model);

/* Why this engine, in one sentence. */
LEMMA_API const char* lemma_model_engine_reason(const lemma_model* model);

/* The number of tensors in a group. */
LEMMA_API size_t lemma_count(const lemma_model* model, int group);

/* The declaration of a tensor; NULL out of range. */
LEMMA_API const lemma_tensor_info* lemma_info(const lemma_model* model, int group, size_t index);

/* The index of a tensor by its name; SIZE_MAX if there is none. */
LEMMA_API size_t lemma_find(const lemma_model* model, int group, const char* name);

/* The number of operations in the graph. */
LEMMA_API size_t lemma_operation_count(const lemma_model* model);

/* The operator of an operation, such as "nn.conv". */
LEMMA_API const char* lemma_operation_name(const lemma_model* model, size_t index);

/* The label of an operation in the model. */
LEMMA_API const char* lemma_operation_label(const lemma_model* model, size_t index);

/* ---- Sessions ---- */

typedef struct lemma_session lemma_session;

typedef struct lemma_session_options {
    size_t struct_size;
    int threads;   /* threads of compiled code; 0: one */
    uint64_t seed; /* seed of random operators */
} lemma_session_options;

/* `options` may be NULL. `*session` is NULL on failure. */
LEMMA_API int lemma_session_create(lemma_model* model,
                                   const lemma_session_options* options,
                                   lemma_session** session,
                                   lemma_report** report);

LEMMA_API void lemma_session_free(lemma_session* session);

/* The model of a session; the session owns this reference. */
LEMMA_API lemma_model* lemma_session_model(const lemma_session* session);

/* Compiles for the types and shapes of these inputs; their data may be NULL. Runs nothing. A run
 * does the same when it needs to. */
LEMMA_API int lemma_prepare(lemma_session* session,
                            const lemma_tensor* inputs,
                            size_t count,
                            const lemma_control* control,
                            lemma_report** report);

/* Runs one step: computes the outputs, then updates the variables. A step that fails or is stopped
 * leaves the variables as they were.
 *
 * `inputs` are all inputs in the order of the model; they are read in place. Numbers may have
 * another width than the input declares, but an integer input takes no reals. LEMMA_NO_TYPE leaves
 * an optional input out.
 *
 * `outputs` are the first outputs in the order of the model. If `data` is NULL, the output gets
 * memory of the session, which is valid until the next call with this session. Otherwise the output
 * is written to `data`, which must have room for `size` bytes; strings take session memory only.
 * Kernels write there without a copy where they can: a run that fails may leave parts of results.
 * Type, rank, shape and size are set in both cases; the shape belongs to the session. An optional
 * output that the run does not make gets LEMMA_NO_TYPE. */
LEMMA_API int lemma_run(lemma_session* session,
                        const lemma_tensor* inputs,
                        size_t input_count,
                        lemma_tensor* outputs,
                        size_t output_count,
                        const lemma_control* control,
                        lemma_report** report);

/* Where the tensors of a run are. */
typedef struct lemma_run_options {
    size_t struct_size;
    const lemma_control* control;
    /* For each input and output: not 0 if `data` is an address in the memory of the model's device.
     * NULL: all are in main memory. An output on the device without `data` gets memory of the
     * session there. */
    const unsigned char* device_inputs;
    const unsigned char* device_outputs;
    /* The CUDA stream whose work so far makes the inputs on the device; NULL: the default one. */
    void* stream;
} lemma_run_options;

/* lemma_run with options, which may be NULL. Inputs on the device are not copied to main memory,
 * and outputs there are complete when the call returns. An error if the model has no device. */
LEMMA_API int lemma_run_with(lemma_session* session,
                             const lemma_tensor* inputs,
                             size_t input_count,
                             lemma_tensor* outputs,
                             size_t output_count,
                             const lemma_run_options* options,
                             lemma_report** report);

/* Memory on the device of a model, for inputs and outputs of its runs. It keeps the model. */
typedef struct lemma_device_memory lemma_device_memory;

/* `*memory` is NULL on failure. */
LEMMA_API int lemma_device_memory_create(lemma_model* model,
                                         size_t size,
                                         lemma_device_memory** memory,
                                         lemma_report** report);

/* Its address on the device. */
LEMMA_API void* lemma_device_memory_data(const lemma_device_memory* memory);

/* Copies its first bytes to main memory. */
LEMMA_API int lemma_device_memory_read(const lemma_device_memory* memory,
                                       void* to,
                                       size_t size,
                                       lemma_report** report);

/* Copies bytes of main memory to its beginning. */
LEMMA_API int lemma_device_memory_write(lemma_device_memory* memory,
                                        const void* from,
                                        size_t size,
                                        lemma_report** report);

LEMMA_API void lemma_device_memory_free(lemma_device_memory* memory);

/* Carries an output over to the next run: the session keeps its value, and the next run reads it as
 * the input. The first run takes the input from the caller; later ones expect LEMMA_NO_TYPE there.
 * A run sets the output to LEMMA_NO_TYPE. An output that is longer than the input along one axis,
 * such as the keys of all tokens so far, is extended in place. A run that fails or is stopped
 * leaves the value as it was. lemma_reset drops it. Types and ranks of the two must agree. */
LEMMA_API int lemma_carry(lemma_session* session,
                          const char* output,
                          const char* input,
                          lemma_report** report);

/* The engine of the last run: LEMMA_INTERPRET or LEMMA_COMPILE; before the first, the model's. */
LEMMA_API int lemma_session_engine(const lemma_session* session);

/* Why this engine, in one sentence. Valid until the next call with this session. */
LEMMA_API const char* lemma_session_engine_reason(const lemma_session* session);

/* The current value of a variable. The data is valid until the next call with this session. */
LEMMA_API int lemma_get_variable(lemma_session* session,
                                 const char* name,
                                 lemma_tensor* tensor,
                                 lemma_report** report);

/* Sets a variable of this session; the data is copied. */
LEMMA_API int lemma_set_variable(lemma_session* session,
                                 const char* name,
                                 const lemma_tensor* tensor,
                                 lemma_report** report);

/* Gives all variables the values that they had when the model was loaded. */
LEMMA_API int lemma_reset(lemma_session* session, lemma_report** report);

/* Writes a .dat file for each variable into a folder, or one .safetensors file. */
LEMMA_API int lemma_save_variables(lemma_session* session, const char* path, lemma_report** report);

#ifdef __cplusplus
}
#endif

#endif /* LEMMA_LEMMA_H */
