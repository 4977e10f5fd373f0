// SPDX-License-Identifier: Apache-2.0
#include "prove/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_map>

#include "base/open_file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "diag/json_text.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "model/files.h"
#include "prove/process.h"
#include "session/compile_options.h"
#include "session/session.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProofFolder = "proof";  // in the folder of the result

// A folder that is removed in the end.
class ScratchFolder {
public:
    ScratchFolder() = default;
    ~ScratchFolder() {
        std::error_code failed;
        if (!path_.empty()) fs::remove_all(path_, failed);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    Result<std::string> make() {
        std::error_code failed;
        const fs::path parent = fs::temp_directory_path(failed);
        if (failed) return cannot_write("the folder for temporary files", failed.message());
        std::string pattern = (parent / "lemma-prove-XXXXXX").string();
        if (!::mkdtemp(pattern.data())) return cannot_write(pattern, file_trouble(errno));
        path_ = pattern;
        return path_;
    }

private:
    std::string path_;
};

class Prove final : public Command {
public:
    std::string name() const override { return "prove"; }
    std::string summary() const override { return "proves a model's C code with Frama-C"; }
    std::string group() const override { return kAssuranceCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<std::optional<prove::ModelProof>> prove(model::Finding& finding,
                                                   const Terminal& terminal) const;
    Result<std::optional<emit::CertifiedModel>> certified(session::Session& session,
                                                          model::Finding& finding) const;
    Result<std::vector<prove::FunctionText>> chosen(std::vector<prove::FunctionText> all) const;
    Result<void> describe(prove::ModelProof& proof,
                          const emit::CertifiedModel& model,
                          const ir::Program& program,
                          const model::Finding& finding) const;
    Result<void> write_files(const emit::CertifiedModel& model) const;

    std::string model_;
    std::string out_;
    std::string prefix_ = "model";
    std::string functions_;
    prove::ProveOptions prove_;
    bool no_cache_ = false;
    compile::CertifiedOptions certified_;
    session::SessionOptions options_;
    ProblemStyle style_;
};

void Prove::declare(Arguments& arguments) {
    prove_.jobs = std::max(1U, std::thread::hardware_concurrency());
    arguments.word("MODEL", model_, kModelHelp);
    arguments.group("Output");
    arguments.text("-o,--output", out_, "DIR", "keep the C code, the proved files and their logs");
    arguments.text("--name", prefix_, "NAME", "prefix of files and functions (model)");
    arguments.group("Proof");
    arguments.text("--functions", functions_, "NAME,…", "prove these functions only");
    arguments.number("--jobs", prove_.jobs, {1, 1024}, "functions at a time (one per processor)");
    arguments.number(
        "--timeout", prove_.timeout, {1, 86400}, "seconds for a goal and a prover (20)");
    arguments.number("--limit", prove_.limit, {1, 864000}, "seconds for a function (3600)");
    arguments.text("--cache", prove_.cache_folder, "DIR", "folder of proofs that are kept");
    arguments.flag("--no-cache", no_cache_, "neither use nor keep proofs");
    arguments.flag("--force", prove_.force, "prove again what was proved before");
    arguments.exclude("--cache", "--no-cache");
    arguments.group("Model");
    arguments.texts(
        "-i,--input", options_.inputs, "[NAME=]FILE", "the value of an input that decides shapes");
    declare_certified(arguments, certified_);
    declare_loading(arguments, options_);
    declare_problem_style(arguments, style_);
    arguments.remark(
        "Writes the certified C code of `lemma compile` and proves each function with the WP "
        "plug-in of Frama-C: its contract, the absence of run-time errors, and that it ends. A "
        "function is proved once for its text; later runs take the result from the cache. The "
        "values of weights are not part of the proof. The status is 0 if all goals are proved and "
        "1 if not. Needs frama-c, why3, z3 and cvc4.");
    arguments.example("lemma prove net.onnx", "Proves all functions and prints a table.");
    arguments.example("lemma prove net.onnx --json -o proof",
                      "The same as JSON; keeps the C code and the logs.");
}

Result<std::optional<emit::CertifiedModel>> Prove::certified(session::Session& session,
                                                             model::Finding& finding) const {
    const std::string origin = emit::comment_text(
        fmt::format("lemma {}, from {}", kVersion, fs::path(model_).filename().string()));
    return compile::certified_model(session, certified_, prefix_, origin, finding);
}

Result<std::vector<prove::FunctionText>> Prove::chosen(std::vector<prove::FunctionText> all) const {
    if (functions_.empty()) return all;
    std::vector<prove::FunctionText> some;
    std::string rest = functions_;
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        const std::string name = rest.substr(0, comma);
        rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
        const auto found = std::ranges::find(all, name, &prove::FunctionText::name);
        if (found == all.end()) {
            constexpr size_t kMost = 20;
            std::vector<std::string> names;
            for (const auto& each : all) names.push_back(each.name);
            if (names.size() > kMost) {
                names.resize(kMost);
                names.emplace_back("…");
            }
            return std::unexpected(Error{fmt::format(
                "the C code has no function `{}`; it has {}", name, fmt::join(names, ", "))});
        }
        if (std::ranges::find(some, name, &prove::FunctionText::name) == some.end()) {
            some.push_back(*found);
        }
    }
    return some;
}

Result<void> Prove::write_files(const emit::CertifiedModel& model) const {
    if (out_.empty()) return {};
    LEMMA_TRY(tensor::make_folder(out_));
    for (const emit::CFile& file : model.files) {
        LEMMA_TRY(tensor::write_file((fs::path(out_) / file.name).string(), file.text));
    }
    return {};
}

// The operation of the main graph around each operation: its parts, and those of its loops and
// branches. The user knows its call; the calls of its parts are in the library.
class Outermost {
public:
    explicit Outermost(const ir::Program& program) : program_(program) {
        for (const ir::OpId id : program.graphs[program.main].operations) add(id, id);
    }
    ir::OpId of(ir::OpId id) const {
        const auto found = around_.find(id);
        return found == around_.end() ? id : found->second;
    }

private:
    void add(ir::OpId id, ir::OpId outer) {
        if (!around_.emplace(id, outer).second) return;
        const ir::Operation& op = program_.operations[id];
        for (const ir::OpId part : op.parts) add(part, outer);
        if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId graph : {loop->pre_condition, loop->body, loop->post_condition})
                add_graph(graph, outer);
        }
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                add_graph(arm.condition, outer);
                add_graph(arm.consequent, outer);
            }
            add_graph(branch->alternative, outer);
        }
    }
    void add_graph(ir::GraphId graph, ir::OpId outer) {
        if (!graph.valid()) return;
        for (const ir::OpId id : program_.graphs[graph].operations) add(id, outer);
    }

    const ir::Program& program_;
    std::unordered_map<ir::OpId, ir::OpId, IdHash> around_;
};

// `graph/node[0]:Conv "c1"` in a binary file, `model.sknd:7:9` in a text.
std::string place_of(const diag::SourceMap& sources, Span span) {
    if (!span.file.valid()) return {};
    if (sources.is_binary(span.file)) return std::string(sources.text(span));
    const diag::LineColumn place = sources.place(span.file, span.begin);
    return fmt::format("{}:{}:{}", sources.name(span.file), place.line, place.column);
}

Result<void> Prove::describe(prove::ModelProof& proof,
                             const emit::CertifiedModel& model,
                             const ir::Program& program,
                             const model::Finding& finding) const {
    proof.file = fs::path(model_).filename().string();
    std::error_code failed;
    if (fs::is_regular_file(model_, failed)) {
        LEMMA_TRY(const std::string bytes,
                  read_whole(model_, FileKind::Regular, options_.source.max_file_bytes));
        proof.sha256 = sha256(bytes);
    }
    const Outermost outermost(program);
    for (prove::FunctionProof& function : proof.functions) {
        const auto found = std::ranges::find(
            model.functions, function.name, [](const auto& each) { return each.code.name; });
        if (found == model.functions.end()) continue;
        function.frame_only = !found->code.contract.contains("ensures");
        if (found->op.valid()) {
            function.place =
                place_of(finding.sources, program.operations[outermost.of(found->op)].span);
        }
    }
    return {};
}

std::string progress_text(const prove::Progress& progress) {
    return fmt::format(
        "{}  {}", bar_text(progress.done, progress.all, "functions"), progress.running);
}

Result<std::optional<prove::ModelProof>> Prove::prove(model::Finding& finding,
                                                      const Terminal& terminal) const {
    if (!emit::is_identifier(prefix_)) {
        return std::unexpected(
            Error{fmt::format("`{}` is no name for C: give letters, digits and `_`", prefix_)});
    }
    const auto began = std::chrono::steady_clock::now();
    session::SessionOptions options = options_;
    options.engine = session::EngineKind::Interpret;
    options.run.accumulate = certified_.precision();
    LEMMA_TRY(const bool kept, compile::keeps_profile(model_, certified_, options, finding));
    if (!kept) return std::nullopt;
    show_stage(terminal, "loading " + model_);
    const auto session = session::Session::open(model_, options, finding);
    if (!session) return std::nullopt;
    LEMMA_TRY(const auto model, certified(*session, finding));
    if (!model) return std::nullopt;
    LEMMA_TRY(const auto functions, chosen(prove::function_texts(*model, prefix_)));
    LEMMA_TRY(write_files(*model));

    const prove::Interrupts interrupts;
    ScratchFolder scratch;
    LEMMA_TRY(const std::string folder, scratch.make());
    LEMMA_TRY(const prove::Provers provers, prove::find_provers(folder));
    prove::ProveOptions how = prove_;
    how.folder = out_.empty() ? folder : (fs::path(out_) / kProofFolder).string();
    if (how.cache_folder.empty()) {
        const std::string own = session::default_cache_folder();
        if (!own.empty()) how.cache_folder = own + "/proofs";
    }
    if (no_cache_) how.cache_folder.clear();
    LEMMA_TRY(auto proofs,
              prove::prove_functions(functions, provers, how, [&](const prove::Progress& progress) {
                  show_stage(terminal, progress_text(progress));
              }));
    if (!proofs.cache_trouble.empty()) {
        finding.remarks.push_back({{}, "proofs are not kept: " + proofs.cache_trouble});
    }
    const bool single = certified_.precision() == ir::Accumulate::F32;
    prove::ModelProof proof{.file = {},
                            .sha256 = {},
                            .accumulate = single ? "f32" : "f64",
                            .tools = provers.versions,
                            .command = std::move(proofs.command),
                            .functions = std::move(proofs.functions)};
    LEMMA_TRY(describe(proof, *model, session->program(), finding));
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!out_.empty()) {
        LEMMA_TRY(tensor::write_file((fs::path(how.folder) / "proof.json").string(),
                                     diag::json_text(prove::proof_json(proof))));
    }
    return proof;
}

Outcome Prove::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    const auto proof = prove(finding, terminal);
    if (!proof) {
        finding.fail(proof.error());
    } else if (finding.diag.has_errors()) {
        finding.status = model::kWrong;
    }
    if (!proof || !*proof) return problems_of(std::move(finding), style_, terminal);
    const prove::ModelProof& result = **proof;
    finding.status = result.good() ? model::kGood : model::kWrong;
    if (style_.json) {
        return {
            .status = finding.status, .out = diag::json_text(prove::proof_json(result)), .err = {}};
    }
    Outcome outcome = problems_of(std::move(finding), style_, terminal);
    outcome.out = prove::proof_table(result);
    return outcome;
}

}  // namespace

std::unique_ptr<Command> prove_command() { return std::make_unique<Prove>(); }

}  // namespace lemma::driver
