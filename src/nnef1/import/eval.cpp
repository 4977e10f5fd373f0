// SPDX-License-Identifier: Apache-2.0
// Expressions (3.3.3): literals, arrays, subscripts, branches and comprehensions.
#include <fmt/format.h>

#include "base/match.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

// Levels of nested expressions in all open fragments; bounds the use of the stack.
constexpr int kMaxEvalDepth = 1500;

}  // namespace

Value Expander::eval(ExprId id, Frame& frame) {
    if (stopped_) return {};
    if (eval_depth_ >= kMaxEvalDepth) {
        report(expr(id).span,
               DiagKind::TooDeep,
               fmt::format("expressions are nested in {} levels over all fragments", eval_depth_),
               frame);
        stopped_ = true;
        return {};
    }
    ++eval_depth_;
    Value value = eval_node(id, frame);
    --eval_depth_;
    return value;
}

Value Expander::eval_node(ExprId id, Frame& frame) {
    const Expr& node = expr(id);
    return match(
        node.node,
        [](const BadExpr&) { return Value{}; },
        [](const IntegerLiteral& literal) { return Value{literal.value()}; },
        [](const ScalarLiteral& literal) { return Value{literal.value()}; },
        [](const LogicalLiteral& literal) { return Value{literal.value}; },
        [](const StringLiteral& literal) { return Value{std::string(literal.value.view())}; },
        [&](const Identifier& name) {
            const auto found = frame.values.find(name.name);
            return found == frame.values.end() ? symbol(name.name) : found->second;
        },
        [&](const Paren& paren) { return eval(paren.inner, frame); },
        [&](const Array& array) { return eval_items(array.items, false, frame); },
        [&](const Tuple& tuple) { return eval_items(tuple.items, true, frame); },
        [&](const Subscript& subscript) { return eval_subscript(subscript, frame); },
        [&](const SubscriptRange& range) { return eval_range(range, frame); },
        [&](const Unary& unary) { return eval_unary(id, unary, frame); },
        [&](const Binary& binary) { return eval_binary(id, binary, frame); },
        [&](const IfElse& branch) { return eval_branch(branch, {}, frame); },
        [&](const Comprehension& loop) { return eval_comprehension(id, loop, frame); },
        [&](const BuiltinCall& call) { return eval_builtin(id, call, frame); },
        [&](InvocationId call) { return invoke(id, document_.invocations[call], {}, frame); });
}

Value Expander::eval_items(Slice<ExprId> items, bool tuple, Frame& frame) {
    Values values;
    values.reserve(items.size());
    for (const ExprId item : document_.items(items)) values.push_back(eval(item, frame));
    return tuple ? Value::tuple(std::move(values)) : Value::array(std::move(values));
}

Value Expander::eval_subscript(const Subscript& node, Frame& frame) {
    const Value base = eval(node.base, frame);
    const Value index = eval(node.index, frame);
    if (base.unknown() || index.unknown()) return {};
    if (const auto* tensor = std::get_if<ir::TensorId>(&base.node)) {
        return tensor_item(*tensor, index, expr(node.base).span, frame);
    }
    const Values* const items = base.items();
    const auto* text = std::get_if<std::string>(&base.node);
    LEMMA_CHECK(items || text);
    const auto size = static_cast<int64_t>(items ? items->size() : text->size());
    const auto given = integer_of(index, expr(node.index).span, frame);
    if (!given) return {};
    int64_t at = *given;
    // Khronos' tools count negative indices from the end.
    if (at < 0 && options_.dialect == Dialect::Khronos) at += size;
    if (at < 0 || at >= size) {
        report(expr(node.index).span,
               DiagKind::IndexRange,
               fmt::format("index {} of {} items", *given, size),
               frame)
            .note("NNEF 1.0.4, 3.3.3: indices go from 0 to the length minus 1");
        return {};
    }
    if (items) return (*items)[static_cast<size_t>(at)];
    return {std::string(1, (*text)[static_cast<size_t>(at)])};
}

Value Expander::eval_range(const SubscriptRange& node, Frame& frame) {
    const Value base = eval(node.base, frame);
    const Value begin = node.begin.valid() ? eval(node.begin, frame) : Value{int64_t{0}};
    const Value end = node.end.valid() ? eval(node.end, frame) : Value{int64_t{-1}};
    if (base.unknown() || begin.unknown() || end.unknown()) return {};
    const Values* const items = base.items();
    const auto* text = std::get_if<std::string>(&base.node);
    LEMMA_CHECK(items || text);
    const auto size = static_cast<int64_t>(items ? items->size() : text->size());
    const bool wraps = options_.dialect == Dialect::Khronos;
    const Span span = expr(node.base).span;
    const auto from = integer_of(begin, span, frame);
    const auto to = node.end.valid() ? integer_of(end, span, frame) : size;
    if (!from || !to) return {};
    int64_t first = *from;
    int64_t last = *to;
    if (wraps && first < 0) first += size;
    if (wraps && last < 0) last += size;
    const bool empty = first >= last;
    if (first < 0 || last < 0 || (!empty && last > size)) {
        const bool at_begin = first < 0 || !node.end.valid();
        report(expr(at_begin && node.begin.valid() ? node.begin : node.end).span,
               DiagKind::IndexRange,
               fmt::format("the range {}:{} of {} items", first, last, size),
               frame)
            .note("NNEF 1.0.4, 3.3.3: indices go from 0 to the length minus 1");
        return {};
    }
    if (empty) return items ? Value::array({}) : Value{std::string()};
    if (!spend(last - first, expr(node.base).span, frame)) return {};
    if (items) return Value::array({items->begin() + first, items->begin() + last});
    return {text->substr(static_cast<size_t>(first), static_cast<size_t>(last - first))};
}

// Evaluates the taken branch only; the other one may be invalid.
Value Expander::eval_branch(const IfElse& node, ExprId target, Frame& frame) {
    const Value condition = eval(node.condition, frame);
    if (condition.unknown()) return {};
    const ExprId taken = std::get<bool>(condition.node) ? node.consequent : node.alternative;
    return target.valid() ? value_for(target, taken, frame) : eval(taken, frame);
}

Value Expander::eval_comprehension(ExprId id, const Comprehension& node, Frame& frame) {
    const auto iterators = document_.items(node.iterators);
    std::vector<Value> ranges;
    for (const Iterator& iterator : iterators) {
        ranges.push_back(eval(iterator.range, frame));
        if (ranges.back().unknown()) return {};
        const size_t first = ranges[0].items()->size();
        const size_t length = ranges.back().items()->size();
        if (length == first) continue;
        report(expr(iterator.range).span,
               DiagKind::LengthMismatch,
               fmt::format("`{}` iterates {} items, and `{}` {}",
                           iterator.name.text,
                           length,
                           iterators[0].name.text,
                           first),
               frame)
            .note("NNEF 1.0.4, 3.3.3: the iterated arrays must have the same length");
        return {};
    }
    Values values;
    for (size_t i = 0; i < ranges[0].items()->size(); ++i) {
        if (!spend(1, expr(id).span, frame)) break;
        for (size_t k = 0; k < iterators.size(); ++k) {
            frame.values[iterators[k].name.text] = (*ranges[k].items())[i];
        }
        const Value keep = node.condition.valid() ? eval(node.condition, frame) : Value{true};
        if (keep.unknown()) {
            values = {Value{}};
            break;
        }
        if (std::get<bool>(keep.node)) values.push_back(eval(node.value, frame));
    }
    for (const Iterator& iterator : iterators) frame.values.erase(iterator.name.text);
    return stopped_ ? Value{} : Value::array(std::move(values));
}

}  // namespace lemma::nnef1
