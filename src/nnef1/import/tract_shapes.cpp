// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic that tract documents do with tensors. The results of `tract_core_shape_of`, and
// of operations that split or join them, are known before a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

constexpr size_t kMostValues = 64;  // known numbers per tensor; shapes are short

const Value* argument_of(const std::vector<Value>& arguments,
                         const Signature& signature,
                         std::string_view name) {
    const auto index = signature.find_param(name);
    return index ? &arguments[*index] : nullptr;
}

// The only item of an array with one number.
std::optional<int64_t> only_number(const Value* value) {
    if (!value || !value->items() || value->items()->size() != 1) return std::nullopt;
    const auto* number = std::get_if<int64_t>(&value->items()->front().node);
    return number ? std::optional(*number) : std::nullopt;
}

// The items of a slice along the only axis.
std::optional<Values> sliced(const Values& values,
                             const std::vector<Value>& arguments,
                             const Signature& signature) {
    const auto size = static_cast<int64_t>(values.size());
    const auto begin = only_number(argument_of(arguments, signature, "begin"));
    const auto end = only_number(argument_of(arguments, signature, "end"));
    const Value* const stride = argument_of(arguments, signature, "stride");
    const bool steps = stride && stride->items() && !stride->items()->empty();
    if (!begin || !end || (steps && only_number(stride) != 1)) return std::nullopt;
    const int64_t first = *begin < 0 ? *begin + size : *begin;
    const int64_t last = *end <= 0 ? *end + size : *end;
    if (first < 0 || last > size || first > last) return std::nullopt;
    return Values(values.begin() + first, values.begin() + last);
}

// Extents are equal if their expressions are identical.
bool same_number(const Value& a, const Value& b) {
    const auto* x = std::get_if<ir::SymId>(&a.node);
    const auto* y = std::get_if<ir::SymId>(&b.node);
    return x || y ? x && y && *x == *y : equal(a, b);
}

// Casts numbers to integers; false if the result type is not integer.
bool cut_fractions(Values& values, ir::DType dtype) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    for (Value& value : values) {
        const auto* real = std::get_if<double>(&value.node);
        if (!real) continue;
        if (!tensor::is_integer(dtype) || !(std::abs(*real) <= kExact)) return false;
        value = {static_cast<int64_t>(*real)};
    }
    return true;
}

}  // namespace

bool rounds(std::string_view operation) {
    return operation == "floor" || operation == "ceil" || operation == "round";
}

std::optional<Values> Expander::known_values(const Value& value, bool reals) const {
    if (std::holds_alternative<int64_t>(value.node)) return Values{value};
    if (reals && std::holds_alternative<double>(value.node)) return Values{value};
    if (std::holds_alternative<ir::SymId>(value.node)) return Values{value};
    const auto* id = std::get_if<ir::TensorId>(&value.node);
    if (!id) return std::nullopt;
    if (const auto found = known_.find(id->value); found != known_.end()) return found->second;
    const ir::Tensor& tensor = builder_.program().tensors[*id];
    const bool constant = tensor.role == ir::TensorRole::Constant && tensor.shape.size() <= 1;
    if (!constant || tensor.items.empty() || tensor.items.size() > kMostValues) {
        return std::nullopt;
    }
    Values values;
    for (const ir::Scalar& item : tensor.items) {
        if (const auto* number = std::get_if<int64_t>(&item)) {
            values.push_back({*number});
            continue;
        }
        const auto* real = std::get_if<double>(&item);
        if (!real || !reals) return std::nullopt;
        values.push_back({*real});
    }
    return values;
}

// An item of a tensor of rank 1, as a tensor of rank 0.
Value Expander::tensor_item(ir::TensorId tensor,
                            const Value& index,
                            Span span,
                            const Frame& frame) {
    const auto shape = builder_.program().tensors[tensor].shape;
    const auto extent =
        shape.size() == 1 ? builder_.program().symbols.as_int(shape[0]) : std::nullopt;
    if (!extent) {
        report(span,
               DiagKind::NotSupported,
               fmt::format("a tensor of shape {} is indexed, expected one axis", shape_text(shape)),
               frame);
        return {};
    }
    const auto at = integer_of(index, span, frame);
    if (!at) return {};
    if (*at < 0 || *at >= *extent) {
        report(
            span, DiagKind::IndexRange, fmt::format("index {} of {} items", *at, *extent), frame);
        return {};
    }
    const auto call =
        [&](const char* op, std::vector<ir::Attribute> attributes, ir::TensorId from) {
            const auto outputs = builder_.call({.op = op,
                                                .label = fmt::format("item_{}", *at),
                                                .types = {},
                                                .attributes = std::move(attributes),
                                                .inputs = {ir::Operand::single(from)},
                                                .results = {},
                                                .span = span});
            if (!calls_.items().empty()) hand_on_reports(frame);
            return outputs ? outputs->at(0).items.at(0) : ir::TensorId{};
        };
    const auto pack = [](int64_t number) {
        return ir::Pack{.items = {number}, .uniform = {}, .type = ir::ScalarType::Int};
    };
    const ir::TensorId part = call(
        "nnef1.slice", {{"axes", pack(0)}, {"begin", pack(*at)}, {"end", pack(*at + 1)}}, tensor);
    if (!part.valid()) return {};
    const ir::TensorId item = call("nnef1.squeeze", {{"axes", pack(0)}}, part);
    if (!item.valid()) return {};
    if (const auto values = known_values(Value{tensor})) {
        known_[item.value] = {(*values)[static_cast<size_t>(*at)]};
    }
    return {item};
}

void Expander::learn_values(const Call& call, const Value& result) {
    if (options_.dialect != Dialect::Tract) return;
    const auto* id = std::get_if<ir::TensorId>(&result.node);
    if (!id || call.arguments.empty()) return;
    const std::string_view name = call.signature.name();
    const Value& first = call.arguments[0];
    const auto learn = [&](Values values) {
        if (values.size() <= kMostValues) known_[id->value] = std::move(values);
    };
    if (name == "tract_core_shape_of") {
        Values extents;
        const auto* tensor = std::get_if<ir::TensorId>(&first.node);
        if (!tensor) return;
        for (const ir::SymId extent : builder_.program().tensors[*tensor].shape) {
            extents.push_back(extent_value(extent));
        }
        return learn(std::move(extents));
    }
    if (name == "select") {  // both branches have equal numbers
        const auto yes = known_values(call.arguments[1]);
        const auto no = known_values(call.arguments[2]);
        if (yes && no && std::ranges::equal(*yes, *no, same_number)) learn(*yes);
        return;
    }
    if (name == "concat" || name == "stack") {
        Values joined;
        for (const Value& item : first.items() ? *first.items() : Values{}) {
            const auto values = known_values(item);
            if (!values) return;
            joined.insert(joined.end(), values->begin(), values->end());
        }
        return learn(std::move(joined));
    }
    auto values = known_values(first, name == "tract_core_cast");
    if (!values || !cut_fractions(*values, builder_.program().tensors[*id].dtype)) return;
    const bool same = name == "copy" || name == "squeeze" || name == "unsqueeze" ||
                      name == "reshape" || name == "tract_core_cast" || rounds(name);
    if (same) return learn(*values);
    if (name == "slice") {
        if (auto part = sliced(*values, call.arguments, call.signature)) learn(std::move(*part));
        return;
    }
    if (name == "gather" || name == "tract_core_gather") {
        const auto at = known_values(call.arguments[1]);
        const auto* place =
            at && at->size() == 1 ? std::get_if<int64_t>(&at->front().node) : nullptr;
        if (place && *place >= 0 && *place < static_cast<int64_t>(values->size())) {
            learn({(*values)[static_cast<size_t>(*place)]});
        }
        return;
    }
    std::optional<ir::SymOp> op;
    if (name == "add") op = ir::SymOp::Add;
    if (name == "sub") op = ir::SymOp::Sub;
    if (name == "mul") op = ir::SymOp::Mul;
    if (name == "div") op = ir::SymOp::Div;
    const auto others = op ? known_values(call.arguments[1]) : std::nullopt;
    if (!others || values->size() != 1 || others->size() != 1) return;
    const auto number =
        builder_.symbols().apply(*op, {to_sym(values->front()), to_sym(others->front())});
    if (number) learn({extent_value(*number)});
}

}  // namespace lemma::nnef1
