// SPDX-License-Identifier: Apache-2.0
#include "driver/testing/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "diag/utf8.h"
#include "driver/folder.h"
#include "model/files.h"
#include "session/tensors.h"
#include "tensor/files/mapped_file.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using interpret::Array;
using session::EngineKind;

constexpr const char* kGraph = "lemma_test_case";  // the graph of a call
constexpr int64_t kMostShown = 64;                 // elements of an array in a message
constexpr size_t kMostModules = 1000;              // beside the test
constexpr int kModuleDepth = 4;

// ---- Texts --------------------------------------------------------------------------------------

std::string element(const Array& array, size_t at) {
    if (!array.strings.empty()) return fmt::format("\"{}\"", array.strings[at]);
    if (!array.reals.empty()) return fmt::format("{:.7g}", array.reals[at]);
    if (array.dtype != tensor::DType::Bool) return fmt::format("{}", array.integers[at]);
    return array.integers[at] != 0 ? "true" : "false";
}

// Nested lists, as in the file.
std::string nested(const Array& array, size_t axis, size_t& at) {
    if (axis == array.shape.size()) return element(array, at++);
    std::string text;
    for (int64_t i = 0; i < array.shape[axis]; ++i)
        text += (i > 0 ? ", " : "") + nested(array, axis + 1, at);
    return "[" + text + "]";
}

std::string values_text(const Array& array) {
    if (array.size > kMostShown || array.shape.size() > 8) return "";
    size_t at = 0;
    return nested(array, 0, at);
}

// ---- The model of a case ------------------------------------------------------------------------

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// A path below the folder.
Result<std::string> inside(const std::string& folder, const std::string& path) {
    const fs::path normal = fs::path(path).lexically_normal();
    if (normal.is_absolute() || normal.empty() || *normal.begin() == "..")
        return bad(fmt::format("`{}` is outside of the folder of the test", path));
    return (fs::path(folder) / normal).string();
}

// The modules that the main file may import, by their paths from its folder.
void add_modules(const fs::path& folder,
                 const std::string& prefix,
                 int depth,
                 std::vector<tensor::MemoryFile>& files) {
    std::error_code ignored;
    for (const fs::path& path : entries_of(folder)) {
        const std::string name = path.filename().string();
        if (name.starts_with('.') || files.size() >= kMostModules) continue;
        if (fs::is_directory(path, ignored)) {
            if (depth > 0) add_modules(path, prefix + name + "/", depth - 1, files);
            continue;
        }
        if (path.extension() != ".sknd" || prefix + name == files.front().name) continue;
        auto text = model::read_text(path.string(), FileKind::Regular);
        if (text) files.push_back({prefix + name, tensor::share(std::move(*text))});
    }
}

std::string shape_of(const Array& array) {
    std::string text;
    for (const int64_t extent : array.shape)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
    return "[" + text + "]";
}

std::string declaration(const TestCase& test, const TestTensor& tensor, const std::string& shape) {
    for (const std::string& declared : test.declared) {
        const std::string_view name = std::string_view(declared).substr(0, declared.find(':'));
        if (name.substr(0, name.find_last_not_of(' ') + 1) == tensor.name) return declared + "; ";
    }
    return fmt::format("{}: {}{}; ", tensor.name, tensor.type, shape);
}

std::string graph_text(const TestCase& test) {
    const TestStep& step = test.steps.front();
    std::string inputs, outputs;
    for (const TestTensor& tensor : step.inputs)
        inputs += declaration(test, tensor, shape_of(tensor.values));
    // The graph leaves the shapes of outputs open, so that the operator must get them right.
    for (const TestTensor& tensor : step.outputs) outputs += declaration(test, tensor, "[~..]");
    std::string statements = test.call;
    if (!statements.ends_with(';')) statements += ";";
    return fmt::format("graph {} {{\n@input {{ {}}}\n@output {{ {}}}\n@compose {{\n{}\n}}\n}}\n",
                       kGraph,
                       inputs,
                       outputs,
                       statements);
}

class CaseRunner {
public:
    CaseRunner(const TestCase& test, const TestOptions& options, EngineKind engine)
        : test_(test), options_(options) {
        engine_ = engine == EngineKind::Interpret ? "interpret" : "jit";
        session_options_ = options.session;
        session_options_.engine = engine;
    }

    std::vector<TestFailure> run();

private:
    Result<std::string> prepare();
    Result<void> prepare_call(const std::string& path);
    bool set_variables(session::Session& session);
    bool run_step(session::Session& session, const TestStep& step);
    Result<interpret::NamedArrays> inputs_of(const ir::Program& program,
                                             const TestStep& step) const;
    void compare_outputs(const session::Session& session,
                         const interpret::NamedArrays& outputs,
                         const TestStep& step);
    void compare_one(const TestTensor& want, const Array& got);
    // The problem was expected, or is a failure.
    bool stop(const std::optional<ExpectedError>& expected);
    std::vector<std::pair<std::string, std::string>> problems() const;
    std::string place(const diag::Diagnostic& diagnostic) const;
    bool fail(std::string message, std::string expected = "", std::string found = "") {
        failures_.push_back({engine_, std::move(message), std::move(expected), std::move(found)});
        return false;
    }

    const TestCase& test_;
    const TestOptions& options_;
    std::string engine_;
    session::SessionOptions session_options_;
    model::Finding finding_{.model = "", .diag = Diagnostics()};
    std::string main_file_;   // of a call
    uint32_t own_lines_ = 0;  // lines of the module; the graph follows them
    std::vector<TestFailure> failures_;
};

// The module with the graph of the call behind it.
Result<void> CaseRunner::prepare_call(const std::string& path) {
    std::string text;
    fs::path folder = options_.folder;
    main_file_ = "main.sknd";
    if (!path.empty()) {
        if (!path.ends_with(".sknd"))
            return bad(fmt::format("`{}` is no SkriptND file: a `call` needs one", path));
        LEMMA_TRY(text, model::read_text(path, FileKind::Regular));
        folder = fs::path(path).parent_path();
        main_file_ = fs::path(path).filename().string();
    }
    own_lines_ = static_cast<uint32_t>(std::ranges::count(text, '\n')) + 1;
    std::string imports;
    for (const std::string& module : test_.imports) {
        const std::string line = fmt::format("import {};", module);
        if (text.find(line) == std::string::npos) imports += line + " ";
    }
    session_options_.memory.push_back(
        {main_file_, tensor::share(imports + text + "\n" + graph_text(test_))});
    add_modules(folder, "", kModuleDepth, session_options_.memory);
    session_options_.check.graph.graph = kGraph;
    session_options_.random_weights = 1;  // those of the case replace them
    return {};
}

// The argument of Session::open.
Result<std::string> CaseRunner::prepare() {
    const std::string& named = test_.model.empty() ? options_.beside : test_.model;
    std::string path;
    if (!named.empty()) {
        LEMMA_TRY(path, inside(options_.folder, named));
    }
    auto& attributes = session_options_.check.graph.attributes;
    attributes.insert(attributes.end(), test_.attributes.begin(), test_.attributes.end());
    if (!test_.graph.empty()) session_options_.check.graph.graph = test_.graph;
    if (!test_.call.empty()) {
        LEMMA_TRY(prepare_call(path));
        return main_file_;
    }
    if (path.empty()) return bad("there is no `call`, and no model beside the file");
    if (!test_.variables.empty()) session_options_.random_weights = 1;
    return path;
}

// `net.sknd:7:9: ` in the module; nothing inside of the graph that the case made.
std::string CaseRunner::place(const diag::Diagnostic& diagnostic) const {
    if (!diagnostic.path.empty()) return diagnostic.path + ": ";
    if (!diagnostic.span.file.valid()) return "";
    const std::string& name = finding_.sources.name(diagnostic.span.file);
    if (finding_.sources.is_binary(diagnostic.span.file))
        return fmt::format("{}: ", finding_.sources.text(diagnostic.span));
    const auto at = finding_.sources.place(diagnostic.span.file, diagnostic.span.begin);
    if (name == main_file_ && at.line > own_lines_) return "";
    return fmt::format("{}:{}:{}: ", name, at.line, at.column);
}

// Kind and message of what was reported.
std::vector<std::pair<std::string, std::string>> CaseRunner::problems() const {
    std::vector<std::pair<std::string, std::string>> list;
    if (finding_.unusable)
        list.emplace_back(model::error_id(*finding_.unusable), finding_.unusable->message);
    for (const diag::Diagnostic& each : finding_.diag.items()) {
        if (each.severity == diag::Severity::Error)
            list.emplace_back(diag::shown_id(each), place(each) + each.message);
    }
    return list;
}

bool CaseRunner::stop(const std::optional<ExpectedError>& expected) {
    const auto found = problems();
    const auto text = [](const auto& problem) {
        return problem.first.empty() ? problem.second
                                     : fmt::format("{} [{}]", problem.second, problem.first);
    };
    if (!expected) {
        return fail(found.empty() ? "it fails without a message" : text(found.front()));
    }
    const bool met = std::ranges::any_of(found, [&](const auto& problem) {
        return problem.first == expected->kind &&
               problem.second.find(expected->words) != std::string::npos;
    });
    if (met) return false;
    const std::string words = expected->words.empty() ? "" : ": " + expected->words;
    return fail(fmt::format("expected the error `{}{}`", expected->kind, words),
                "",
                found.empty() ? "" : text(found.front()));
}

// ---- Values -------------------------------------------------------------------------------------

bool is_whole(double value) {
    constexpr double kLimit = 9007199254740992.0;  // beyond 2^53, not every integer is a double
    return std::fabs(value) <= kLimit && value == std::trunc(value);
}

// Numbers of the file as the model's type.
Array as_dtype(Array array, tensor::DType dtype) {
    const bool whole = !array.integers.empty() && array.dtype != tensor::DType::Bool;
    if (tensor::is_real(dtype) && whole) {
        array.reals.assign(array.integers.begin(), array.integers.end());
        array.integers.clear();
    } else if (tensor::is_integer(dtype) && std::ranges::all_of(array.reals, is_whole)) {
        array.integers.insert(array.integers.end(), array.reals.begin(), array.reals.end());
        array.reals.clear();
    } else if (array.size > 0 && tensor::is_real(dtype) != !array.reals.empty()) {
        return array;  // the run reports it
    }
    array.dtype = dtype;
    array.round();
    return array;
}

std::optional<tensor::DType> dtype_of(const ir::Program& program,
                                      const std::vector<ir::Port>& ports,
                                      const std::string& name) {
    for (const ir::Port& port : ports) {
        const auto names = session::item_names(port, port.operand.items.size());
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            if (names[i] == name) return program.tensors[port.operand.items[i]].dtype;
        }
    }
    return std::nullopt;
}

Result<interpret::NamedArrays> CaseRunner::inputs_of(const ir::Program& program,
                                                     const TestStep& step) const {
    std::map<std::string, Array> items;
    const auto& ports = program.graphs[program.main].inputs;
    for (const TestTensor& tensor : step.inputs) {
        const auto dtype = dtype_of(program, ports, tensor.name);
        items[tensor.name] = dtype ? as_dtype(tensor.values, *dtype) : tensor.values;
    }
    LEMMA_TRY(auto inputs, session::gather_inputs(program, std::move(items)));
    const auto missing = session::missing_inputs(program, inputs);
    if (missing.empty()) return inputs;
    return bad(fmt::format("the input `{}` has no value", missing.front()));
}

bool CaseRunner::set_variables(session::Session& session) {
    const ir::Program& program = session.program();
    std::vector<std::string> open;
    for (const ir::Tensor& tensor : program.tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const auto given = std::ranges::find(test_.variables, tensor.name, &TestTensor::name);
        if (given == test_.variables.end()) {
            open.push_back(tensor.name);
            continue;
        }
        const auto done = session.set_variable(tensor.name, as_dtype(given->values, tensor.dtype));
        if (!done) return fail(done.error().message);
    }
    if (!test_.call.empty() && !open.empty())
        return fail(fmt::format(
            "the variable `{}` has no value: add `variable {} = …`", open.front(), open.front()));
    for (const TestTensor& tensor : test_.variables) {
        const bool known = std::ranges::any_of(program.tensors, [&](const ir::Tensor& each) {
            return each.role == ir::TensorRole::Variable && each.name == tensor.name;
        });
        if (!known) return fail(fmt::format("there is no variable `{}`", tensor.name));
    }
    return true;
}

void CaseRunner::compare_one(const TestTensor& want, const Array& got) {
    const Array expected = as_dtype(want.values, got.dtype);
    const auto difference = compare(want.name, got, expected, test_.tolerance);
    if (difference) fail(difference->text, values_text(expected), values_text(got));
}

void CaseRunner::compare_outputs(const session::Session& session,
                                 const interpret::NamedArrays& outputs,
                                 const TestStep& step) {
    std::map<std::string, const Array*> items;
    for (const ir::Port& port : session.outputs()) {
        const auto found = outputs.find(port.name);
        if (found == outputs.end()) continue;
        const auto names = session::item_names(port, found->second.size());
        for (size_t i = 0; i < names.size(); ++i) items[names[i]] = &found->second[i];
    }
    for (const TestTensor& want : step.outputs) {
        const auto got = items.find(want.name);
        if (got == items.end()) {
            fail(fmt::format("there is no output `{}`", want.name));
        } else {
            compare_one(want, *got->second);
        }
    }
    for (const TestTensor& want : step.after) {
        const Array* const got = session.variable(want.name);
        if (!got) {
            fail(fmt::format("there is no variable `{}`", want.name));
        } else {
            compare_one(want, *got);
        }
    }
}

bool CaseRunner::run_step(session::Session& session, const TestStep& step) {
    const auto inputs = inputs_of(session.program(), step);
    if (!inputs) return fail(inputs.error().message);
    const auto outputs = session.step(*inputs, finding_);
    if (!outputs) return stop(step.error);
    if (step.error)
        return fail(fmt::format("expected the error `{}`, but it ran", step.error->kind));
    compare_outputs(session, *outputs, step);
    return failures_.empty();
}

std::vector<TestFailure> CaseRunner::run() {
    const auto path = prepare();
    if (!path) {
        fail(path.error().message);
        return std::move(failures_);
    }
    finding_.model = *path;
    const auto session = session::Session::open(*path, session_options_, finding_);
    if (!session) {
        stop(test_.steps.front().error);
        return std::move(failures_);
    }
    if (!set_variables(*session)) return std::move(failures_);
    for (const TestStep& step : test_.steps) {
        if (!run_step(*session, step)) break;
    }
    return std::move(failures_);
}

}  // namespace

std::vector<TestFailure> run_test_case(const TestCase& test, const TestOptions& options) {
    std::vector<TestFailure> all;
    for (const EngineKind engine : options.engines) {
        for (TestFailure& failure : CaseRunner(test, options, engine).run()) {
            const auto same = std::ranges::find_if(all, [&](const TestFailure& each) {
                return each.message == failure.message && each.found == failure.found;
            });
            if (same == all.end()) {
                all.push_back(std::move(failure));
            } else {
                same->engine += ", " + failure.engine;
            }
        }
    }
    return all;
}

}  // namespace lemma::driver
