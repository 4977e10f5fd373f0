// SPDX-License-Identifier: Apache-2.0
// The parts of statements: names, types, tensors, values, ports; and control flow.
#include <fmt/format.h>

#include <charconv>

#include "base/match.h"
#include "ir/text/read_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

// name = word | digits | string
std::optional<std::string> Reader::read_name() {
    const TextToken& token = peek();
    if (token.kind == TextKind::String) return take().value;
    if (token.kind == TextKind::Word || token.kind == TextKind::Int)
        return std::string(take().text);
    unexpected("a name");
    return std::nullopt;
}

std::optional<std::string> Reader::read_string() {
    if (peek().kind == TextKind::String) return take().value;
    unexpected("a string");
    return std::nullopt;
}

// range = '[' end ',' end ']'
std::optional<Interval> Reader::read_range() {
    const Span span = span_here();
    if (!expect("[")) return std::nullopt;
    const auto low = read_range_end();
    if (!low || !expect(",")) return std::nullopt;
    const auto high = read_range_end();
    if (!high || !expect("]")) return std::nullopt;
    if (*low <= *high) return Interval{*low, *high};
    fail(span, DiagKind::BadArgument, "an empty range");
    return std::nullopt;
}

// end = ['-'] (digits | 'inf')
std::optional<int64_t> Reader::read_range_end() {
    const bool negative = accept("-");
    if (accept_word("inf")) return negative ? INT64_MIN : INT64_MAX;
    if (peek().kind != TextKind::Int) {
        unexpected("an integer or `inf`");
        return std::nullopt;
    }
    const MaybeSym value = read_number(negative);
    return value ? program_.symbols.as_int(*value) : std::nullopt;
}

std::optional<DType> Reader::read_dtype() {
    const auto dtype = tensor::dtype_from_name(peek().text);
    if (dtype && peek().kind == TextKind::Word) return take(), *dtype;
    fail(DiagKind::NoType, fmt::format("no dtype `{}`", peek().text));
    return std::nullopt;
}

// ---- tensors ----------------------------------------------------------------------------------

// ':' dtype '[' [expr {',' expr}] ']' ['quantize' name [attributes]] ['=' items]
std::optional<TensorId> Reader::declare(const TextToken& name, TensorRole role) {
    Tensor tensor;
    tensor.name = name.value;
    tensor.role = role;
    if (!expect(":")) return std::nullopt;
    const auto dtype = read_dtype();
    if (!dtype || !expect("[")) return std::nullopt;
    tensor.dtype = *dtype;
    while (!accept("]")) {
        if (!tensor.shape.empty() && !expect(",")) return std::nullopt;
        const MaybeSym extent = read_typed(ScalarType::Int, "an extent");
        if (!extent) return std::nullopt;
        tensor.shape.push_back(*extent);
    }
    if (accept_word("quantize") && !read_quantizer(tensor)) return std::nullopt;
    // After an output, `=` belongs to the operation.
    const bool items = role != TensorRole::Intermediate && is_sign("=");
    if (items && !read_items(tensor)) return std::nullopt;
    tensor.identity = program_.symbols.symbol(tensor.name, ScalarType::Str);
    const TensorId id = program_.tensors.add(std::move(tensor));
    if (tensors_.emplace(name.text, id).second) return id;
    fail({file_, name.begin, name.end},
         DiagKind::DuplicateName,
         fmt::format("`{}` is declared already", name.text));
    return std::nullopt;
}

bool Reader::read_quantizer(Tensor& tensor) {
    auto name = read_name();
    if (!name) return false;
    tensor.quantizer = Quantizer{std::move(*name), {}};
    return !is_sign("{") || read_attributes(tensor.quantizer->attributes);
}

// items = scalar | '[' [scalar {',' scalar}] ']'
bool Reader::read_items(Tensor& tensor) {
    if (!expect("=")) return false;
    const bool list = accept("[");
    while (!list || !accept("]")) {
        if (!tensor.items.empty() && !expect(",")) return false;
        auto item = read_scalar();
        if (!item) return false;
        tensor.items.push_back(std::move(*item));
        if (!list) break;
    }
    return true;
}

// tensor [':' type …]
std::optional<TensorId> Reader::read_tensor(bool may_declare) {
    if (peek().kind != TextKind::Tensor) {
        unexpected("a tensor");
        return std::nullopt;
    }
    const TextToken& token = take();
    if (may_declare && is_sign(":")) return declare(token, TensorRole::Intermediate);
    const auto known = tensors_.find(token.text);
    if (known != tensors_.end()) return known->second;
    fail({file_, token.begin, token.end},
         DiagKind::UndeclaredName,
         fmt::format("no tensor `{}`", token.text));
    return std::nullopt;
}

// operand = '~' | tensor | '[' [tensor {',' tensor}] [';' expr] ']'
std::optional<Operand> Reader::read_operand(bool may_declare) {
    Operand operand;
    if (accept("~")) return operand;
    operand.packed = accept("[");
    while (!operand.packed || (!is_sign("]") && !is_sign(";"))) {
        if (!operand.items.empty() && !expect(",")) return std::nullopt;
        const auto item = read_tensor(may_declare);
        if (!item) return std::nullopt;
        operand.items.push_back(*item);
        if (!operand.packed) return operand;
    }
    if (accept(";")) {
        const MaybeSym length = read_typed(ScalarType::Int, "a length");
        if (!length) return std::nullopt;
        operand.length = *length;
    }
    if (!expect("]")) return std::nullopt;
    return operand;
}

// ports = [name '=' operand {',' name '=' operand}] and the closing sign, if there is one
bool Reader::read_ports(std::vector<Port>& ports, std::string_view close) {
    if (!close.empty() && accept(close)) return true;
    do {
        auto name = read_name();
        if (!name || !expect("=")) return false;
        auto operand = read_operand(false);
        if (!operand) return false;
        ports.push_back({std::move(*name), std::move(*operand)});
    } while (accept(","));
    return close.empty() || expect(close);
}

// outputs = name operand {',' name operand}
bool Reader::read_outputs(std::vector<Port>& ports) {
    do {
        auto name = read_name();
        if (!name) return false;
        auto operand = read_operand(true);
        if (!operand) return false;
        ports.push_back({std::move(*name), std::move(*operand)});
    } while (accept(","));
    return true;
}

// ---- values -----------------------------------------------------------------------------------

// attributes = '{' [name '=' value {',' name '=' value}] '}'
bool Reader::read_attributes(std::vector<Attribute>& attributes) {
    if (!expect("{")) return false;
    while (!accept("}")) {
        if (!attributes.empty() && !expect(",")) return false;
        auto name = read_name();
        if (!name || !expect("=")) return false;
        auto value = read_value();
        if (!value) return false;
        attributes.push_back({std::move(*name), std::move(*value)});
    }
    return true;
}

// value = '~' | scalar | '[' [scalar {',' scalar}] ']' | type '[' ']' | '[' scalar '..' '(' '0' ')'
// ']'
std::optional<Value> Reader::read_value() {
    if (accept("~")) return Null{};
    if (is_sign("[")) return read_pack(std::nullopt);
    const auto type = scalar_type_from_text(peek().text);
    if (type && is_sign("[", 1)) return take(), read_pack(type);
    auto scalar = read_scalar();
    if (!scalar) return std::nullopt;
    return Value(std::move(*scalar));
}

std::optional<Value> Reader::read_pack(std::optional<ScalarType> type) {
    Pack pack;
    pack.type = type;
    if (!expect("[")) return std::nullopt;
    while (!accept("]")) {
        if (!pack.items.empty() && !expect(",")) return std::nullopt;
        auto item = read_scalar();
        if (!item) return std::nullopt;
        pack.items.push_back(std::move(*item));
        if (pack.items.size() > 1 || !accept("..")) continue;
        if (!expect("(") || take().text != "0" || !expect(")") || !expect("]")) {
            fail(DiagKind::UnexpectedToken, "`..(0)]` is wanted here");
            return std::nullopt;
        }
        pack.type = type_of(pack.items[0]);
        pack.uniform = std::move(pack.items[0]);
        pack.items.clear();
        return Value(std::move(pack));
    }
    if (pack.items.empty()) return Value(std::move(pack));
    pack.type = type_of(pack.items[0]);
    bool uniform = true;
    for (const Scalar& item : pack.items) uniform = uniform && item == pack.items[0];
    if (uniform) pack.uniform = pack.items[0];
    return Value(std::move(pack));
}

ScalarType Reader::type_of(const Scalar& scalar) const {
    return match(
        scalar,
        [](int64_t) { return ScalarType::Int; },
        [](double) { return ScalarType::Real; },
        [](bool) { return ScalarType::Bool; },
        [](const std::string&) { return ScalarType::Str; },
        [&](SymId id) { return program_.symbols.type(id); });
}

// scalar = literal | 'sym' '(' expr ')' | expr
std::optional<Scalar> Reader::read_scalar() {
    if (is_word("sym") && is_sign("(", 1)) {
        take();
        const MaybeSym value = read_primary();
        return value ? std::optional(Scalar(*value)) : std::nullopt;
    }
    const MaybeSym value = read_expr();
    if (!value) return std::nullopt;
    const SymbolPool& symbols = program_.symbols;
    if (const auto constant = symbols.as_int(*value)) return Scalar(*constant);
    if (const auto constant = symbols.as_real(*value)) return Scalar(*constant);
    if (const auto constant = symbols.as_bool(*value)) return Scalar(*constant);
    if (const auto constant = symbols.as_string(*value)) return Scalar(*constant);
    return Scalar(*value);
}

// ---- control flow -----------------------------------------------------------------------------

// over = '(' [item {',' item}] ')'
// item = 'carry' operand | 'scan' operand | 'index' tensor | 'count' expr | 'times' tensor
bool Reader::read_over(Loop& loop) {
    if (!expect("(")) return false;
    if (accept(")")) return true;
    do {
        if (is_word("carry") || is_word("scan")) {
            auto& tensors = take().text == "carry" ? loop.carried : loop.items;
            const auto operand = read_operand(true);
            if (!operand) return false;
            tensors = operand->items;
        } else if (is_word("index") || is_word("times")) {
            const bool index = take().text == "index";
            const auto tensor = read_tensor(index);
            if (!tensor) return false;
            (index ? loop.index : loop.dynamic_count) = *tensor;
        } else if (accept_word("count")) {
            const MaybeSym count = read_typed(ScalarType::Int, "a count");
            if (!count) return false;
            loop.static_count = *count;
        } else {
            return unexpected("`carry`, `scan`, `index`, `count` or `times`");
        }
    } while (accept(","));
    return expect(")");
}

// {'condition' graph 'then' graph} 'else' graph, or ['while' graph] 'body' graph ['while' graph]
bool Reader::read_control(Operation& op, int depth) {
    const Span span = span_here();
    const std::string word(take().text);
    const auto misplaced = [&] {
        return fail(span, DiagKind::UnexpectedToken, fmt::format("`{}` is out of place", word));
    };
    const bool loops = word == "while" || word == "body";
    if (std::holds_alternative<std::monostate>(op.control)) {
        if (loops)
            op.control.emplace<Loop>();
        else
            op.control.emplace<Branch>();
    }
    Loop* loop = std::get_if<Loop>(&op.control);
    if (loops != (loop != nullptr)) return misplaced();
    const auto graph = read_graph(word, depth);
    if (!graph) return false;
    GraphId* target = nullptr;
    if (loop) {
        target = word == "body"       ? &loop->body
                 : loop->body.valid() ? &loop->post_condition
                                      : &loop->pre_condition;
    } else {
        auto& branch = std::get<Branch>(op.control);
        const bool open = !branch.arms.empty() && !branch.arms.back().consequent.valid();
        if (open != (word == "then") || branch.alternative.valid()) return misplaced();
        if (word == "condition") branch.arms.emplace_back();
        target = word == "condition" ? &branch.arms.back().condition
                 : word == "then"    ? &branch.arms.back().consequent
                                     : &branch.alternative;
    }
    if (target->valid()) return misplaced();
    *target = *graph;
    return end_line();
}

bool Reader::finish_control(Operation& op) {
    if (const auto* loop = std::get_if<Loop>(&op.control); loop && !loop->body.valid())
        return fail(op.span, DiagKind::MissingBody, "a loop without a body");
    if (const auto* branch = std::get_if<Branch>(&op.control);
        branch && !branch->alternative.valid())
        return fail(op.span, DiagKind::MissingBody, "a branch without `else`");
    return true;
}

}  // namespace lemma::ir
