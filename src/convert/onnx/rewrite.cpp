#include "convert/onnx/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "convert/onnx/transfer.h"
#include "onnx/export.h"
#include "sknd/compose/calls.h"
#include "sknd/modules/modules.h"

namespace lemma::convert {

namespace {

constexpr int kMaxDepth = 400;  // of compounds inside one another

// `to_onnx.math_add` for `math.add`
std::string translation_name(const std::string& op) {
    std::string name = op;
    std::ranges::replace(name, '.', '_');
    return "to_onnx." + name;
}

const ir::Port* find_port(const ir::Operation& op, std::string_view name) {
    const auto found =
        std::ranges::find_if(op.inputs, [&](const ir::Port& port) { return port.name == name; });
    return found == op.inputs.end() ? nullptr : &*found;
}

bool has_name(const std::vector<sknd::ParamDecl>& decls, std::string_view name) {
    return std::ranges::any_of(decls,
                               [&](const sknd::ParamDecl& decl) { return decl.name.text == name; });
}

// What a translation is composed of is told about at the place of the operation.
void place_parts(ir::Program& program,
                 const std::vector<ir::OpId>& parts,
                 const ir::Operation& at) {
    for (const ir::OpId id : parts) {
        ir::Operation& part = program.operations[id];
        part.span = at.span;
        place_parts(program, part.parts, at);
    }
}

// One attempt. Compounds whose translation does not fit are noted, for the next one.
class Rewriter {
public:
    Rewriter(const ir::Program& program,
             const sknd::Package& library,
             const std::set<ir::OpId>& taken_apart,
             Diagnostics& diag)
        : program_(program),
          library_(library),
          taken_apart_(taken_apart),
          diag_(diag),
          builder_(sknd::make_call_builder(library, no_limits(), trouble_)),
          transfer_(program, *builder_) {}

    std::optional<OnnxProgram> run();
    // Compounds that are to be written as their parts.
    const std::set<ir::OpId>& unfit() const { return unfit_; }

private:
    static sknd::ComposeOptions no_limits();
    void operations(const std::vector<ir::OpId>& list, int depth);
    void operation(ir::OpId id, int depth);
    const sknd::Definition* find_definition(const std::string& call) const;
    bool takes(const sknd::Definition& definition, const ir::Operation& op) const;
    void translate(ir::OpId id, const std::string& callee, const sknd::Definition& definition);
    void stay(const ir::Operation& op);
    void control(const ir::Operation& op, int depth);
    ir::GraphId graph(ir::GraphId id, int depth);
    bool call(const ir::Operation& op, ir::Call call);
    void cannot(const ir::Operation& op, std::string message);

    const ir::Program& program_;
    const sknd::Package& library_;
    const std::set<ir::OpId>& taken_apart_;
    Diagnostics& diag_;
    Diagnostics trouble_{0};
    std::unique_ptr<ir::CallBuilder> builder_;
    Transfer transfer_;
    std::set<ir::OpId> unfit_;
};

// The program was composed within the limits that the user gave.
sknd::ComposeOptions Rewriter::no_limits() {
    sknd::ComposeOptions options;
    options.limits.max_pack_length = SIZE_MAX / 4;
    options.limits.max_string_bytes = SIZE_MAX / 4;
    options.limits.max_work = SIZE_MAX / 4;
    return options;
}

std::optional<OnnxProgram> Rewriter::run() {
    const size_t errors = diag_.error_count();
    const ir::Graph& main = program_.graphs[program_.main];
    ir::Graph graph;
    graph.name = program_.name;
    for (const ir::Port& port : main.inputs)
        graph.inputs.push_back({port.name, transfer_.operand(port.operand)});
    operations(main.operations, 0);
    for (const ir::Port& port : main.outputs)
        graph.outputs.push_back({port.name, transfer_.operand(port.operand)});
    std::vector<ir::Update> updates;
    for (const ir::Update& update : program_.updates)
        updates.push_back({transfer_.tensor(update.variable), transfer_.tensor(update.value)});
    if (diag_.error_count() > errors || !unfit_.empty()) return std::nullopt;
    auto program = builder_->finish(std::move(graph), std::move(updates));
    if (!program) return std::nullopt;
    OnnxProgram result{.program = std::move(*program), .variables = {}};
    for (const ir::Graph& each : result.program.graphs) {
        for (const ir::OpId id : each.operations) {
            const ir::Operation at = result.program.operations[id];
            place_parts(result.program, at.parts, at);
        }
    }
    for (const auto& [from, to] : transfer_.tensors()) {
        if (program_.tensors[from].role == ir::TensorRole::Variable)
            result.variables[result.program.tensors[to].name] = from;
    }
    return result;
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
    // A compound may hand on what was there before.
    const bool known = std::ranges::all_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::all_of(port.operand.items,
                                   [&](ir::TensorId t) { return transfer_.is_known(t); });
    });
    if (known && !op.outputs.empty()) return;
    if (onnx::is_written_whole(op)) return stay(op);
    const std::string callee = translation_name(op.op);
    const sknd::Definition* const definition = find_definition(callee);
    if (definition && !taken_apart_.contains(id) && takes(*definition, op))
        return translate(id, callee, *definition);
    if (op.compound()) return operations(op.parts, depth + 1);
    // Nobody may need it: what does is told then.
    if (op.op == "constant") return;
    cannot(op,
           definition ? fmt::format(
                            "ONNX has no operator for `{}` with these inputs and attributes", op.op)
                      : fmt::format("ONNX has no operator for `{}`", op.op));
}

const sknd::Definition* Rewriter::find_definition(const std::string& call) const {
    const std::string name = call.substr(call.rfind('.') + 1);
    for (const sknd::LoadedModule& module : library_.modules) {
        if (!module.name.starts_with("to_onnx.")) continue;
        const auto found = module.definition_index.find(name);
        if (found != module.definition_index.end())
            return &module.module.definitions[found->second];
    }
    return nullptr;
}

// A translation has a place for all that the operation has.
bool Rewriter::takes(const sknd::Definition& definition, const ir::Operation& op) const {
    const bool inputs = std::ranges::all_of(op.inputs, [&](const ir::Port& port) {
        return port.operand.null() || has_name(definition.inputs, port.name);
    });
    return inputs && std::ranges::all_of(op.attributes, [&](const ir::Attribute& attribute) {
               return std::holds_alternative<ir::Null>(attribute.value) ||
                      has_name(definition.attribs, attribute.name);
           });
}

bool Rewriter::call(const ir::Operation& op, ir::Call call) {
    call.label = op.label;
    call.span = op.span;
    for (const ir::Attribute& attribute : op.attributes) {
        if (!std::holds_alternative<ir::Null>(attribute.value))
            call.attributes.push_back({attribute.name, transfer_.value(attribute.value)});
    }
    for (const ir::Port& port : op.outputs) {
        const bool single = !port.operand.packed && port.operand.items.size() == 1;
        call.results.push_back(single ? program_.tensors[port.operand.items[0]].name : "");
    }
    const auto results = builder_->call(call);
    return results && transfer_.take_outputs(op, *results);
}

void Rewriter::translate(ir::OpId id,
                         const std::string& callee,
                         const sknd::Definition& definition) {
    const ir::Operation& op = program_.operations[id];
    ir::Call call;
    call.op = callee;
    for (const sknd::ParamDecl& decl : definition.inputs) {
        const ir::Port* const port = find_port(op, decl.name.text);
        call.inputs.push_back(port ? transfer_.operand(port->operand) : ir::Operand{});
    }
    while (!call.inputs.empty() && call.inputs.back().null()) call.inputs.pop_back();
    for (const sknd::DtypeDecl& decl : definition.dtypes) {
        const auto given = std::ranges::find_if(
            op.dtypes, [&](const auto& dtype) { return dtype.first == decl.name.text; });
        if (given == op.dtypes.end()) break;
        call.types.push_back(given->second);
    }
    const size_t before = trouble_.items().size();
    if (this->call(op, std::move(call))) return;
    if (op.compound()) {
        unfit_.insert(id);
        return transfer_.outputs_as_they_are(op);
    }
    const auto& items = trouble_.items();
    cannot(op,
           fmt::format("`{}` cannot be written as ONNX{}",
                       op.op,
                       items.size() > before ? ": " + items[before].message : ""));
}

// An operation of ONNX, or one that the exporter knows.
void Rewriter::stay(const ir::Operation& op) {
    ir::Call call;
    const size_t dot = op.op.rfind('.');
    const std::string module = op.op.substr(0, dot);
    call.op = module.substr(0, module.rfind('.')) + op.op.substr(dot);
    for (const auto& [name, dtype] : op.dtypes) call.types.push_back(dtype);
    for (const ir::Port& port : op.inputs) call.inputs.push_back(transfer_.operand(port.operand));
    const size_t before = trouble_.items().size();
    if (this->call(op, std::move(call))) return;
    const auto& items = trouble_.items();
    cannot(op,
           fmt::format("`{}` cannot be written again{}",
                       op.op,
                       items.size() > before ? ": " + items[before].message : ""));
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
}

bool has_other(const ir::Program& program, ir::GraphId id, int depth) {
    if (!id.valid()) return false;
    return depth > kMaxDepth ||
           std::ranges::any_of(program.graphs[id].operations, [&](ir::OpId each) {
               const ir::Operation& op = program.operations[each];
               const auto inside = [&](ir::GraphId part) {
                   return has_other(program, part, depth + 1);
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
               return !onnx::is_written_whole(op);
           });
}

}  // namespace

bool needs_rewriting(const ir::Program& program) { return has_other(program, program.main, 0); }

std::optional<OnnxProgram> rewrite_as_onnx(const ir::Program& program, Diagnostics& diag) {
    diag::SourceMap sources;
    Diagnostics trouble;
    const sknd::Package library = sknd::load_library(sources, "to_onnx", trouble);
    LEMMA_CHECK(!trouble.has_errors());
    std::set<ir::OpId> taken_apart;
    while (true) {
        Diagnostics found;
        Rewriter rewriter(program, library, taken_apart, found);
        auto result = rewriter.run();
        if (!result && !rewriter.unfit().empty()) {
            taken_apart.insert(rewriter.unfit().begin(), rewriter.unfit().end());
            continue;
        }
        for (const diag::Diagnostic& item : found.items()) diag.add(item);
        return result;
    }
}

}  // namespace lemma::convert
