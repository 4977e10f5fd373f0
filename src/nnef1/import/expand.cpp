// SPDX-License-Identifier: Apache-2.0
// Expands the graph and the bodies of fragments, assignment by assignment.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/match.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

Imported import_document(const Model& model,
                         const ImportOptions& options,
                         ir::CallBuilder& builder,
                         Diagnostics& calls,
                         Diagnostics& diag) {
    return Expander(model, options, builder, calls, diag).expand();
}

Imported Expander::expand() {
    LEMMA_CHECK(document_.graph.has_value());
    Frame frame;
    declare_symbols();
    expand_body(document_.graph->body, frame);
    report_unsupported();
    const bool complete = !diag_.has_errors() && !imported_.custom.valid() && !stopped_;
    if (complete && knows_ports()) imported_.program = finish();
    return std::move(imported_);
}

// Shapes may depend on runtime symbols; the graph then has no program.
bool Expander::knows_ports() {
    for (const auto* names : {&document_.graph->params, &document_.graph->results}) {
        for (const Name& name : *names) {
            if (imported_.tensors.contains(std::string(name.text))) continue;
            imported_.custom = name.span;
            imported_.custom_name = std::string(name.text);
            return false;
        }
    }
    return true;
}

std::optional<ir::Program> Expander::finish() {
    const auto ports = [&](const std::vector<Name>& names) {
        std::vector<ir::Port> result;
        for (const Name& name : names) {
            const ir::TensorId id = imported_.tensors.at(std::string(name.text));
            result.push_back({std::string(name.text), ir::Operand::single(id)});
        }
        return result;
    };
    ir::Graph graph{.name = std::string(document_.graph->name.text),
                    .inputs = ports(document_.graph->params),
                    .outputs = ports(document_.graph->results),
                    .operations = {}};
    auto program = builder_.finish(std::move(graph), std::move(updates_));
    if (program) name_tensors(*program);
    return program;
}

// Tensors named in the graph keep their names; other names change on a conflict.
void Expander::name_tensors(ir::Program& program) const {
    std::set<std::string, std::less<>> names;
    for (const ir::Tensor& tensor : program.tensors) names.insert(tensor.name);
    std::set<std::string, std::less<>> wanted;
    for (const auto& [id, name] : named_) wanted.insert(name);
    for (uint32_t i = 0; i < program.tensors.size(); ++i) {
        ir::Tensor& tensor = program.tensors[make_id<ir::TensorId>(i)];
        if (named_.contains(i) || !wanted.contains(tensor.name)) continue;
        std::string other;
        for (int number = 1; other.empty() || names.contains(other); ++number) {
            other = fmt::format("{}_{}", tensor.name, number);
        }
        names.insert(other);
        tensor.name = std::move(other);
    }
    for (const auto& [id, name] : named_) program.tensors[make_id<ir::TensorId>(id)].name = name;
}

void Expander::expand_body(const Body& body, Frame& frame) {
    for (const Assignment& assignment : body.assignments) {
        if (stopped_ || diag_.full()) return;
        bind(assignment.target, value_for(assignment.target, assignment.value, frame), frame);
    }
}

// The value of an expression that is assigned as a whole.
Value Expander::value_for(ExprId target, ExprId value, Frame& frame) {
    value = bare(value);
    const auto& node = expr(value).node;
    if (const auto* branch = std::get_if<IfElse>(&node)) return eval_branch(*branch, target, frame);
    if (const Invocation* call = document_.invocation(expr(value))) {
        return invoke(value, *call, target, frame);
    }
    if (model_.checked.operations[value]) {
        if (const auto* unary = std::get_if<Unary>(&node)) {
            return apply(value, {unary->operand}, target, frame);
        }
        const auto& binary = std::get<Binary>(node);
        return apply(value, {binary.lhs, binary.rhs}, target, frame);
    }
    const auto* tuple = std::get_if<Tuple>(&node);
    const auto* names = std::get_if<Tuple>(&expr(target).node);
    if (!tuple || !names || tuple->items.size() != names->items.size()) return eval(value, frame);
    Values values;
    for (size_t i = 0; i < tuple->items.size(); ++i) {
        values.push_back(
            value_for(document_.items(names->items)[i], document_.items(tuple->items)[i], frame));
    }
    return Value::tuple(std::move(values));
}

void Expander::bind(ExprId target, const Value& value, Frame& frame) {
    const auto each = [&](Slice<ExprId> slice) {
        const auto targets = document_.items(slice);
        const Values* const items = value.items();
        if (items && items->size() != targets.size()) {
            report(expr(target).span,
                   DiagKind::ResultCount,
                   fmt::format("{} value{} assigned to {} name{}",
                               items->size(),
                               items->size() == 1 ? " is" : "s are",
                               targets.size(),
                               targets.size() == 1 ? "" : "s"),
                   frame)
                .note(
                    "NNEF 1.0.4, 3.3.2: the left-hand side must be structurally equivalent to "
                    "what is assigned");
        }
        for (size_t i = 0; i < targets.size(); ++i) {
            bind(targets[i], items && i < items->size() ? (*items)[i] : Value{}, frame);
        }
    };
    match(
        expr(target).node,
        [&](const Identifier& name) { bind_name(target, name.name, value, frame); },
        [&](const Array& array) { each(array.items); },
        [&](const Tuple& tuple) { each(tuple.items); },
        [](const auto&) {});
}

void Expander::bind_name(ExprId target, std::string_view name, Value value, Frame& frame) {
    if (!frame.fragment) value = named_tensor(name, value, expr(target).span);
    frame.values[name] = std::move(value);
}

// Each identifier of the graph has its own tensor: `y = x;` is a copy, and `y = 1.0;` a constant.
// Variables with the same label are the same tensor.
Value Expander::named_tensor(std::string_view name, const Value& value, Span span) {
    const std::string text(name);
    Value result = cast(value, ValueType::tensor(std::nullopt), text, span);
    const auto* id = std::get_if<ir::TensorId>(&result.node);
    if (!id) return {};
    if (named_.contains(id->value) && !variable_names_.contains(name)) {
        const auto outputs = builder_.call({.op = "nnef1.copy",
                                            .label = text,
                                            .types = {},
                                            .attributes = {},
                                            .inputs = {ir::Operand::single(*id)},
                                            .results = {text},
                                            .span = span});
        if (!outputs) {
            hand_on_reports({});
            return {};
        }
        result = {outputs->at(0).items.at(0)};
    }
    const ir::TensorId tensor = std::get<ir::TensorId>(result.node);
    // Documents of tract may assign a name twice; the later value counts.
    if (const auto before = imported_.tensors.find(text); before != imported_.tensors.end()) {
        named_.erase(before->second.value);
    }
    named_.emplace(tensor.value, text);
    imported_.tensors[text] = tensor;
    return result;
}

// ---- Trouble ------------------------------------------------------------------------------------

std::vector<diag::Note> Expander::chain(const Frame& frame) const {
    constexpr size_t kMostNotes = 10;
    std::vector<diag::Note> notes;
    for (const Frame* at = &frame; at->fragment && at->caller; at = at->caller) {
        if (notes.size() == kMostNotes) {
            notes.push_back({{}, "… and so on"});
            break;
        }
        notes.push_back(
            {at->call, fmt::format("in `{}`, which is invoked here", at->fragment->name.text)});
    }
    return notes;
}

diag::Report Expander::report(Span span, DiagKind kind, std::string message, const Frame& frame) {
    diag::Diagnostic item{.kind = kind, .span = span, .path = "", .message = std::move(message)};
    item.notes = chain(frame);
    return diag_.add(std::move(item));
}

bool Expander::spend(int64_t work, Span span, const Frame& frame) {
    work_ += work;
    if (work_ <= options_.limits.max_work) return !stopped_;
    if (!stopped_) {
        report(span, DiagKind::TooLarge, "expanding the graph takes too much work", frame)
            .note("`--max-work` raises the limit");
    }
    stopped_ = true;
    return false;
}

bool Expander::fits_length(size_t length, size_t limit, Span span, const Frame& frame) {
    if (length <= limit) return true;
    report(span, DiagKind::TooLarge, "an array or a string would be too long", frame)
        .note("`--max-pack-length` and `--max-string-bytes` raise the limits");
    return false;
}

}  // namespace lemma::nnef1
