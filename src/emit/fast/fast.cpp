// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/fast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/certified/program_files.h"
#include "emit/fast/example.h"
#include "emit/fast/kernel.h"
#include "emit/fast/step_text.h"
#include "emit/intrinsics.h"

namespace lemma::emit {

namespace {

// Includes and checks of the target.
std::string_view target_text(FastTarget target) {
    switch (target) {
        case FastTarget::Avx512:
            return "#include <immintrin.h>\n"
                   "#if !defined(__AVX512F__) || !defined(__AVX512VL__)\n"
                   "#error \"this code is for AVX-512: compile it with the flags in the "
                   "Makefile\"\n"
                   "#endif\n";
        case FastTarget::Avx2:
            return "#include <immintrin.h>\n"
                   "#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)\n"
                   "#error \"this code is for AVX2: compile it with the flags in the Makefile\"\n"
                   "#endif\n";
        case FastTarget::Neon:
            return "#include <arm_neon.h>\n";
        case FastTarget::Generic:
            break;
    }
    return "";
}

// Its shape and its bytes.
std::string shape_text(const loop::FrozenTensor& tensor) {
    if (tensor.shape.empty()) return fmt::format("a scalar, {} bytes", tensor.bytes);
    if (tensor.axes.empty()) {
        return fmt::format("shape {}, {} bytes", fmt::join(tensor.shape, " x "), tensor.bytes);
    }
    std::vector<std::string> axes;
    for (const auto& axis : tensor.axes) axes.push_back(axis.text);
    // Expressions have stars, which comment_text would replace.
    std::string shape = fmt::format("{}", fmt::join(axes, " x "));
    const bool odd =
        shape.find("*/") != std::string::npos || shape.find_first_of("\\?\n") != std::string::npos;
    if (odd || shape.size() > 200) shape = comment_text(shape);
    return fmt::format("shape {}, at most {} bytes", shape, tensor.bytes);
}

std::string upper_case(std::string_view name) {
    std::string upper;
    for (const char c : name) upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return upper;
}

// ---- NAME.c -------------------------------------------------------------------------------------

constexpr std::string_view kCall = R"(
struct job {
    kernel run;
    void* const* buffers;
};

static void run_piece(void* arg, int64_t begin, int64_t end) {
    const struct job* const job = (const struct job*)arg;
    job->run(job->buffers, begin, end);
}

static void call(struct run* r, kernel run, int64_t items, void* const* buffers) {
    if (r->parallel_for && items > 1) {
        struct job job;
        job.run = run;
        job.buffers = buffers;
        r->parallel_for(r->context, items, run_piece, &job);
    } else {
        run(buffers, 0, items);
    }
}

)";

std::string run_text(const loop::FrozenPlan& plan, const FastOptions& options) {
    const auto array = [](size_t count) { return count > 0 ? count : size_t{1}; };
    return fmt::format(
        "struct run {{\n"
        "    const unsigned char* in[{1}];\n"
        "    unsigned char* out[{2}];\n"
        "    unsigned char* moving[{3}];\n"
        "    unsigned char* arena;\n"
        "    unsigned char* state;\n"
        "    const int64_t* extents;\n"
        "    int64_t flag; /* 1: a check of a kernel failed */\n"
        "    {0}_parallel_for parallel_for;\n"
        "    void* context;\n"
        "}};\n",
        options.name,
        array(plan.inputs.size()),
        array(plan.outputs.size()),
        array(plan.pointers));
}

// The end of the function that runs the model for each sample.
std::string samples_text(const loop::FrozenPlan& plan,
                         const FastNames& names,
                         const std::vector<std::string>& kernels) {
    std::string text = fmt::format(
        "    int64_t numbers[{0}];\n"
        "    void* const p[] = {{(void*)extents, numbers, &r.flag}};\n"
        "    {1}(p, 0, 1);\n"
        "    if (r.flag) return {2};\n"
        "    for (int64_t i = 0; i < extents->{3}; ++i) {{\n"
        "        const int32_t error = run_steps(&r);\n"
        "        if (error) return error;\n",
        std::max<int64_t>(plan.shapes->numbers, 1),
        kernels[plan.shapes->kernel],
        static_cast<int>(loop::FrozenError::Extents),
        names.extents[0]);
    const auto move = [&](std::string_view array, const std::vector<loop::FrozenTensor>& tensors) {
        for (size_t i = 0; i < tensors.size(); ++i) {
            if (tensors[i].sample_bytes == 0) continue;
            text += fmt::format("        r.{}[{}] += {};\n", array, i, tensors[i].sample_bytes);
        }
    };
    move("in", plan.inputs);
    move("out", plan.outputs);
    return text + "    }\n    return 0;\n}\n";
}

std::string entry_text(const loop::FrozenPlan& plan,
                       const FastOptions& options,
                       const std::vector<std::string>& kernels) {
    const std::string& name = options.name;
    const FastNames names = fast_names(plan);
    const std::string upper = upper_case(name);
    const bool open = !plan.extents.empty();
    const std::string parameter = open ? fmt::format(", const {}_extents* extents", name) : "";
    std::string text = fmt::format(
        "\nint32_t {0}_run_on(const {0}_instance* self, const {0}_inputs* inputs,\n"
        "                     const {0}_outputs* outputs{1}) {{\n"
        "    struct run r;\n"
        "    memset(&r, 0, sizeof r);\n"
        "    r.arena = (unsigned char*)self->arena;\n"
        "    r.state = (unsigned char*)self->state;\n"
        "    r.parallel_for = self->parallel_for;\n"
        "    r.context = self->context;\n",
        name,
        parameter);
    if (open) text += "    r.extents = (const int64_t*)extents;\n";
    for (size_t i = 0; i < names.inputs.size(); ++i) {
        text +=
            fmt::format("    r.in[{}] = (const unsigned char*)inputs->{};\n", i, names.inputs[i]);
    }
    for (size_t i = 0; i < names.outputs.size(); ++i) {
        text += fmt::format("    r.out[{}] = (unsigned char*)outputs->{};\n", i, names.outputs[i]);
    }
    if (names.inputs.empty()) text += "    (void)inputs;\n";
    if (names.outputs.empty()) text += "    (void)outputs;\n";
    text += plan.samples ? samples_text(plan, names, kernels) : "    return run_steps(&r);\n}\n";
    text += fmt::format(
        "\nvoid {0}_start(const {0}_instance* self) {{\n"
        "    memset(self->arena, 0, {1}_ARENA_BYTES);\n",
        name,
        upper);
    if (!plan.initial_state.empty()) {
        text += fmt::format(
            "    memcpy(self->state, {0}_initial_state, {1});\n", name, plan.initial_state.size());
    }
    text += fmt::format(
        "}}\n\n"
        "#ifndef {1}_NO_STATIC_MEMORY\n"
        "static unsigned char arena[{1}_ARENA_BYTES] __attribute__((aligned(64)));\n"
        "static unsigned char state[{1}_STATE_BYTES] __attribute__((aligned(64)));\n"
        "static {0}_instance instance = {{arena, state, 0, 0}};\n"
        "static int started;\n\n"
        "void {0}_reset(void) {{\n"
        "    {0}_start(&instance);\n"
        "    started = 1;\n"
        "}}\n\n"
        "void {0}_set_parallel_for({0}_parallel_for parallel_for, void* context) {{\n"
        "    instance.parallel_for = parallel_for;\n"
        "    instance.context = context;\n"
        "}}\n\n"
        "int32_t {0}_run(const {0}_inputs* inputs, const {0}_outputs* outputs{2}) {{\n"
        "    if (!started) {0}_reset();\n"
        "    return {0}_run_on(&instance, inputs, outputs{3});\n"
        "}}\n"
        "#endif\n",
        name,
        upper,
        parameter,
        open ? ", extents" : "");
    return text;
}

// The function that tells the shapes of the outputs; `kernel` is that of FrozenPlan::shapes.
std::string output_shapes_text(const loop::FrozenPlan& plan,
                               const FastOptions& options,
                               const std::string& kernel) {
    return fmt::format(
        "\nint32_t {0}_output_shapes(const {0}_extents* extents, {0}_shapes* shapes) {{\n"
        "    int64_t flag = 0;\n"
        "    int64_t numbers[{1}];\n"
        "    void* const p[] = {{(void*)extents, numbers, &flag}};\n"
        "    {2}(p, 0, 1);\n"
        "    if (flag) return {3};\n"
        "    memcpy(shapes, numbers, sizeof *shapes);\n"
        "    return 0;\n"
        "}}\n",
        options.name,
        std::max<int64_t>(plan.shapes->numbers, 1),
        kernel,
        static_cast<int>(loop::FrozenError::Extents));
}

std::string source_text(const loop::FrozenPlan& plan, const FastOptions& options) {
    VectorSupport support(fast_target(plan.target), plan.has_fma);
    CNames names;
    std::vector<std::string> kernels;
    std::string functions;
    for (size_t i = 0; i < plan.kernels.size(); ++i) {
        kernels.push_back(names.make(fmt::format("k{}_", i), plan.kernels[i].label));
        functions += fmt::format("\n/* {} */\n", comment_text(plan.kernels[i].kernel.schedule));
        functions += print_kernel(plan.kernels[i].kernel.function, kernels[i], support);
    }
    const StepContext context{options.name + "_weights", options.program};
    const std::string steps = print_steps(plan, kernels, context, support);
    std::string text = fmt::format(
        "/* The model: kernels and steps.\n   {0}\n   Do not edit: write it again. */\n"
        "#include \"{1}.h\"\n\n",
        options.origin,
        options.name);
    text += fast_prologue(plan.target);
    if (calls_intrinsics(plan.steps)) text += "#include \"intrinsics.h\"\n\n";
    text += fmt::format(
        "extern const unsigned char {0}_weights[];\nextern const unsigned char "
        "{0}_initial_state[];\n\n",
        options.name);
    text += support.definitions() + functions + "\n" + run_text(plan, options);
    if (!plan.kernels.empty()) text += kCall;
    text += steps + entry_text(plan, options, kernels);
    if (plan.shapes) text += output_shapes_text(plan, options, kernels[plan.shapes->kernel]);
    return text;
}

// ---- weights.c ----------------------------------------------------------------------------------

// A string literal is the fastest way to get many bytes through a C compiler.
void add_bytes(std::string& text, std::string_view bytes) {
    constexpr size_t kColumns = 110;
    size_t line = text.size();
    text += "    \"";
    for (size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        const bool digit_next = i + 1 < bytes.size() && bytes[i + 1] >= '0' && bytes[i + 1] <= '9';
        if (byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\' && byte != '?') {
            text += static_cast<char>(byte);
        } else {
            text += digit_next ? fmt::format("\\{:03o}", byte) : fmt::format("\\{:o}", byte);
        }
        if (text.size() - line < kColumns || i + 1 == bytes.size()) continue;
        text += "\"\n";
        line = text.size();
        text += "    \"";
    }
    text += '"';
}

std::string weights_text(const loop::FrozenPlan& plan, const FastOptions& options) {
    std::string text = fmt::format(
        "/* The constants of the model, in the order and layout of the kernels.\n   {}\n"
        "   Do not edit: write it again. */\n"
        "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n",
        options.origin);
    const auto add = [&](std::string_view what, std::string_view bytes) {
        text += fmt::format(
            "extern const unsigned char {0}_{1}[];\n"
            "const unsigned char {0}_{1}[{2}] __attribute__((aligned(64))) =\n",
            options.name,
            what,
            std::max<size_t>(bytes.size(), 1));
        if (bytes.empty()) {
            text += "    {0}";
        } else {
            add_bytes(text, bytes);
        }
        text += ";\n";
    };
    add("weights", plan.constants);
    add("initial_state", plan.initial_state);
    return text;
}

// ---- Other files --------------------------------------------------------------------------------

std::string makefile_text(const loop::FrozenPlan& plan, const FastOptions& options) {
    const bool intrinsics = calls_intrinsics(plan.steps);
    const std::string objects =
        fmt::format("main.o {}.o weights.o{}", options.name, intrinsics ? " intrinsics.o" : "");
    return fmt::format(
        "# Builds the example program, ./{0}.\n"
        "CC ?= cc\nCFLAGS ?= -O3\nMACHINE ?= {1}\n"
        "FLAGS = -std=gnu11 -Wall -Wextra -Wno-psabi -ffp-contract=off -fno-math-errno "
        "-fno-trapping-math $(MACHINE)\n\n"
        "{0}: {2}\n"
        "\t$(CC) $(CFLAGS) -o $@ {2} -lm\n\n"
        "main.o {0}.o{3}: %.o: %.c {0}.h\n"
        "\t$(CC) $(FLAGS) $(CFLAGS) -c -o $@ $<\n\n"
        "weights.o: weights.c\n"
        "\t$(CC) -c -o $@ $<\n\n"
        "clean:\n\trm -f {0} {2}\n\n.PHONY: clean\n",
        options.name,
        fast_flags(plan.target),
        objects,
        intrinsics ? " intrinsics.o" : "");
}

std::string description_text(const loop::FrozenPlan& plan, const FastOptions& options) {
    const FastNames names = fast_names(plan);
    CProgram program;
    program.name = options.name;
    program.origin = options.origin;
    const auto list = [](const std::vector<loop::FrozenTensor>& from,
                         const std::vector<std::string>& c_names,
                         std::vector<CPort>& to) {
        for (size_t i = 0; i < from.size(); ++i) {
            CPort port;
            port.name = from[i].name;
            port.array.name = c_names[i];
            port.array.dtype = from[i].dtype;
            port.array.shape = from[i].shape;
            for (const auto& axis : from[i].axes) port.axes.push_back(axis.text);
            to.push_back(std::move(port));
        }
    };
    list(plan.inputs, names.inputs, program.inputs);
    list(plan.outputs, names.outputs, program.outputs);
    for (size_t i = 0; i < plan.extents.size(); ++i) {
        const loop::FrozenExtent& extent = plan.extents[i];
        program.extents.push_back({extent.name, names.extents[i], extent.low, extent.high});
    }
    std::vector<std::string> sources = {options.name + ".c", "weights.c"};
    if (calls_intrinsics(plan.steps)) sources.push_back("intrinsics.c");
    return description_json(program, sources);
}

}  // namespace

std::string_view fast_flags(std::string_view target) {
    switch (fast_target(target)) {
        case FastTarget::Avx512:
            return "-mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mf16c "
                   "-mprefer-vector-width=512";
        case FastTarget::Avx2:
            return "-mavx2 -mfma -mf16c";
        default:
            return "";
    }
}

std::string fast_prologue(std::string_view target) {
    std::string text = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n";
    text += target_text(fast_target(target));
    text +=
        "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
        "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
        "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n"
        "typedef void (*kernel)(void* const* buffers, int64_t begin, int64_t end);\n\n";
    return text;
}

FastNames fast_names(const loop::FrozenPlan& plan) {
    FastNames result;
    CNames names;
    for (const loop::FrozenTensor& tensor : plan.inputs) {
        result.inputs.push_back(names.make("t_", tensor.name));
    }
    for (const loop::FrozenTensor& tensor : plan.outputs) {
        result.outputs.push_back(names.make("t_", tensor.name));
    }
    for (const loop::FrozenExtent& extent : plan.extents) {
        result.extents.push_back(names.make("e_", extent.name));
    }
    return result;
}

namespace {

// The runtime extents, and the shapes of outputs that follow from them.
std::string extents_text(const loop::FrozenPlan& plan,
                         const FastNames& names,
                         const std::string& name) {
    if (plan.extents.empty()) return "";
    std::string text = fmt::format(
        "/* Runtime extents: each run gives them, within these bounds. */\n"
        "typedef struct {}_extents {{\n",
        name);
    for (size_t i = 0; i < plan.extents.size(); ++i) {
        const loop::FrozenExtent& extent = plan.extents[i];
        text += fmt::format("    int64_t {}; /* `{}`: {} to {} */\n",
                            names.extents[i],
                            comment_text(extent.name),
                            extent.low,
                            extent.high);
    }
    text += fmt::format(
        "}} {0}_extents;\n\n/* The extents of the outputs. */\ntypedef struct {0}_shapes {{\n",
        name);
    bool none = true;
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
        if (plan.outputs[i].shape.empty()) continue;
        none = false;
        text +=
            fmt::format("    int64_t {}[{}];\n", names.outputs[i], plan.outputs[i].shape.size());
    }
    if (none) text += "    char none;\n";
    return text + fmt::format("}} {}_shapes;\n\n", name);
}

}  // namespace

std::string fast_header(const loop::FrozenPlan& plan, const FastOptions& options) {
    const FastNames names = fast_names(plan);
    const std::string& name = options.name;
    const std::string upper = upper_case(name);
    std::string text = fmt::format(
        "/* The model: its tensors and how to run it.\n   {0}\n   Do not edit: write it again. */\n"
        "#ifndef {1}_H\n#define {1}_H\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        options.origin,
        upper);
    const auto list = [&](std::string_view what,
                          std::string_view qualifier,
                          const std::vector<loop::FrozenTensor>& tensors,
                          const std::vector<std::string>& c_names) {
        text += fmt::format("typedef struct {}_{} {{\n", name, what);
        for (size_t i = 0; i < tensors.size(); ++i) {
            text += fmt::format("    {}{}* {}; /* `{}`: {}, {} */\n",
                                qualifier,
                                c_type(tensors[i].dtype),
                                c_names[i],
                                comment_text(tensors[i].name),
                                tensor::dtype_name(tensors[i].dtype),
                                shape_text(tensors[i]));
        }
        if (tensors.empty()) text += "    char none;\n";
        text += fmt::format("}} {}_{};\n\n", name, what);
    };
    text +=
        "/* Tensors of the caller: row-major, aligned to their elements. Inputs and outputs do "
        "not\n"
        "   overlap. */\n";
    list("inputs", "const ", plan.inputs, names.inputs);
    list("outputs", "", plan.outputs, names.outputs);
    text += extents_text(plan, names, name);
    const bool open = !plan.extents.empty();
    const std::string parameter = open ? fmt::format(", const {}_extents* extents", name) : "";
    text += fmt::format(
        "/* Calls piece(arg, begin, end) for ranges that together are 0 <= i < items, in any order "
        "and\n   from any threads, and returns when all are done. */\n"
        "typedef void (*{0}_parallel_for)(void* context, int64_t items,\n"
        "    void (*piece)(void* arg, int64_t begin, int64_t end), void* arg);\n\n"
        "#define {1}_ARENA_BYTES {2}\n#define {1}_STATE_BYTES {3}\n\n"
        "/* Memory for one run at a time. */\n"
        "typedef struct {0}_instance {{\n"
        "    void* arena; /* {1}_ARENA_BYTES bytes, aligned to 64 */\n"
        "    void* state; /* {1}_STATE_BYTES bytes, aligned to 64 */\n"
        "    {0}_parallel_for parallel_for; /* 0: one thread */\n"
        "    void* context; /* of parallel_for */\n"
        "}} {0}_instance;\n\n"
        "enum {{\n"
        "    {1}_INDEX = 1, /* an index in the data was outside of its tensor */\n"
        "    {1}_ITEMS = 2, /* a loop ran past the items that it scans */\n"
        "    {1}_RESULTS = 3, /* a loop gave more results than its output has items */\n"
        "    {1}_UNENDING = 4, /* a loop did not end */\n"
        "    {1}_EXTENTS = 5 /* the model does not allow the runtime extents */\n"
        "}};\n\n"
        "/* Clears the memory and gives variables their initial values. Call it before the first "
        "run. */\n"
        "void {0}_start(const {0}_instance* self);\n"
        "/* Computes the outputs from the inputs{4}. 0: done; else one of the errors above, and "
        "the\n   outputs do not count. */\n"
        "int32_t {0}_run_on(const {0}_instance* self, const {0}_inputs* inputs,\n"
        "                   const {0}_outputs* outputs{5});\n"
        "{6}\n"
        "/* The same with static memory, unless {1}_NO_STATIC_MEMORY is defined. */\n"
        "void {0}_reset(void);\n"
        "int32_t {0}_run(const {0}_inputs* inputs, const {0}_outputs* outputs{5});\n"
        "void {0}_set_parallel_for({0}_parallel_for parallel_for, void* context);\n\n"
        "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        name,
        upper,
        std::max<int64_t>(plan.arena_bytes, 64),
        std::max<size_t>(plan.initial_state.size(), 64),
        plan.variables.empty() ? "" : " and the variables, and updates the variables",
        parameter,
        open ? fmt::format("/* The shapes of the outputs for these extents. 0, or {1}_EXTENTS. */\n"
                           "int32_t {0}_output_shapes(const {0}_extents* extents, {0}_shapes* "
                           "shapes);\n",
                           name,
                           upper)
             : "");
    return text;
}

std::vector<CFile> write_fast(const loop::FrozenPlan& plan, const FastOptions& options) {
    std::vector<CFile> files = {{options.name + ".c", source_text(plan, options)},
                                {options.name + ".h", fast_header(plan, options)},
                                {"weights.c", weights_text(plan, options)},
                                {"main.c", fast_example(plan, options)},
                                {"Makefile", makefile_text(plan, options)},
                                {options.name + ".json", description_text(plan, options)}};
    if (calls_intrinsics(plan.steps)) {
        files.push_back({"intrinsics.h", kIntrinsicsHeader});
        files.push_back({"intrinsics.c", kIntrinsicsSource});
    }
    return files;
}

}  // namespace lemma::emit
