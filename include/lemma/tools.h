// SPDX-License-Identifier: Apache-2.0
/* lemma/tools.h: what the program `lemma` does with models, as functions: checks, conversions, C
 * code, the layout of texts, and descriptions of models and operators as JSON.
 *
 * The rules of lemma/lemma.h apply. A text that a function gives to the caller is freed with
 * lemma_text_free. `options` may be NULL everywhere. These functions share no state: any thread may
 * call them at any time.
 */
#ifndef LEMMA_TOOLS_H
#define LEMMA_TOOLS_H

#include "lemma/lemma.h"

#ifdef __cplusplus
extern "C" {
#endif

LEMMA_API void lemma_text_free(char* text);

/* ---- Checks ---- */

typedef struct lemma_check_options {
    size_t struct_size;
    const char* graph;             /* the graph to check; NULL: all */
    const char* const* attributes; /* graph attributes, each "NAME=VALUE" */
    size_t attribute_count;
    const char* dialect; /* of NNEF 1.0: "strict", "khronos" or "tract"; NULL: strict */
    const char* data; /* data files: "auto" (those that exist), "require", "ignore"; NULL: auto */
    int syntax_only;  /* not 0: the main file alone, and only its syntax */
    int types_only;   /* not 0: no composition */
    int module;       /* not 0: a library module, which needs no graph */
    int werror;       /* not 0: warnings are errors */
    int max_errors;   /* limit on the reported errors; 0: 100; -1: none */
    const char* profile;     /* "sonnx": apply the safety profile, too; NULL: none */
    int relax_broadcast;     /* the profile reports implicit broadcasting as an advisory */
    const char* report;      /* write the conformity report of the profile: .md, .html or .json */
    const char* trace;       /* write the trace of the profile: .json or .csv */
    const char* fix;         /* write the model in the explicit form of the profile: .onnx */
    const char* proofs;      /* a file of `lemma prove --json`, for report and trace */
    const char* tests;       /* a file of `lemma verify --json`, for report and trace */
    const char* certificate; /* a file of `lemma certify --json`, for the report */
} lemma_check_options;

/* Checks every rule of the model's format, as `lemma check`. LEMMA_WRONG: there are errors. */
LEMMA_API int lemma_check(const char* path,
                          const lemma_check_options* options,
                          lemma_report** report);

/* The same for files in memory, as lemma_load_memory takes them. */
LEMMA_API int lemma_check_memory(const lemma_file* files,
                                 size_t count,
                                 const lemma_check_options* options,
                                 lemma_report** report);

/* ---- Conversion ---- */

typedef struct lemma_convert_options {
    size_t struct_size;
    const char* to;                /* "sknd", "nnef1" or "onnx"; NULL: by the name of the output */
    const char* graph;             /* the graph to convert; NULL: the first */
    const char* const* attributes; /* graph attributes, each "NAME=VALUE" */
    size_t attribute_count;
    const char* const* inputs; /* ONNX: values of inputs that decide shapes, each "[NAME=]FILE" */
    size_t input_count;
    int real;                /* the type of `real`: LEMMA_F16, BF16, F32 or F64; 0: F32 */
    const char* dialect;     /* of NNEF 1.0 models to read: "strict", "khronos" or "tract" */
    int flat;                /* NNEF 1.0: expand compound operations such as softmax */
    const char* const* keep; /* with `flat`: compound operations to keep */
    size_t keep_count;
    int opset;         /* ONNX: the operator set; 0: the lowest that can express the model */
    int external_data; /* ONNX: write the data to a second file, OUT.data */
    int no_data;       /* write the graph without the data of its variables */
    int overwrite;     /* replace existing files */
} lemma_convert_options;

/* Writes a model in another format, as `lemma convert`: a folder, an archive or an .onnx file. A
 * conversion that fails leaves nothing behind. */
LEMMA_API int lemma_convert(const char* path,
                            const char* out,
                            const lemma_convert_options* options,
                            lemma_report** report);

/* ---- C code and machine code ---- */

typedef struct lemma_compile_options {
    size_t struct_size;
    const char* form;    /* "certified" or "fast"; NULL: certified, and fast for .o and .so */
    const char* name;    /* prefix of files and functions; NULL: "model" */
    const char* target;  /* the processor of the fast form: "generic", "avx2", …; NULL: this one */
    int numerics;        /* enum lemma_numerics, of the fast form */
    int accumulate_f32;  /* not 0: each real operation is rounded to f32; `profile` implies it */
    const char* profile; /* "sonnx": the model must conform to the profile; NULL: none */
    const char* const* shapes;     /* inputs with runtime extents, each "NAME=1..8x3x224x224" */
    size_t shape_count;            /* fast form only */
    const char* const* inputs;     /* values of inputs that decide shapes, each "[NAME=]FILE" */
    size_t input_count;            /* ONNX only */
    const char* graph;             /* the graph to compile; NULL: the first */
    const char* const* attributes; /* graph attributes, each "NAME=VALUE" */
    size_t attribute_count;
    int real;              /* the type of `real`: LEMMA_F16, BF16, F32 or F64; 0: F32 */
    int quantize;          /* not 0: apply `@quantize` */
    int random_weights;    /* not 0: variables without data get random values */
    uint64_t weights_seed; /* seed of random weights */
    const char* weights;   /* a .safetensors file that replaces the model's data */
    const char* dialect;   /* of NNEF 1.0: "strict", "khronos" or "tract" */
} lemma_compile_options;

/* Writes a model as C code into a folder, or as machine code into FILE.o or FILE.so with a header
 * FILE.h, as `lemma compile`. */
LEMMA_API int lemma_compile(const char* path,
                            const char* out,
                            const lemma_compile_options* options,
                            lemma_report** report);

/* ---- Texts ---- */

typedef struct lemma_format_options {
    size_t struct_size;
    const char* language; /* "sknd" or "nnef1"; NULL: by the first word of the text */
    const char* dialect;  /* spelling to write: "spec", "khronos", "tract" (NNEF 1.0); NULL: spec */
    const char* name;     /* the name of the text in diagnostics; NULL: "<text>" */
} lemma_format_options;

/* A SkriptND or NNEF 1.0 text in the canonical layout, as `lemma fmt`. It reads back as the same
 * tree. The text has `size` bytes. The caller frees `*formatted`, which is NULL on failure. */
LEMMA_API int lemma_format(const char* text,
                           size_t size,
                           const lemma_format_options* options,
                           char** formatted,
                           lemma_report** report);

/* ---- Descriptions as JSON ---- */

enum lemma_graph_level {
    LEMMA_CALLS = 0,     /* the calls of the graph, with the parts of compound operations */
    LEMMA_PRIMITIVES = 1 /* primitive operations only */
};

/* The graph of a model: tensors, operations, attributes and edges. docs/graph-json.md describes the
 * document, which is that of `lemma show --json`. */
LEMMA_API int lemma_graph_json(const lemma_model* model,
                               int level,
                               char** json,
                               lemma_report** report);

/* Standard operators, as `lemma ops --json NAME` prints them: "nn.conv", "relu", a module, or a
 * pattern such as "nn.*_pool". NULL: all, without those of other formats. */
LEMMA_API int lemma_operators_json(const char* name, char** json, lemma_report** report);

/* The graphs and operators that a SkriptND text defines, in the same form. Its syntax is checked,
 * and nothing else. `name` is the name of the text in diagnostics; NULL: "<text>". */
LEMMA_API int lemma_definitions_json(
    const char* text, size_t size, const char* name, char** json, lemma_report** report);

#ifdef __cplusplus
}
#endif

#endif /* LEMMA_TOOLS_H */
