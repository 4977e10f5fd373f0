// SPDX-License-Identifier: Apache-2.0
#include "emit/certified/certified.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/certified/arithmetic.h"
#include "emit/certified/model_writer.h"
#include "emit/intrinsics.h"

namespace lemma::emit {

// Calls in blocks of a few, and blocks of blocks: a proof about many calls takes long.
ModelWriter::Calls ModelWriter::in_blocks(Calls calls) {
    constexpr size_t kMostCalls = 8;
    for (int level = 0; calls.size() > kMostCalls; ++level) {
        Calls blocks;
        for (size_t begin = 0; begin < calls.size(); begin += kMostCalls) {
            const size_t end = std::min(begin + kMostCalls, calls.size());
            const Calls part(calls.begin() + static_cast<ptrdiff_t>(begin),
                             calls.begin() + static_cast<ptrdiff_t>(end));
            blocks.push_back(sequence_function(
                fmt::format("{}_block{}_{}", input_.name, level, blocks.size()), {}, part, {}));
        }
        calls = std::move(blocks);
    }
    return calls;
}

void ModelWriter::run_function(const Calls& calls) {
    const std::string& name = input_.name;
    const Call step =
        sequence_function(name + "_compute",
                          "/* Every operation holds of the tensors as they are at the end. */\n",
                          in_blocks(calls),
                          {});
    const Calls updates = calls_of(lowered_.updates);
    CFunction run{.name = name + "_run",
                  .logic = {},
                  .contract = {},
                  .signature = fmt::format("int32_t {}_run(void)", name),
                  .body = {},
                  .composition = true};
    CLines lines;
    lines.open("{");
    const bool faults = step.faults;
    if (faults) lines.put(fmt::format("{} = 0;", fault_));
    put_calls({step}, lines);
    put_calls(updates, lines);
    lines.put(faults ? fmt::format("return {};", fault_) : "return 0;");
    lines.close();
    run.body = lines.take();
    if (updates.empty() && !step.holds.empty()) {
        run.contract = fmt::format("  @ ensures {};\n", step.holds);
    }
    if (!faults) run.contract += "  @ ensures \\result == 0;\n";
    Calls all = {step};
    all.insert(all.end(), updates.begin(), updates.end());
    finish_function(std::move(run), all, {});
}

// Copies the first values of the variables.
void ModelWriter::reset_function() {
    Calls calls;
    for (const CopyStep& start : starts_) {
        Call call = copy_function(start, {});
        if (!call.function.empty()) calls.push_back(std::move(call));
    }
    CFunction reset{.name = input_.name + "_reset",
                    .logic = {},
                    .contract = {},
                    .signature = fmt::format("void {}_reset(void)", input_.name),
                    .body = {},
                    .composition = true};
    CLines lines;
    lines.open("{");
    put_calls(calls, lines);
    lines.close();
    reset.body = lines.take();
    for (const Call& call : calls) reset.contract += fmt::format("  @ ensures {};\n", call.holds);
    finish_function(std::move(reset), calls, {});
}

std::vector<CFile> ModelWriter::files() {
    const std::string& name = input_.name;
    // A function that turned out to do nothing needs no arrays.
    std::unordered_set<ir::TensorId, IdHash> needed = ports_;
    for (const auto& [comment, function] : functions_) {
        needed.insert(function.code.tensors.begin(), function.code.tensors.end());
    }
    std::unordered_set<std::string> names;
    for (const ir::TensorId id : needed) names.insert(names_.at(id));
    std::erase_if(constants_,
                  [&](const CConstant& constant) { return !names.contains(constant.array.name); });
    std::vector<CFile> files = weight_files(input_.origin, constants_);
    std::string text = fmt::format(
        "/* The model: one function for each operation, in the order of the run.\n   {}\n"
        "   Do not edit: write it again. */\n#include \"{}.h\"\n\n{}#include \"sx.h\"\n"
        "#include \"weights.h\"\n{}\n",
        input_.origin,
        name,
        uses_memcpy_ ? "#include <string.h>\n\n" : "",
        intrinsics_ ? "#include \"intrinsics.h\"\n" : "");
    bool faults = false;
    for (const auto& [comment, function] : functions_) faults |= function.code.faults;
    if (faults) text += fmt::format("static int32_t {};\n", fault_);
    for (const ir::TensorId id : arrays_) {
        if (constant_.contains(id) || !needed.contains(id)) continue;
        text += fmt::format(
            "{}{};\n", ports_.contains(id) ? "" : "static ", array_of(id).declaration());
    }
    text += "\n";
    for (const auto& [comment, function] : functions_) {
        text += comment + function.code.logic + function.code.definition() + "\n";
    }
    const std::set<std::string> used = used_arithmetic(text);
    files.push_back({"sx.h", arithmetic_header(used)});
    files.push_back({"sx.c", arithmetic_source(used)});
    if (intrinsics_) {
        files.push_back({"intrinsics.h", kIntrinsicsHeader});
        files.push_back({"intrinsics.c", kIntrinsicsSource});
    }
    files.push_back({name + ".c", std::move(text)});
    std::vector<std::string> sources;
    for (const CFile& file : files) {
        if (file.name.ends_with(".c")) sources.push_back(file.name);
    }
    files.push_back({name + ".h", header_text(c_program_)});
    files.push_back({"main.c", main_text(c_program_)});
    files.push_back({"Makefile", makefile_text(c_program_, sources)});
    files.push_back({name + ".json", description_json(c_program_, sources)});
    return files;
}

std::optional<CertifiedModel> ModelWriter::run() {
    fault_ = input_.name + "_fault";
    c_program_.name = input_.name;
    c_program_.origin = input_.origin;
    find_arrays();
    if (!obstacles_.empty()) return std::nullopt;
    const Calls calls = calls_of(lowered_.steps);
    if (!obstacles_.empty()) return std::nullopt;
    run_function(calls);
    reset_function();
    CertifiedModel model;
    model.files = files();
    for (auto& [comment, function] : functions_) model.functions.push_back(std::move(function));
    model.unspecified = std::move(unspecified_);
    return model;
}

std::optional<CertifiedModel> write_certified(const CertifiedInput& input,
                                              std::vector<Obstacle>& obstacles) {
    const auto lowered = lower(input.program, input.accumulate, obstacles);
    if (!obstacles.empty()) {
        // Intrinsics are in the way as well; all of them are named at once.
        return std::nullopt;
    }
    return ModelWriter(input, *lowered, obstacles).run();
}

}  // namespace lemma::emit
