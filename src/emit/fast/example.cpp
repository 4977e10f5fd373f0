// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/example.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lemma::emit {

namespace {

constexpr std::string_view kMain = R"(
static int fail(const char* what, const char* name) {
    fprintf(stderr, "%s %s\n", what, name);
    return 2;
}

static FILE* open_file(const char* folder, const char* name, const char* mode) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < 0 || (size_t)length >= sizeof path ? NULL : fopen(path, mode);
}

static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int has_data(void) {
    for (int i = 0; i < INPUTS; ++i) {
        if (inputs[i].bytes > 0) return 1;
    }
    return 0;
}

/* The time of the fastest run, after some runs that do not count. */
static int measure(long runs) {
    double best = 1e300;
    for (long i = 0; i < runs + 3; ++i) {
        const double begin = now();
        const int error = run();
        const double time = now() - begin;
        if (error) return error;
        if (i >= 3 && time < best) best = time;
    }
    printf("%.6f ms\n", best);
    return 0;
}

static int run_files(const char* from, const char* to, long runs) {
    FILE* in[INPUTS + 1] = {NULL};
    FILE* out[OUTPUTS + 1] = {NULL};
    long done = 0;
    int status = 0;
    for (int i = 0; i < INPUTS; ++i) {
        in[i] = open_file(from, inputs[i].file, "rb");
        if (!in[i]) return fail("cannot read", inputs[i].file);
    }
    for (int i = 0; i < OUTPUTS; ++i) {
        out[i] = open_file(to, outputs[i].file, "wb");
        if (!out[i]) return fail("cannot write", outputs[i].file);
    }
    if (runs < 0 && !has_data()) runs = 1;
    RESET();
    for (; runs < 0 || done < runs; ++done) {
        int ended = 0;
        for (int i = 0; i < INPUTS; ++i) {
            if (inputs[i].bytes > 0 &&
                fread(inputs[i].data, 1, inputs[i].bytes, in[i]) != inputs[i].bytes) {
                ended = 1;
            }
        }
        if (ended) break;
        const int error = run();
        if (error) {
            fprintf(stderr, "run %ld failed with error %d\n", done, error);
            status = 1;
        }
        for (int i = 0; i < OUTPUTS; ++i) {
            if (outputs[i].bytes > 0 &&
                fwrite(outputs[i].data, 1, outputs[i].bytes, out[i]) != outputs[i].bytes) {
                return fail("cannot write", outputs[i].file);
            }
        }
    }
    for (int i = 0; i < INPUTS; ++i) fclose(in[i]);
    for (int i = 0; i < OUTPUTS; ++i) {
        if (fclose(out[i]) != 0) return fail("cannot write", outputs[i].file);
    }
    if (done == 0) return fail("no input has the elements of", "one run");
    return status;
}

int main(int argc, char** argv) {
    const char* from = ".";
    const char* to = ".";
    long runs = -1;
    long measured = 0;
    for (int i = 1; i < argc; ++i) {
        if (i + 1 < argc && strcmp(argv[i], "-i") == 0) {
            from = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "-o") == 0) {
            to = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "-n") == 0) {
            runs = strtol(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "-b") == 0) {
            measured = strtol(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "-e") == 0 && set_extent(argv[i + 1])) {
            ++i;
        } else {
            fprintf(stderr, "usage: %s [-i FOLDER] [-o FOLDER] [-n RUNS] [-b RUNS]" EXTENTS_USAGE "\n",
                    argv[0]);
            return 2;
        }
    }
    for (int i = 0; i < INPUTS + OUTPUTS; ++i) {
        struct port* const port = i < INPUTS ? &inputs[i] : &outputs[i - INPUTS];
        port->data = calloc(port->bytes + 64, 1);
        if (!port->data) return fail("no memory for", port->file);
    }
    set_pointers();
    if (set_sizes()) return fail("the model does not allow", "the extents");
    return measured > 0 ? measure(measured) : run_files(from, to, runs);
}
)";

std::string table_text(std::string_view name,
                       const std::vector<loop::FrozenTensor>& tensors,
                       const std::vector<std::string>& names) {
    std::string text = fmt::format("static struct port {}[] = {{\n", name);
    for (size_t i = 0; i < tensors.size(); ++i) {
        text += fmt::format("    {{\"{}.bin\", NULL, {}}},\n", names[i], tensors[i].bytes);
    }
    return text + "    {\"\", NULL, 0},\n};\n";
}

// Functions for runtime extents: they read `-e NAME=NUMBER`, and give tensors their sizes.
std::string extents_text(const loop::FrozenPlan& plan,
                         const FastNames& names,
                         const std::string& name) {
    if (plan.extents.empty()) {
        return "#define EXTENTS_USAGE \"\"\n\n"
               "static int set_extent(const char* text) {\n    (void)text;\n    return 0;\n}\n\n"
               "static int set_sizes(void) { return 0; }\n\n";
    }
    std::string text = "#define EXTENTS_USAGE \" [-e NAME=NUMBER]\"\n\n";
    std::vector<std::string> highs;
    for (const auto& extent : plan.extents) highs.push_back(fmt::format("{}", extent.high));
    text += fmt::format("static {}_extents extents = {{{}}};\n\n", name, fmt::join(highs, ", "));
    text += "static int set_extent(const char* text) {\n";
    for (const std::string& c_name : names.extents) {
        text += fmt::format(
            "    if (strncmp(text, \"{0}=\", {1}) == 0) {{\n"
            "        extents.{0} = strtoll(text + {1}, NULL, 10);\n        return 1;\n    }}\n",
            c_name,
            c_name.size() + 1);
    }
    text += fmt::format(
        "    return 0;\n}}\n\n/* The bytes of each tensor follow from the extents. */\n"
        "static int set_sizes(void) {{\n    {0}_shapes shapes;\n"
        "    if ({0}_output_shapes(&extents, &shapes) != 0) return 1;\n",
        name);
    const auto size = [&](std::string_view table, size_t i, const loop::FrozenTensor& tensor) {
        if (tensor.axes.empty()) return;
        text += fmt::format("    {}[{}].bytes = {}", table, i, tensor::dtype_size(tensor.dtype));
        for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
            const std::string extent =
                table == "outputs" ? fmt::format("shapes.{}[{}]", names.outputs[i], axis)
                : tensor.axes[axis].extent
                    ? fmt::format("extents.{}", names.extents[*tensor.axes[axis].extent])
                    : fmt::format("{}", tensor.shape[axis]);
            text += fmt::format(" * (size_t){}", extent);
        }
        text += ";\n";
    };
    for (size_t i = 0; i < plan.inputs.size(); ++i) size("inputs", i, plan.inputs[i]);
    for (size_t i = 0; i < plan.outputs.size(); ++i) size("outputs", i, plan.outputs[i]);
    return text + "    (void)shapes;\n    return 0;\n}\n\n";
}

}  // namespace

std::string fast_example(const loop::FrozenPlan& plan, const FastOptions& options) {
    const FastNames names = fast_names(plan);
    std::string text = fmt::format(
        "/* An example: runs the model on raw little-endian files, NAME.bin for each input, and "
        "writes\n   NAME.bin for each output. An input file with the elements of several runs "
        "gives several\n   runs, and the outputs follow one another. With -b, it measures runs on "
        "zeros instead. A\n   runtime extent has its upper bound, unless -e gives it. */\n"
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\n"
        "#include \"{0}.h\"\n\n"
        "#define INPUTS {1}\n#define OUTPUTS {2}\n#define RESET {0}_reset\n\n"
        "struct port {{\n    const char* file;\n    void* data;\n    size_t bytes;\n}};\n\n",
        options.name,
        plan.inputs.size(),
        plan.outputs.size());
    text += table_text("inputs", plan.inputs, names.inputs);
    text += table_text("outputs", plan.outputs, names.outputs);
    text += fmt::format("\nstatic {0}_inputs given;\nstatic {0}_outputs made;\n\n", options.name);
    text += "static void set_pointers(void) {\n";
    for (size_t i = 0; i < names.inputs.size(); ++i) {
        text += fmt::format("    given.{} = inputs[{}].data;\n", names.inputs[i], i);
    }
    for (size_t i = 0; i < names.outputs.size(); ++i) {
        text += fmt::format("    made.{} = outputs[{}].data;\n", names.outputs[i], i);
    }
    text += "}\n\n" + extents_text(plan, names, options.name);
    text += fmt::format("static int run(void) {{ return {}_run(&given, &made{}); }}\n",
                        options.name,
                        plan.extents.empty() ? "" : ", &extents");
    return text + std::string(kMain);
}

}  // namespace lemma::emit
