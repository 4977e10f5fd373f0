// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "diag/render.h"
#include "driver/progress.h"
#include "ir/program/display_name.h"
#include "session/tensors.h"
#include "show/cost.h"
#include "show/types.h"
#include "tensor/convert.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using Arrays = std::map<std::string, interpret::Array>;

// All intermediate tensors are in memory, in double.
constexpr int64_t kMostElements = int64_t{1} << 30;
// Roundings of f32 that sums with cancellation may have, as a share of the largest value.
constexpr double kRoundings = 1e-6;

// One engine with a model, and the tensors of its last step by name.
struct Side {
    std::unique_ptr<session::Session> session;
    model::Finding finding{.model = "", .diag = Diagnostics()};
    Arrays made;
    interpret::NamedArrays outputs;
};

// ---- Differences --------------------------------------------------------------------------------

double largest_value(const interpret::Array& array) {
    double largest = 0;
    for (const double value : array.reals) {
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
    return largest;
}

class Comparison {
public:
    Comparison(Tolerance tolerance, bool exact_absolute)
        : tolerance_(tolerance), exact_absolute_(exact_absolute) {}

    std::optional<Difference> beyond(const std::string& name,
                                     const interpret::Array& got,
                                     const interpret::Array& want) const {
        Tolerance tolerance = tolerance_;
        if (!exact_absolute_)
            tolerance.absolute = std::max(tolerance.absolute, kRoundings * largest_value(want));
        return compare(name, got, want, tolerance);
    }
    static double largest(const interpret::Array& got, const interpret::Array& want) {
        const auto difference = compare("", got, want, {.relative = 0, .absolute = 0});
        return difference ? difference->amount : 0;
    }

private:
    Tolerance tolerance_;
    bool exact_absolute_;
};

// ---- The search ---------------------------------------------------------------------------------

class Bisection {
public:
    Bisection(const PreparedCase& prepared,
              const BisectOptions& options,
              const Terminal& terminal,
              BisectResult& result)
        : prepared_(prepared),
          terminal_(terminal),
          result_(result),
          comparison_(prepared.tolerance, options.absolute_given) {}

    void run();

private:
    using Chosen = std::function<std::vector<ir::TensorId>(const ir::Program&)>;
    bool open(Side& side, session::EngineKind engine, const Chosen& chosen);
    bool step(Side& side, int64_t number);
    bool unusable(const Side& side);
    bool fail(Error error) {
        result_.unusable = std::move(error);
        return false;
    }
    bool check_size(const ir::Program& program);
    bool read_recorded(const ir::Program& program, int64_t step);
    void align_reference();
    void count(const ir::Program& program);

    const interpret::Array* expected(const ir::Program& program, ir::TensorId id) const;
    std::optional<Difference> difference(const ir::Program& program, ir::TensorId id) const;
    bool differs(const ir::Program& program, const ir::Operation& op) const;
    ir::OpId first_of(const ir::Program& program, const std::vector<ir::OpId>& ops) const;
    void blame(const ir::Program& program, ir::OpId outermost, int64_t step);
    void add_inputs(const ir::Program& program, const ir::Operation& op, Culprit& culprit) const;
    void add_captured(const ir::Program& program,
                      const std::vector<ir::OpId>& ops,
                      Culprit& culprit) const;
    InputGap gap(const ir::Program& program, ir::TensorId id, std::string name) const;
    void search_fused(const ir::Program& program);
    bool outputs_differ(const Side& plain) const;

    const PreparedCase& prepared_;
    const Terminal& terminal_;
    BisectResult& result_;
    Comparison comparison_;
    Side subject_, reference_;
    Arrays recorded_;
};

std::vector<ir::TensorId> all_made(const ir::Program& program) {
    return session::made_tensors(program).outside;
}

bool Bisection::unusable(const Side& side) {
    if (side.finding.unusable) return fail(*side.finding.unusable);
    std::string text = diag::render(side.finding.sources, side.finding.diag, {.brief = true});
    while (text.ends_with('\n')) text.pop_back();
    result_.problems.push_back(std::move(text));
    return false;
}

bool Bisection::open(Side& side, session::EngineKind engine, const Chosen& chosen) {
    session::SessionOptions options = prepared_.session;
    options.engine = engine;
    show_progress(terminal_, options);
    if (chosen) {
        options.keep.choose =
            [chosen](const ir::Program& program) -> Result<std::vector<ir::TensorId>> {
            return chosen(program);
        };
        options.keep.receive = [&side](const ir::Tensor& tensor,
                                       const interpret::Array& array) -> Result<void> {
            side.made[tensor.name] = array;
            return {};
        };
    }
    side.finding.model = prepared_.model;
    side.session = session::Session::open(prepared_.model, options, side.finding);
    return side.session != nullptr || unusable(side);
}

bool Bisection::step(Side& side, int64_t number) {
    side.made.clear();
    auto inputs = prepared_.inputs(side.session->program(), number);
    if (!inputs) return fail(inputs.error());
    auto outputs = side.session->step(*inputs, side.finding);
    if (!outputs) return unusable(side);
    side.outputs = std::move(*outputs);
    return true;
}

bool Bisection::check_size(const ir::Program& program) {
    show::Amount elements;
    for (const ir::TensorId id : all_made(program)) elements += show::volume(program, id);
    if (elements.value <= kMostElements) return true;
    return fail(Error{fmt::format(
        "the intermediate tensors have {} elements, more than {}; compare a part of the model",
        elements.value,
        kMostElements)});
}

bool Bisection::read_recorded(const ir::Program& program, int64_t step) {
    recorded_.clear();
    std::error_code ignored;
    fs::path folder = result_.against;
    if (fs::is_directory(folder / std::to_string(step), ignored)) folder /= std::to_string(step);
    for (const ir::TensorId id : all_made(program)) {
        const std::string& name = program.tensors[id].name;
        const std::string file = session::find_file(folder.string(), name);
        if (!fs::exists(file, ignored)) continue;
        auto array = session::read_array(file);
        if (!array) return fail(array.error());
        recorded_[name] = std::move(*array);
    }
    if (!recorded_.empty()) return true;
    return fail(
        Error{fmt::format("`{}` has no file of a tensor of this model; `lemma run "
                          "--dump=DIR` writes such files",
                          result_.against)});
}

// The interpreter keeps tensors inside of standard operators in double.
void Bisection::align_reference() {
    for (auto& [name, want] : reference_.made) {
        const auto got = subject_.made.find(name);
        if (got == subject_.made.end() || got->second.dtype == want.dtype) continue;
        if (!tensor::is_real(want.dtype) || !tensor::is_real(got->second.dtype)) continue;
        want.dtype = got->second.dtype;
        want.round();
    }
}

void Bisection::count(const ir::Program& program) {
    const auto made = all_made(program);
    result_.made = made.size();
    result_.compared = static_cast<size_t>(std::ranges::count_if(made, [&](ir::TensorId id) {
        return expected(program, id) && subject_.made.contains(program.tensors[id].name);
    }));
}

const interpret::Array* Bisection::expected(const ir::Program& program, ir::TensorId id) const {
    const Arrays& arrays = reference_.session ? reference_.made : recorded_;
    const auto found = arrays.find(program.tensors[id].name);
    return found == arrays.end() ? nullptr : &found->second;
}

std::optional<Difference> Bisection::difference(const ir::Program& program, ir::TensorId id) const {
    const interpret::Array* const want = expected(program, id);
    const std::string& name = program.tensors[id].name;
    const auto got = subject_.made.find(name);
    if (!want || got == subject_.made.end()) return std::nullopt;
    return comparison_.beyond(name, got->second, *want);
}

bool Bisection::differs(const ir::Program& program, const ir::Operation& op) const {
    return std::ranges::any_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::any_of(port.operand.items, [&](ir::TensorId id) {
            return difference(program, id).has_value();
        });
    });
}

ir::OpId Bisection::first_of(const ir::Program& program, const std::vector<ir::OpId>& ops) const {
    const auto found = std::ranges::find_if(
        ops, [&](ir::OpId id) { return differs(program, program.operations[id]); });
    return found == ops.end() ? ir::OpId{} : *found;
}

// ---- The culprit --------------------------------------------------------------------------------

std::string place_of(const diag::SourceMap& sources, Span span) {
    if (!span.file.valid()) return {};
    if (sources.is_binary(span.file)) return std::string(sources.text(span));
    const diag::LineColumn place = sources.place(span.file, span.begin);
    return fmt::format("{}:{}:{}", sources.name(span.file), place.line, place.column);
}

NamedOperation named(const diag::SourceMap& sources, const ir::Operation& op) {
    return {.op = op.op,
            .title = ir::display_name(op.op),
            .label = op.label,
            .place = place_of(sources, op.span)};
}

std::vector<int64_t> position(const tensor::Shape& shape, int64_t element) {
    std::vector<int64_t> at(shape.size());
    for (size_t axis = shape.size(); axis-- > 0 && element >= 0;) {
        at[axis] = element % std::max<int64_t>(shape[axis], 1);
        element /= std::max<int64_t>(shape[axis], 1);
    }
    return at;
}

InputGap Bisection::gap(const ir::Program& program, ir::TensorId id, std::string name) const {
    using Kind = InputGap::Kind;
    const ir::Tensor& tensor = program.tensors[id];
    InputGap gap{.name = std::move(name), .tensor = tensor.name};
    if (tensor.role != ir::TensorRole::Intermediate) return gap;
    const interpret::Array* const want = expected(program, id);
    const auto got = subject_.made.find(tensor.name);
    const bool known = want && got != subject_.made.end();
    gap.kind = known ? Kind::Compared : Kind::Unknown;
    if (known) gap.difference = Comparison::largest(got->second, *want);
    return gap;
}

void Bisection::add_inputs(const ir::Program& program,
                           const ir::Operation& op,
                           Culprit& culprit) const {
    for (const ir::Port& port : op.inputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const bool packed = port.operand.packed;
            culprit.inputs.push_back(gap(program,
                                         port.operand.items[i],
                                         packed ? fmt::format("{}.{}", port.name, i) : port.name));
        }
    }
    for (const show::Body& body : show::bodies(op))
        add_captured(program, program.graphs[body.graph].operations, culprit);
}

// The tensors from outside that the bodies of control flow read. Those made inside are unknown.
void Bisection::add_captured(const ir::Program& program,
                             const std::vector<ir::OpId>& ops,
                             Culprit& culprit) const {
    constexpr size_t kMost = 32;
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program.operations[id];
        for (const ir::Port& port : op.inputs) {
            for (const ir::TensorId item : port.operand.items) {
                InputGap read = gap(program, item, "read inside");
                const bool known = std::ranges::any_of(culprit.inputs, [&](const InputGap& each) {
                    return each.tensor == read.tensor;
                });
                if (read.kind == InputGap::Kind::Unknown || known) continue;
                if (program.tensors[item].role == ir::TensorRole::Constant) continue;
                if (culprit.inputs.size() < kMost) culprit.inputs.push_back(std::move(read));
            }
        }
        for (const show::Body& body : show::bodies(op))
            add_captured(program, program.graphs[body.graph].operations, culprit);
    }
}

// Follows the first difference into compounds: first in the model's own text, then in the standard
// operators that it calls.
void Bisection::blame(const ir::Program& program, ir::OpId outermost, int64_t step) {
    const diag::SourceMap& sources = subject_.finding.sources;
    const auto& main = program.graphs[program.main].operations;
    ir::OpId blamed = outermost, deepest = outermost;
    while (program.operations[deepest].compound()) {
        const ir::OpId part = first_of(program, program.operations[deepest].parts);
        if (!part.valid()) break;
        const bool own =
            blamed == deepest && show::in_model(&sources, program.operations[part].span);
        deepest = part;
        if (own) blamed = part;
    }
    const ir::Operation& op = program.operations[blamed];
    Culprit culprit;
    culprit.operation = named(sources, op);
    if (deepest != blamed) culprit.part = named(sources, program.operations[deepest]);
    culprit.number = static_cast<size_t>(std::ranges::find(main, outermost) - main.begin());
    culprit.total = main.size();
    culprit.step = step;
    show::TypeNames types(program);
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            auto found = difference(program, id);
            if (!found || !culprit.tensor.empty()) continue;
            culprit.tensor = program.tensors[id].name;
            culprit.type = types.tensor(id);
            if (found->element >= 0)
                culprit.at = position(expected(program, id)->shape, found->element);
            culprit.difference = std::move(*found);
        }
    }
    for (const show::Body& body : show::bodies(op))
        culprit.inside += program.graphs[body.graph].operations.size();
    if (op.kind == ir::OperationKind::Control) culprit.construct = op.op;
    add_inputs(program, op, culprit);
    result_.culprit = std::move(culprit);
}

// ---- Differences that vanish with the intermediate tensors ----------------------------------

bool Bisection::outputs_differ(const Side& plain) const {
    for (const auto& [name, arrays] : plain.outputs) {
        const auto want = reference_.outputs.find(name);
        if (want == reference_.outputs.end() || want->second.size() != arrays.size()) continue;
        for (size_t i = 0; i < arrays.size(); ++i) {
            if (comparison_.beyond(name, arrays[i], want->second[i])) return true;
        }
    }
    return false;
}

// Compiled code that returns all tensors fuses less. If it agrees, but the usual code does not,
// keeps the results of one operation at a time and halves the range of candidates.
void Bisection::search_fused(const ir::Program& program) {
    Side plain;
    if (!open(plain, session::EngineKind::Jit, {}) || !step(plain, 0) || !outputs_differ(plain))
        return;
    const auto& main = program.graphs[program.main].operations;
    size_t low = 0, high = main.size();  // the last operation before `high` differs
    std::optional<Culprit> found;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        show_stage(terminal_, fmt::format("keeping the results of operation {}", middle));
        subject_ = Side{};
        const auto one = [middle](const ir::Program& each) {
            std::vector<ir::TensorId> kept;
            const ir::OpId id = each.graphs[each.main].operations[middle];
            for (const ir::Port& port : each.operations[id].outputs) {
                for (const ir::TensorId item : port.operand.items) {
                    if (each.tensors[item].role == ir::TensorRole::Intermediate)
                        kept.push_back(item);
                }
            }
            return kept;
        };
        if (!open(subject_, session::EngineKind::Jit, one) || !step(subject_, 0)) return;
        const ir::Program& kept = subject_.session->program();
        if (differs(kept, kept.operations[main[middle]])) {
            blame(kept, main[middle], 0);
            found = std::exchange(result_.culprit, std::nullopt);
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (!found) return;
    found->only_fused = true;
    result_.culprit = std::move(found);
}

void Bisection::run() {
    const bool recorded = result_.against != kAgainstInterpreter;
    const session::EngineKind asked = prepared_.session.engine;
    if (!recorded && asked == session::EngineKind::Interpret) {
        fail(
            Error{"the interpreter would be compared with itself; `--against=DIR` compares it with "
                  "recorded tensors"});
        return;
    }
    show_stage(terminal_, "loading " + prepared_.model);
    if (!open(subject_, recorded ? asked : session::EngineKind::Jit, all_made)) return;
    if (!check_size(subject_.session->program())) return;
    if (!recorded && !open(reference_, session::EngineKind::Interpret, all_made)) return;
    const ir::Program& program = subject_.session->program();
    for (int64_t number = 0; number < prepared_.steps; ++number) {
        if (!step(subject_, number)) return;
        if (recorded ? !read_recorded(program, number) : !step(reference_, number)) return;
        align_reference();
        count(program);
        const ir::OpId first = first_of(program, program.graphs[program.main].operations);
        if (!first.valid()) continue;
        blame(program, first, number);
        return;
    }
    if (!recorded && prepared_.steps == 1) search_fused(reference_.session->program());
}

}  // namespace

double Culprit::largest_input() const {
    double largest = 0;
    for (const InputGap& gap : inputs) largest = std::max(largest, gap.difference);
    return largest;
}

bool Culprit::inputs_known() const {
    return std::ranges::none_of(
        inputs, [](const InputGap& gap) { return gap.kind == InputGap::Kind::Unknown; });
}

BisectResult bisect(const std::string& name,
                    const PreparedCase& prepared,
                    const BisectOptions& options,
                    const Terminal& terminal) {
    BisectResult result{.name = name,
                        .against = options.against,
                        .tolerance = prepared.tolerance,
                        .culprit = {},
                        .unusable = {},
                        .problems = {},
                        .failures = {}};
    std::error_code ignored;
    if (result.against.empty()) {
        const fs::path inside = fs::path(name) / kRecorded;
        result.against = fs::is_directory(inside, ignored) ? inside.string() : kAgainstInterpreter;
    }
    Bisection(prepared, options, terminal, result).run();
    return result;
}

}  // namespace lemma::driver
