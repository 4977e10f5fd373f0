// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "convert/transfer.h"
#include "ir/program/display_name.h"

namespace lemma::convert {

namespace {

constexpr int kMaxDepth = 400;  // nested compounds

// The tensors that have readers.
std::unordered_set<ir::TensorId, IdHash> used_tensors(const ir::Program& program) {
    std::unordered_set<ir::TensorId, IdHash> used;
    const auto use = [&](const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            used.insert(port.operand.items.begin(), port.operand.items.end());
        }
    };
    for (const ir::Operation& op : program.operations) use(op.inputs);
    for (const ir::Graph& graph : program.graphs) use(graph.outputs);
    for (const ir::Update& update : program.updates) used.insert(update.value);
    return used;
}

template <class Predicate>
bool all_outputs(const ir::Operation& op, Predicate&& holds) {
    return std::ranges::all_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::all_of(port.operand.items, holds);
    });
}

// One attempt. It records the compounds whose translation does not fit, for the next attempt.
class Rewriter {
public:
    Rewriter(const ir::Program& program,
             const Target& target,
             const std::set<ir::OpId>& taken_apart,
             Diagnostics& diag)
        : program_(program),
          target_(target),
          taken_apart_(taken_apart),
          diag_(diag),
          used_(used_tensors(program)),
          builder_(target.builder(trouble_)),
          transfer_(program, *builder_) {}

    std::optional<RewrittenProgram> run();
    // Compounds that the next attempt writes as their parts.
    const std::set<ir::OpId>& unfit() const { return unfit_; }

private:
    void operations(const std::vector<ir::OpId>& list, int depth);
    void operation(ir::OpId id, int depth);
    void translate(ir::OpId id, const Translation& translation);
    void stay(const ir::Operation& op);
    void control(const ir::Operation& op, int depth);
    ir::GraphId graph(ir::GraphId id, int depth);
    bool call(const ir::Operation& op, const Translation& translation);
    std::optional<RewrittenProgram> finish(ir::Graph graph);
    void keep_names(ir::Program& program) const;
    std::string reason_since(size_t before) const;
    void cannot(const ir::Operation& op, std::string message);

    const ir::Program& program_;
    const Target& target_;
    const std::set<ir::OpId>& taken_apart_;
    Diagnostics& diag_;
    std::unordered_set<ir::TensorId, IdHash> used_;
    Diagnostics trouble_{0};
    std::unique_ptr<ir::CallBuilder> builder_;
    Transfer transfer_;
    std::set<ir::OpId> unfit_;
    // The places of new operations. Reports about a translation name the place of the operation.
    std::vector<Span> places_;
};

std::optional<RewrittenProgram> Rewriter::run() {
    const size_t errors = diag_.error_count();
    const ir::Graph& main = program_.graphs[program_.main];
    ir::Graph graph;
    graph.name = program_.name;
    for (const ir::Port& port : main.inputs)
        graph.inputs.push_back({port.name, transfer_.operand(port.operand)});
    operations(main.operations, 0);
    for (const ir::Port& port : main.outputs)
        graph.outputs.push_back({port.name, transfer_.operand(port.operand)});
    if (diag_.error_count() > errors || !unfit_.empty()) return std::nullopt;
    return finish(std::move(graph));
}

std::optional<RewrittenProgram> Rewriter::finish(ir::Graph graph) {
    std::vector<ir::Update> updates;
    for (const ir::Update& update : program_.updates)
        updates.push_back({transfer_.tensor(update.variable), transfer_.tensor(update.value)});
    std::vector<std::pair<ir::TensorId, ir::Quantizer>> quantizers;
    for (const auto& [from, to] : transfer_.tensors()) {
        if (!program_.tensors[from].quantizer) continue;
        quantizers.emplace_back(to, *program_.tensors[from].quantizer);
        for (ir::Attribute& attribute : quantizers.back().second.attributes)
            attribute.value = transfer_.value(attribute.value);
    }
    auto program = builder_->finish(std::move(graph), std::move(updates));
    if (!program) return std::nullopt;
    RewrittenProgram result{.program = std::move(*program), .variables = {}};
    for (uint32_t i = 0; i < places_.size(); ++i)
        result.program.operations[make_id<ir::OpId>(i)].span = places_[i];
    for (auto& [id, quantizer] : quantizers)
        result.program.tensors[id].quantizer = std::move(quantizer);
    keep_names(result.program);
    for (const auto& [from, to] : transfer_.tensors()) {
        if (program_.tensors[from].role == ir::TensorRole::Variable)
            result.variables[result.program.tensors[to].name] = from;
    }
    return result;
}

// A result keeps the name it had before the translation.
void Rewriter::keep_names(ir::Program& program) const {
    std::set<std::string> names;
    for (const ir::Tensor& tensor : program.tensors) names.insert(tensor.name);
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto from = make_id<ir::TensorId>(i);
        const auto to = transfer_.tensors().find(from);
        if (to == transfer_.tensors().end()) continue;
        ir::Tensor& made = program.tensors[to->second];
        if (made.role != ir::TensorRole::Intermediate) continue;
        const std::string& name = program_.tensors[from].name;
        if (names.insert(name).second) made.name = name;
    }
}

void Rewriter::cannot(const ir::Operation& op, std::string message) {
    auto report = diag_.error(op.span, DiagKind::NotSupported, std::move(message));
    if (!op.label.empty()) report.note(fmt::format("in the operation `{}`", op.label));
    transfer_.outputs_as_they_are(op);
}

void Rewriter::operations(const std::vector<ir::OpId>& list, int depth) {
    for (const ir::OpId id : list) operation(id, depth);
}

void Rewriter::operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    if (depth > kMaxDepth) return cannot(op, "operations are nested too deep to be written");
    if (op.kind == ir::OperationKind::Control) return control(op, depth + 1);
    // A compound may pass on a tensor that exists already.
    const bool known = all_outputs(op, [&](ir::TensorId t) { return transfer_.is_known(t); });
    if (known && !op.outputs.empty()) return;
    if (target_.has(op)) return stay(op);
    if (!taken_apart_.contains(id)) {
        if (const auto translation = target_.translation(op)) return translate(id, *translation);
    }
    if (op.compound()) return operations(op.parts, depth + 1);
    // For example the indices of a pool, if only its values are used.
    if (all_outputs(op, [&](ir::TensorId t) { return !used_.contains(t); })) return;
    // It may have no readers. If it has one, the reader is reported.
    if (op.op == "constant") return;
    cannot(op, target_.why_not(op));
}

bool Rewriter::call(const ir::Operation& op, const Translation& translation) {
    ir::Call call;
    call.op = translation.op;
    call.label = op.label;
    call.types = translation.types;
    call.span = op.span;
    for (const ir::Attribute& attribute : translation.attributes)
        call.attributes.push_back({attribute.name, transfer_.value(attribute.value)});
    for (const ir::Operand& input : translation.inputs)
        call.inputs.push_back(transfer_.operand(input));
    while (!call.inputs.empty() && call.inputs.back().null()) call.inputs.pop_back();
    for (const ir::Port& port : op.outputs) {
        const bool single = !port.operand.packed && port.operand.items.size() == 1;
        call.results.push_back(single ? program_.tensors[port.operand.items[0]].name : "");
    }
    const auto results = builder_->call(call);
    places_.resize(builder_->program().operations.size(), op.span);
    return results && transfer_.take_outputs(op, *results);
}

// The first of the reports that came after the first `before`.
std::string Rewriter::reason_since(size_t before) const {
    const auto& items = trouble_.items();
    return items.size() > before ? ": " + items[before].message : "";
}

void Rewriter::translate(ir::OpId id, const Translation& translation) {
    const ir::Operation& op = program_.operations[id];
    const size_t before = trouble_.items().size();
    if (call(op, translation)) return;
    if (op.compound()) {
        unfit_.insert(id);
        return transfer_.outputs_as_they_are(op);
    }
    cannot(op,
           fmt::format("`{}` cannot be written as {}{}",
                       ir::display_name(op.op),
                       target_.format(),
                       reason_since(before)));
}

// The format has the operation, or its writer handles it.
void Rewriter::stay(const ir::Operation& op) {
    const size_t dot = op.op.rfind('.');
    const std::string module = op.op.substr(0, dot);
    Translation same{.op = module.substr(0, module.rfind('.')) + op.op.substr(dot),
                     .types = {},
                     .attributes = given_attributes(op),
                     .inputs = {}};
    for (const auto& [name, dtype] : op.dtypes) same.types.push_back(dtype);
    for (const ir::Port& port : op.inputs) same.inputs.push_back(port.operand);
    const size_t before = trouble_.items().size();
    if (call(op, same)) return;
    cannot(op,
           fmt::format(
               "`{}` cannot be written again{}", ir::display_name(op.op), reason_since(before)));
}

// ---- Control flow -------------------------------------------------------------------------------

ir::GraphId Rewriter::graph(ir::GraphId id, int depth) {
    if (!id.valid()) return {};
    builder_->begin_graph();
    const ir::Graph& from = program_.graphs[id];
    operations(from.operations, depth);
    ir::Graph to;
    to.name = from.name;
    for (const ir::Port& port : from.outputs)
        to.outputs.push_back({port.name, transfer_.operand(port.operand)});
    return builder_->end_graph(std::move(to));
}

void Rewriter::control(const ir::Operation& op, int depth) {
    if (!target_.has_control_flow()) return cannot(op, target_.why_not(op));
    ir::Operation made;
    made.kind = op.kind;
    made.op = op.op;
    made.label = op.label;
    made.span = op.span;
    for (const ir::Port& port : op.inputs)
        made.inputs.push_back({port.name, transfer_.operand(port.operand)});
    if (const auto* const from = std::get_if<ir::Branch>(&op.control)) {
        ir::Branch to;
        for (const ir::Branch::Arm& arm : from->arms)
            to.arms.push_back({graph(arm.condition, depth), graph(arm.consequent, depth)});
        to.alternative = graph(from->alternative, depth);
        made.control = std::move(to);
    }
    if (const auto* const from = std::get_if<ir::Loop>(&op.control)) {
        ir::Loop to;
        for (const ir::TensorId id : from->carried) to.carried.push_back(transfer_.new_tensor(id));
        for (const ir::TensorId id : from->items) to.items.push_back(transfer_.new_tensor(id));
        if (from->index.valid()) to.index = transfer_.new_tensor(from->index);
        if (from->static_count.valid()) to.static_count = transfer_.symbol(from->static_count);
        if (from->dynamic_count.valid()) to.dynamic_count = transfer_.tensor(from->dynamic_count);
        to.pre_condition = graph(from->pre_condition, depth);
        to.body = graph(from->body, depth);
        to.post_condition = graph(from->post_condition, depth);
        made.control = std::move(to);
    }
    transfer_.outputs_as_they_are(op);
    for (const ir::Port& port : op.outputs)
        made.outputs.push_back({port.name, transfer_.operand(port.operand)});
    builder_->add_control(std::move(made));
    places_.resize(builder_->program().operations.size(), op.span);
}

bool has_other(const ir::Program& program, const Target& target, ir::GraphId id, int depth) {
    if (!id.valid()) return false;
    return depth > kMaxDepth ||
           std::ranges::any_of(program.graphs[id].operations, [&](ir::OpId each) {
               const ir::Operation& op = program.operations[each];
               const auto inside = [&](ir::GraphId part) {
                   return has_other(program, target, part, depth + 1);
               };
               if (const auto* const branch = std::get_if<ir::Branch>(&op.control)) {
                   return inside(branch->alternative) ||
                          std::ranges::any_of(branch->arms, [&](const ir::Branch::Arm& arm) {
                              return inside(arm.condition) || inside(arm.consequent);
                          });
               }
               if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
                   return inside(loop->pre_condition) || inside(loop->body) ||
                          inside(loop->post_condition);
               }
               return !target.has(op);
           });
}

}  // namespace

bool needs_rewriting(const ir::Program& program, const Target& target) {
    return has_other(program, target, program.main, 0);
}

std::optional<RewrittenProgram> rewrite(const ir::Program& program,
                                        const Target& target,
                                        Diagnostics& diag) {
    std::set<ir::OpId> taken_apart;
    while (true) {
        Diagnostics found;
        Rewriter rewriter(program, target, taken_apart, found);
        auto result = rewriter.run();
        if (!result && !rewriter.unfit().empty()) {
            taken_apart.insert(rewriter.unfit().begin(), rewriter.unfit().end());
            continue;
        }
        for (const diag::Diagnostic& item : found.items()) diag.add(item);
        return result;
    }
}

std::vector<ir::Operand> inputs_by_name(const ir::Operation& op,
                                        const std::vector<std::string_view>& names) {
    std::vector<ir::Operand> inputs;
    for (const std::string_view name : names) {
        const auto found = std::ranges::find_if(
            op.inputs, [&](const ir::Port& port) { return port.name == name; });
        inputs.push_back(found == op.inputs.end() ? ir::Operand{} : found->operand);
    }
    return inputs;
}

std::vector<ir::Attribute> given_attributes(const ir::Operation& op) {
    std::vector<ir::Attribute> given;
    for (const ir::Attribute& attribute : op.attributes) {
        if (!std::holds_alternative<ir::Null>(attribute.value)) given.push_back(attribute);
    }
    return given;
}

}  // namespace lemma::convert
