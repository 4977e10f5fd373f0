// SPDX-License-Identifier: Apache-2.0
// Formulas. A statement is read in the order of evaluation, not of the text: bounds, lets, values,
// targets, condition.
#include <fmt/format.h>

#include <algorithm>

#include "ir/text/read_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

// formula = {'let' name '=' expr line} targets op values ['for' bounds] ['if' expr] ['append' name]
bool Reader::read_formula(Operation& op) {
    FormulaState state;
    state_ = &state;
    const bool good = read_formula_line();
    state_ = nullptr;
    if (good) op.formulas.push_back(std::move(state.formula));
    return good;
}

bool Reader::read_formula_line() {
    const size_t lets = at_;
    while (is_word("let")) {
        at_ = find_on_line("");
        skip_lines();
    }
    const size_t line = at_;
    const size_t assigns = find_formula_op();
    size_t behind_bounds = find_on_line("for");
    if (tokens_[behind_bounds].kind == TextKind::Word) {
        at_ = behind_bounds + 1;
        if (!read_bounds()) return false;
        behind_bounds = at_;
    }
    at_ = lets;
    while (at_ < line)
        if (!read_formula_let()) return false;

    std::vector<SymId> values;
    at_ = assigns;
    if (!read_formula_op() || !read_values(values)) return false;
    const size_t behind_values = at_;
    at_ = line;
    if (!read_targets(values)) return false;
    if (at_ != assigns) return unexpected("an assignment");
    at_ = behind_values;
    if (is_word("for")) at_ = behind_bounds;
    return read_clauses() && end_line();
}

size_t Reader::find_on_line(std::string_view word) const {
    size_t at = at_;
    while (tokens_[at].kind != TextKind::Newline && tokens_[at].kind != TextKind::End &&
           (tokens_[at].kind != TextKind::Word || tokens_[at].text != word))
        ++at;
    return at;
}

// The operator after the brackets of the targets.
size_t Reader::find_formula_op() const {
    int depth = 0;
    size_t at = at_;
    for (; tokens_[at].kind != TextKind::Newline && tokens_[at].kind != TextKind::End; ++at) {
        const TextToken& token = tokens_[at];
        if (token.text == "[" || token.text == "(") ++depth;
        if (token.text == "]" || token.text == ")") --depth;
        const bool target =
            token.kind == TextKind::Tensor || token.text == "," || token.text == "]" || depth > 0;
        if (!target) break;
    }
    return at;
}

bool Reader::add_name(const TextToken& name, SymId value) {
    const std::string word(name.text);
    const Span span{file_, name.begin, name.end};
    if (name.kind != TextKind::Word || !is_symbol_word(word))
        return fail(span, DiagKind::UnexpectedToken, "a name for a symbol is wanted here");
    auto& names = state_ ? state_->names : names_;
    if (names_.contains(word) || !names.emplace(word, value).second)
        return fail(span, DiagKind::DuplicateName, fmt::format("`{}` has a meaning already", word));
    return true;
}

// bounds = bound {',' bound}
bool Reader::read_bounds() {
    do {
        if (!read_bound()) return false;
    } while (accept(","));
    const bool ends =
        peek().kind == TextKind::Newline || is_word("if") || is_word("append") || is_word("for");
    return ends || unexpected("`,` or the end of the bounds");
}

// bound = name '<' expr ['in' range]
bool Reader::read_bound() {
    const TextToken& name = take();
    if (!expect("<")) return false;
    const MaybeSym extent = read_typed(ScalarType::Int, "a bound");
    if (!extent) return false;
    Interval range = index_range(program_.symbols, *extent);
    if (accept_word("in")) {
        const auto told = read_range();
        if (!told) return false;
        range = *told;
    }
    const SymId index = program_.symbols.symbol(std::string(name.text), ScalarType::Int, range);
    state_->formula.bounds.push_back({index, *extent});
    return add_name(name, index);
}

// Whether the line has only an access.
bool Reader::is_lone_access() const {
    if (peek().kind != TextKind::Tensor || !is_sign("[", 1)) return false;
    size_t at = at_ + 1;
    int depth = 0;
    do {
        if (tokens_[at].text == "[") ++depth;
        if (tokens_[at].text == "]") --depth;
        if (tokens_[at].kind == TextKind::End) return false;
        ++at;
    } while (depth > 0);
    return tokens_[at].kind == TextKind::Newline || tokens_[at].text == "in";
}

// A let that names an access makes a separate one.
bool Reader::read_formula_let() {
    take();
    const TextToken& name = take();
    if (!expect("=")) return false;
    const MaybeSym value = is_lone_access() ? read_access(true) : read_expr();
    return value && add_name(name, *value) && end_line();
}

bool Reader::read_formula_op() {
    std::string text(peek().text);
    if (is_word("min") || is_word("max")) {
        take();
        text += peek().text;
    }
    const auto op = formula_op_from_text(text);
    if (!op) return unexpected("the operator of a formula");
    take();
    state_->formula.op = *op;
    return true;
}

bool Reader::read_values(std::vector<SymId>& values) {
    do {
        const MaybeSym value = read_expr();
        if (!value) return false;
        values.push_back(*value);
    } while (accept(","));
    return true;
}

// targets = tensor '[' indices ']' {',' tensor '[' indices ']'}
bool Reader::read_targets(const std::vector<SymId>& values) {
    std::vector<Write>& writes = state_->formula.writes;
    do {
        const Span span = span_here();
        const auto tensor = read_tensor(false);
        if (!tensor) return false;
        auto indices = read_indices();
        if (!indices) return false;
        if (writes.size() >= values.size())
            return fail(span, DiagKind::LengthMismatch, "more targets than values");
        writes.push_back({*tensor, std::move(*indices), values[writes.size()]});
    } while (accept(","));
    if (writes.size() < values.size())
        return fail(DiagKind::LengthMismatch, "more values than targets");
    return true;
}

bool Reader::read_clauses() {
    if (accept_word("if")) {
        const MaybeSym condition = read_typed(ScalarType::Bool, "the condition");
        if (!condition) return false;
        state_->formula.condition = *condition;
    }
    if (accept_word("append")) {
        const MaybeSym counter = read_named();
        if (!counter) return false;
        state_->formula.counter = *counter;
    }
    return true;
}

// ---- accesses ---------------------------------------------------------------------------------

// access = tensor '[' indices ']' ['in' range]
Reader::MaybeSym Reader::read_access(bool fresh) {
    const Span span = span_here();
    const auto tensor = read_tensor(false);
    if (!tensor) return std::nullopt;
    if (!state_) {
        fail(span, DiagKind::UnexpectedToken, "elements of tensors can be read in formulas only");
        return std::nullopt;
    }
    auto indices = read_indices();
    if (!indices) return std::nullopt;
    std::vector<uint32_t> element = {tensor->value};
    for (const IndexTerm& term : *indices)
        element.insert(element.end(),
                       {term.value.value,
                        static_cast<uint32_t>(term.guard),
                        term.below.value,
                        term.above.value});
    const auto known = state_->elements.find(element);
    if (!fresh && known != state_->elements.end()) return known->second;

    Interval range{INT64_MIN, INT64_MAX};
    if (fresh && accept_word("in")) {
        const auto told = read_range();
        if (!told) return std::nullopt;
        range = *told;
    }
    const Tensor& data = program_.tensors[*tensor];
    const SymId symbol = program_.symbols.symbol(data.name, scalar_type_of(data.dtype), range);
    state_->elements.emplace(std::move(element), symbol);
    state_->formula.accesses.push_back({symbol, *tensor, std::move(*indices)});
    return symbol;
}

// indices = [index {',' index}]
std::optional<std::vector<IndexTerm>> Reader::read_indices() {
    std::vector<IndexTerm> indices;
    if (!expect("[")) return std::nullopt;
    if (accept("]")) return indices;
    do {
        const auto index = read_index();
        if (!index) return std::nullopt;
        indices.push_back(*index);
    } while (accept(","));
    if (!expect("]")) return std::nullopt;
    return indices;
}

// index = expr | '|' expr '|' | '|' expr '<>' expr ':' expr '|'
std::optional<IndexTerm> Reader::read_index() {
    IndexTerm term;
    const bool guarded = accept("|");
    const MaybeSym value = read_typed(ScalarType::Int, "an index");
    if (!value) return std::nullopt;
    term.value = *value;
    if (!guarded) return term;
    term.guard = Guard::Skip;
    if (accept("<>")) {
        const MaybeSym below = read_typed(ScalarType::Int, "an index");
        if (!below || !expect(":")) return std::nullopt;
        const MaybeSym above = read_typed(ScalarType::Int, "an index");
        if (!above) return std::nullopt;
        term = {*value, Guard::Remap, *below, *above};
    }
    if (!expect("|")) return std::nullopt;
    return term;
}

}  // namespace lemma::ir
