// SPDX-License-Identifier: Apache-2.0
// Values that differ in documents of tract: symbols for runtime extents, one type for all tensors,
// and arrays or tensors instead of other types.
#include "nnef1/check/tract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

// ---- Symbols ------------------------------------------------------------------------------------

// `extension tract_symbol B;`, and the older `extension tract_pulse_streaming_symbol;`.
std::string_view declared_symbol(const Extension& extension) {
    if (extension.names.empty()) return "";
    if (extension.names[0].text == "tract_pulse_streaming_symbol") return "S";
    if (extension.names[0].text != "tract_symbol") return "";
    std::string_view name = extension.rest;
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    return name;
}

namespace {

// The names in an expression of numbers. Real extents never nest this deep.
void find_names(const Document& document,
                ExprId id,
                std::map<std::string_view, Span>& found,
                int levels = 500) {
    const Expr& expr = document.exprs[id];
    if (--levels == 0) return;
    if (const auto* name = std::get_if<Identifier>(&expr.node)) {
        found.emplace(name->name, expr.span);
    } else if (const auto* paren = std::get_if<Paren>(&expr.node)) {
        find_names(document, paren->inner, found, levels);
    } else if (const auto* binary = std::get_if<Binary>(&expr.node)) {
        find_names(document, binary->lhs, found, levels);
        find_names(document, binary->rhs, found, levels);
    } else if (const auto* array = std::get_if<Array>(&expr.node)) {
        for (const ExprId item : document.items(array->items)) {
            find_names(document, item, found, levels);
        }
    }
}

// The assigned names, also inside arrays and tuples.
void find_targets(const Document& document, ExprId id, std::set<std::string_view>& found) {
    const auto& node = document.exprs[id].node;
    if (const auto* name = std::get_if<Identifier>(&node)) found.insert(name->name);
    const auto* array = std::get_if<Array>(&node);
    const auto* tuple = std::get_if<Tuple>(&node);
    if (!array && !tuple) return;
    for (const ExprId item : document.items(array ? array->items : tuple->items)) {
        find_targets(document, item, found);
    }
}

}  // namespace

std::map<std::string_view, Span> extent_symbols(const Document& document) {
    std::map<std::string_view, Span> symbols;
    for (const Extension& extension : document.extensions) {
        const std::string_view name = declared_symbol(extension);
        if (!name.empty()) symbols.emplace(name, extension.span);
    }
    if (!document.graph) return symbols;
    std::set<std::string_view> targets;
    std::map<std::string_view, Span> names;
    for (const Assignment& assignment : document.graph->body.assignments) {
        find_targets(document, assignment.target, targets);
        const Invocation* const call = document.invocation(document.exprs[assignment.value]);
        if (!call || !call->name.view().ends_with("external")) continue;
        for (const Argument& argument : document.items(call->args)) {
            if (argument.name.empty() || argument.name == "shape") {
                find_names(document, argument.value, names);
            }
        }
    }
    for (const auto& [name, span] : names) {
        if (!targets.contains(name)) symbols.emplace(name, span);
    }
    return symbols;
}

void Expander::declare_symbols() {
    if (options_.dialect != Dialect::Tract) return;
    for (const auto& [name, span] : extent_symbols(document_)) {
        symbols_[name] = builder_.symbols().symbol(name, ir::ScalarType::Int, {0, INT64_MAX});
    }
}

Value Expander::symbol(std::string_view name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? Value{} : Value{found->second};
}

Value Expander::extent_value(ir::SymId extent) const {
    const auto number = builder_.program().symbols.as_int(extent);
    return number ? Value{*number} : Value{extent};
}

ir::SymId Expander::to_sym(const Value& value) {
    if (const auto* id = std::get_if<ir::SymId>(&value.node)) return *id;
    return builder_.symbols().integer(std::get<int64_t>(value.node));
}

std::optional<int64_t> Expander::integer_of(const Value& value, Span span, const Frame& frame) {
    if (const auto* number = std::get_if<int64_t>(&value.node)) return *number;
    const auto* symbol = std::get_if<ir::SymId>(&value.node);
    report(span,
           DiagKind::NotSupported,
           symbol ? fmt::format("`{}` is known to a run only, and a number is wanted here",
                                builder_.program().symbols.text(*symbol))
                  : "a number is wanted here",
           frame);
    return std::nullopt;
}

Value Expander::eval_symbols(
    ExprId id, BinaryOp op, const Value& a, const Value& b, const Frame& frame) {
    const auto number = [](const Value& value) {
        return std::holds_alternative<int64_t>(value.node) ||
               std::holds_alternative<ir::SymId>(value.node);
    };
    std::optional<ir::SymOp> symbolic;
    if (op == BinaryOp::Add) symbolic = ir::SymOp::Add;
    if (op == BinaryOp::Sub) symbolic = ir::SymOp::Sub;
    if (op == BinaryOp::Mul) symbolic = ir::SymOp::Mul;
    if (op == BinaryOp::Div) symbolic = ir::SymOp::Div;
    if (symbolic && number(a) && number(b)) {
        const auto result = builder_.symbols().apply(*symbolic, {to_sym(a), to_sym(b)});
        if (result) return extent_value(*result);
    }
    report(operator_span(id),
           DiagKind::NotSupported,
           fmt::format("`{}` on an extent that is known to a run only", spelling(op)),
           frame);
    return {};
}

// ---- Operations that are missing ----------------------------------------------------------------

void Expander::report_unsupported() {
    if (unsupported_.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, span] : unsupported_) names.push_back(fmt::format("`{}`", name));
    const auto first = std::ranges::min_element(
        unsupported_, {}, [](const auto& item) { return item.second.begin; });
    auto told = diag_.error(
        first->second,
        DiagKind::NotSupported,
        names.size() == 1 ? fmt::format("the operation {} of tract is not supported", names[0])
                          : fmt::format("{} operations of tract are not supported: {}",
                                        names.size(),
                                        fmt::join(names, ", ")));
    for (const auto& [name, span] : unsupported_) {
        if (span != first->second) told.note(span, fmt::format("`{}` is used here", name));
    }
    told.note("what depends on their results is not checked");
}

// ---- Values -------------------------------------------------------------------------------------

// A number beside an integer tensor is an integer: `add(n, 1)`.
bool Expander::takes_integers(const Call& call) const {
    if (options_.dialect != Dialect::Tract) return false;
    bool integers = false;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const auto* id = std::get_if<ir::TensorId>(&call.arguments[i].node);
        const ValueType& type = call.signature.params[i];
        if (!id || !type.tensor() || type.name == TypeName::Integer) continue;
        if (tensor::is_real(builder_.program().tensors[*id].dtype)) return false;
        integers = integers || tensor::is_integer(builder_.program().tensors[*id].dtype);
    }
    return integers;
}

// Nested arrays of numbers are tensors: `[[0.0]]` has the shape [1, 1].
Value Expander::array_tensor(const Value& value, const std::string& name, Span span) {
    const auto refuse = [&](const char* message) {
        diag_.error(span, DiagKind::MixedList, message);
        return Value{};
    };
    if (has_unknown(value)) return {};
    ir::Tensor tensor{.name = name, .role = ir::TensorRole::Constant};
    Values level = {value};
    while (!level.empty() && level[0].items()) {
        const size_t extent = level[0].items()->size();
        Values next;
        for (const Value& item : level) {
            if (!item.items() || item.items()->size() != extent) {
                return refuse("the rows of this array have different lengths");
            }
            next.insert(next.end(), item.items()->begin(), item.items()->end());
        }
        tensor.shape.push_back(builder_.symbols().integer(static_cast<int64_t>(extent)));
        level = std::move(next);
    }
    tensor.dtype = dtype_of(TypeName::Scalar, options_);
    const bool integers = std::ranges::all_of(
        level, [](const Value& item) { return std::holds_alternative<int64_t>(item.node); });
    if (integers && !level.empty()) tensor.dtype = dtype_of(TypeName::Integer, options_);
    for (const Value& item : level) {
        const auto* integer = std::get_if<int64_t>(&item.node);
        const auto* scalar = std::get_if<double>(&item.node);
        const auto* flag = std::get_if<bool>(&item.node);
        if (!integer && !scalar && !flag) return refuse("an array of numbers is wanted here");
        if (flag) {
            tensor.dtype = ir::DType::Bool;
            tensor.items.emplace_back(*flag);
        } else if (integers) {
            tensor.items.emplace_back(*integer);
        } else {
            tensor.items.emplace_back(integer ? static_cast<double>(*integer) : *scalar);
        }
    }
    return {builder_.add_tensor(std::move(tensor))};
}

namespace {

// Replaces known tensors by their numbers. In an array, a tensor of several numbers stands for all
// of them.
Value replaced(const Value& value, const auto& known) {
    if (const Values* items = value.items()) {
        Values result;
        const bool array = std::holds_alternative<ArrayValue>(value.node);
        for (const Value& item : *items) {
            const bool tensor = array && std::holds_alternative<ir::TensorId>(item.node);
            if (const auto numbers = tensor ? known(item) : std::nullopt) {
                result.insert(result.end(), numbers->begin(), numbers->end());
            } else {
                result.push_back(replaced(item, known));
            }
        }
        return std::holds_alternative<TupleValue>(value.node) ? Value::tuple(std::move(result))
                                                              : Value::array(std::move(result));
    }
    if (!std::holds_alternative<ir::TensorId>(value.node)) return value;
    auto values = known(value);
    return values && values->size() == 1 ? values->front() : value;
}

}  // namespace

// Attributes of tract may be tensors; tensors that follow from shapes are known.
void Expander::settle_attributes(Call& call, const Frame& frame) {
    if (options_.dialect != Dialect::Tract) return;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        Value& value = call.arguments[i];
        const ValueType& type = call.signature.params[i];
        const std::string_view name = call.signature.fragment->params[i].name.text;
        if (has_tensor(type)) {
            if (!has<ir::SymId>(value)) continue;
            report(call.spans[i],
                   DiagKind::NotSupported,
                   fmt::format("`{}` is an extent that is known to a run only, expected a tensor",
                               name),
                   frame);
            value = {};
            continue;
        }
        if (!has<ir::TensorId>(value)) continue;
        // A tensor of rank 1 is an array, one of rank 0 a number.
        const ValueType& item = type.array() && !type.items.empty() ? type.items[0] : type;
        const bool reals = item.is(TypeName::Scalar);
        const auto known = [&](const Value& one) {
            auto numbers = known_values(one, reals);
            for (Value& number : numbers ? *numbers : Values{}) {
                const auto* integer = std::get_if<int64_t>(&number.node);
                if (reals && integer) number = {static_cast<double>(*integer)};
            }
            return numbers;
        };
        const auto whole = type.array() && !value.items() ? known(value) : std::nullopt;
        value = whole ? Value::array(*whole) : replaced(value, known);
        if (!has<ir::TensorId>(value)) continue;
        report(call.spans[i],
               DiagKind::NotSupported,
               fmt::format("`{}` of `{}` depends on a tensor that is known to a run only",
                           name,
                           call.signature.name()),
               frame);
        value = {};
    }
}

}  // namespace lemma::nnef1
