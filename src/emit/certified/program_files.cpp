// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/program_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace lemma::emit {

namespace {

std::string banner(std::string_view what, const std::string& origin) {
    return fmt::format("/* {}\n   {}\n   Do not edit: write it again. */\n", what, origin);
}

std::string shape_text(const tensor::Shape& shape) {
    return shape.empty() ? "a scalar" : fmt::format("shape {}", fmt::join(shape, " x "));
}

// In quotes; invalid UTF-8 becomes replacement characters.
std::string json_string(std::string_view text) {
    using Json = nlohmann::json;
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

int64_t elements_of(const CArray& array) {
    int64_t count = 1;
    for (const int64_t extent : array.shape) count *= extent;
    return count;
}

}  // namespace

std::string header_text(const CProgram& program) {
    const std::string& name = program.name;
    std::string guard;
    for (const char c : name)
        guard += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string text = banner("The model: its tensors and how to run it.", program.origin);
    text += fmt::format("#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n", guard);
    std::vector<std::string> seen;
    const auto put = [&](std::string_view role, const CPort& port) {
        const std::string about = fmt::format("{} `{}`: {}, {}",
                                              role,
                                              comment_text(port.name),
                                              tensor::dtype_name(port.array.dtype),
                                              shape_text(port.array.shape));
        if (has(seen, port.array.name)) {
            text += fmt::format("/* {} is {} too. */\n", port.array.name, about);
            return;
        }
        seen.push_back(port.array.name);
        text += fmt::format("/* {}{} */\nextern {};\n",
                            about,
                            elements_of(port.array) == 0 ? "; it has no elements" : "",
                            port.array.declaration());
    };
    for (const CPort& port : program.inputs) put("input", port);
    for (const CPort& port : program.outputs) put("output", port);
    text += fmt::format("\n/* {} */\nvoid {}_reset(void);\n",
                        program.variables.empty()
                            ? "The model has no state: this does nothing."
                            : "Gives the variables their first values. Call it before the "
                              "first run.",
                        name);
    text += fmt::format(
        "/* Computes the outputs from the inputs. 0: done; 1: an index in the data was outside of "
        "its\n   tensor, and the outputs do not count. */\nint32_t {}_run(void);\n\n#endif\n",
        name);
    return text;
}

// ---- Example ------------------------------------------------------------------------------------

namespace {

constexpr std::string_view kMain = R"(
static int fail(const char *what, const char *name)
{
    (void)fprintf(stderr, "%s %s\n", what, name);
    return 2;
}

static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if ((length < 0) || ((size_t)length >= sizeof path)) {
        return NULL;
    }
    return fopen(path, mode);
}

int main(int argc, char **argv)
{
    const char *from = ".";
    const char *to = ".";
    long runs = -1;
    long done = 0;
    int status = 0;
    FILE *in[INPUTS + 1] = { NULL };
    FILE *out[OUTPUTS + 1] = { NULL };
    for (int i = 1; i < argc; i++) {
        if ((strcmp(argv[i], "-i") == 0) && (i + 1 < argc)) {
            i++;
            from = argv[i];
        } else if ((strcmp(argv[i], "-o") == 0) && (i + 1 < argc)) {
            i++;
            to = argv[i];
        } else if ((strcmp(argv[i], "-n") == 0) && (i + 1 < argc)) {
            i++;
            runs = strtol(argv[i], NULL, 10);
        } else {
            (void)fprintf(stderr, "usage: %s [-i FOLDER] [-o FOLDER] [-n RUNS]\n", argv[0]);
            return 2;
        }
    }
    for (int i = 0; i < INPUTS; i++) {
        in[i] = open_file(from, inputs[i].file, "rb");
        if (in[i] == NULL) {
            return fail("cannot read", inputs[i].file);
        }
    }
    for (int i = 0; i < OUTPUTS; i++) {
        out[i] = open_file(to, outputs[i].file, "wb");
        if (out[i] == NULL) {
            return fail("cannot write", outputs[i].file);
        }
    }
    if ((runs < 0) && !HAS_DATA) {
        runs = 1;
    }
    RESET();
    while ((runs < 0) || (done < runs)) {
        int ended = 0;
        for (int i = 0; i < INPUTS; i++) {
            if ((inputs[i].bytes > 0U) &&
                (fread(inputs[i].data, 1U, inputs[i].bytes, in[i]) != inputs[i].bytes)) {
                ended = 1;
            }
        }
        if (ended != 0) {
            break;
        }
        if (RUN() != 0) {
            (void)fprintf(stderr, "run %ld: an index was outside of its tensor\n", done);
            status = 1;
        }
        for (int i = 0; i < OUTPUTS; i++) {
            if ((outputs[i].bytes > 0U) &&
                (fwrite(outputs[i].data, 1U, outputs[i].bytes, out[i]) != outputs[i].bytes)) {
                return fail("cannot write", outputs[i].file);
            }
        }
        done++;
    }
    for (int i = 0; i < INPUTS; i++) {
        (void)fclose(in[i]);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        if (fclose(out[i]) != 0) {
            return fail("cannot write", outputs[i].file);
        }
    }
    if (done == 0) {
        (void)fprintf(stderr, "no input has the elements of one run\n");
        return 2;
    }
    return status;
}
)";

std::string table_text(std::string_view name, const std::vector<CPort>& ports) {
    std::string text = fmt::format("static const struct port {}[] = {{\n", name);
    for (const CPort& port : ports) {
        const bool scalar = port.array.shape.empty();
        const int64_t bytes = elements_of(port.array) * tensor::dtype_size(port.array.dtype);
        text += fmt::format(
            "    {{ \"{0}.bin\", {1}{0}, {2}U }},\n", port.array.name, scalar ? "&" : "", bytes);
    }
    return text + "    { \"\", NULL, 0U }\n};\n";
}

}  // namespace

std::string main_text(const CProgram& program) {
    std::string text = fmt::format(
        "/* An example: runs the model on raw little-endian files, NAME.bin for each input, and "
        "writes\n   NAME.bin for each output. An input file with the elements of several runs "
        "gives several\n   runs, and the outputs follow one another. */\n"
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"{0}.h\"\n\n"
        "#define INPUTS {1}\n#define OUTPUTS {2}\n#define HAS_DATA {3}\n#define RESET {0}_reset\n"
        "#define RUN {0}_run\n\n"
        "struct port {{\n    const char *file;\n    void *data;\n    size_t bytes;\n}};\n\n",
        program.name,
        program.inputs.size(),
        program.outputs.size(),
        std::ranges::any_of(program.inputs,
                            [](const CPort& port) { return elements_of(port.array) > 0; })
            ? 1
            : 0);
    text += table_text("inputs", program.inputs);
    text += table_text("outputs", program.outputs);
    return text + std::string(kMain);
}

std::string makefile_text(const CProgram& program, const std::vector<std::string>& sources) {
    return fmt::format(
        "# Builds the example program, ./{0}.\n"
        "CC ?= cc\nCFLAGS ?= -O2\n"
        "FLAGS = -std=c99 -Wall -Wextra -pedantic -ffp-contract=off\n"
        "SOURCES = main.c {1}\n\n"
        "{0}: $(SOURCES) $(wildcard *.h)\n"
        "\t$(CC) $(FLAGS) $(CFLAGS) -o $@ $(SOURCES) -lm\n\n"
        "clean:\n\trm -f {0}\n\n.PHONY: clean\n",
        program.name,
        fmt::join(sources, " "));
}

std::string description_json(const CProgram& program, const std::vector<std::string>& sources) {
    const auto list = [](const std::vector<CPort>& ports) {
        std::vector<std::string> parts;
        for (const CPort& port : ports) {
            std::vector<std::string> axes;
            for (const std::string& axis : port.axes) axes.push_back(json_string(axis));
            parts.push_back(fmt::format(
                "    {{\"name\": {}, \"c_name\": \"{}\", \"dtype\": \"{}\", \"shape\": [{}]{}}}",
                json_string(port.name),
                port.array.name,
                tensor::dtype_name(port.array.dtype),
                fmt::join(port.array.shape, ", "),
                axes.empty() ? "" : fmt::format(", \"axes\": [{}]", fmt::join(axes, ", "))));
        }
        return parts.empty() ? std::string("[]")
                             : fmt::format("[\n{}\n  ]", fmt::join(parts, ",\n"));
    };
    std::vector<std::string> quoted;
    for (const std::string& source : sources) quoted.push_back(json_string(source));
    std::string extents;
    for (const CExtent& extent : program.extents) {
        extents +=
            fmt::format("{}    {{\"name\": {}, \"c_name\": \"{}\", \"low\": {}, \"high\": {}}}",
                        extents.empty() ? "" : ",\n",
                        json_string(extent.name),
                        extent.c_name,
                        extent.low,
                        extent.high);
    }
    if (!extents.empty()) extents = fmt::format("  \"extents\": [\n{}\n  ],\n", extents);
    return fmt::format(
        "{{\n  \"name\": \"{}\",\n{}  \"inputs\": {},\n  \"outputs\": {},\n  \"sources\": "
        "[{}]\n}}\n",
        program.name,
        extents,
        list(program.inputs),
        list(program.outputs),
        fmt::join(quoted, ", "));
}

// ---- Weights ------------------------------------------------------------------------------------

namespace {

class Initializer {
public:
    Initializer(const CArray& array, const interpret::Array& values)
        : array_(array), values_(values) {}

    void put(size_t axis, std::string& text) {
        if (axis == array_.shape.size()) return put_element(text);
        const bool last = axis + 1 == array_.shape.size();
        text += last ? "{ " : "{\n";
        for (int64_t i = 0; i < std::max<int64_t>(array_.shape[axis], 1); ++i) {
            if (i > 0) text += last && i % 8 != 0 ? ", " : ",\n";
            put(axis + 1, text);
        }
        text += last ? " }" : "\n}";
    }

private:
    void put_element(std::string& text) {
        using tensor::DType;
        const auto at = static_cast<size_t>(next_++);
        const DType dtype = array_.dtype;
        if (!tensor::is_real(dtype)) {
            text += integer_literal(dtype, at < values_.integers.size() ? values_.integers[at] : 0);
            return;
        }
        const double value = at < values_.reals.size() ? values_.reals[at] : 0.0;
        if (dtype == DType::F16 || dtype == DType::BF16) {
            text += fmt::format("0x{:04X}U", half_bits(dtype, value));
            return;
        }
        text += real_literal(value, dtype == DType::F32);
    }
    static uint16_t half_bits(tensor::DType dtype, double value) {
        uint16_t bits = 0;
        interpret::Array one;
        one.dtype = dtype;
        one.reals = {value};
        if (const auto tensor = interpret::to_tensor(one)) {
            std::copy_n(reinterpret_cast<const char*>(tensor->bytes().data()),
                        sizeof bits,
                        reinterpret_cast<char*>(&bits));
        }
        return bits;
    }

    const CArray& array_;
    const interpret::Array& values_;
    int64_t next_ = 0;
};

}  // namespace

std::string constant_text(const CArray& array, const interpret::Array& values) {
    std::string text = fmt::format("const {} = ", array.declaration());
    Initializer(array, values).put(0, text);
    return text + ";\n";
}

std::vector<CFile> weight_files(const std::string& origin,
                                const std::vector<CConstant>& constants) {
    constexpr int64_t kLarge = 16384;
    std::string header = banner("The constants of the model.", origin) +
                         "#ifndef WEIGHTS_H\n#define WEIGHTS_H\n\n#include <stdint.h>\n\n";
    const std::string top = banner("Constants of the model, bit for bit.", origin) +
                            "#include \"weights.h\"\n\n#include <math.h>\n\n";
    std::string small = top;
    std::vector<CFile> files;
    for (const auto& [array, values] : constants) {
        header += fmt::format(
            "/* {} */\nextern const {};\n", comment_text(array.tensor), array.declaration());
        if (elements_of(array) < kLarge) {
            small += constant_text(array, values);
        } else {
            files.push_back({fmt::format("weights_{}.c", files.size() + 1),
                             top + constant_text(array, values)});
        }
    }
    files.insert(files.begin(), {"weights.c", std::move(small)});
    files.insert(files.begin(), {"weights.h", header + "\n#endif\n"});
    return files;
}

}  // namespace lemma::emit
