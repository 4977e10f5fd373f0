// SPDX-License-Identifier: Apache-2.0
#include "view/tree.h"

#include <algorithm>
#include <map>
#include <set>

#include "diag/diagnostic.h"
#include "ir/text/text_lexer.h"
#include "ir/text/text_words.h"

namespace lemma::view {

namespace {

using ir::TextKind;
using ir::TextToken;

constexpr size_t kMostTokens = 4000;
constexpr size_t kMostNodes = 600;  // of a tree in which lets are replaced by their values

Json name_node(std::string_view name) { return {{"k", "name"}, {"v", name}}; }
Json number_node(std::string_view text) { return {{"k", "num"}, {"v", text}}; }
// Sums and the like have any number of terms.
Json op_node(std::string_view op, Json left, Json right) {
    const bool flat = op == "+" || op == "*" || op == "and" || op == "or";
    if (flat && left.is_object() && left["k"] == "op" && left["v"] == op) {
        left["args"].push_back(std::move(right));
        return left;
    }
    return {{"k", "op"}, {"v", op}, {"args", Json::array({std::move(left), std::move(right)})}};
}
Json call_node(std::string_view name, Json args) {
    return {{"k", "call"}, {"v", name}, {"args", std::move(args)}};
}

size_t count_nodes(const Json& json) {
    size_t count = json.is_object() ? 1 : 0;
    if (json.is_structured())
        for (const Json& item : json) count += count_nodes(item);
    return count;
}

// The names in a tree.
void find_names(const Json& json, std::set<std::string>& names) {
    if (json.is_object() && json.value("k", "") == "name") names.insert(json.value("v", ""));
    if (json.is_structured())
        for (const Json& item : json) find_names(item, names);
}

const char* reduction_of(std::string_view op) {
    if (op == "+=") return "sum";
    if (op == "*=") return "prod";
    if (op == "min=") return "min";
    if (op == "max=") return "max";
    if (op == "&=") return "all";
    if (op == "|=") return "any";
    return nullptr;
}

// Reads the text form of expressions and formulas (docs/language/ir.md).
class TreeReader {
public:
    TreeReader(std::string_view text, const ExtentOf& extent)
        : text_(text), extent_(extent), tokens_(ir::lex_text({}, text, diag_)) {
        bad_ = diag_.has_errors() || tokens_.size() > kMostTokens;
    }

    std::optional<Json> whole_expression();
    // `let t0 = …`, or the statement.
    std::optional<std::pair<std::string, Json>> let();
    struct Statement {
        Json targets = Json::array(), values = Json::array();
        std::string op;
        std::vector<std::string> bounds;
        std::optional<Json> condition;
    };
    std::optional<Statement> statement();

    std::map<std::string, Json> lets;  // replaced by their values
    Json conditions = Json::array();

private:
    const TextToken& peek() const { return tokens_[at_]; }
    const TextToken& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    bool accept(std::string_view text) {
        if (peek().text != text || peek().kind == TextKind::String) return false;
        take();
        return true;
    }
    void expect(std::string_view text) { bad_ = !accept(text) || bad_; }
    Json fail() {
        bad_ = true;
        return nullptr;
    }
    bool at_end() const { return peek().kind == TextKind::Newline || peek().kind == TextKind::End; }
    // Operators of integers have no spaces around them.
    bool spaced(const TextToken& sign) const {
        return sign.begin > 0 && text_[sign.begin - 1] == ' ';
    }

    Json expression();
    Json logic();
    Json compare();
    Json sum();
    Json product();
    Json unary();
    Json power();
    Json primary();
    Json word();
    Json element();
    Json index(std::string_view tensor, size_t axis);
    Json call(std::string_view name);
    void skip_range();

    std::string_view text_;
    const ExtentOf& extent_;
    Diagnostics diag_;
    std::vector<TextToken> tokens_;
    size_t at_ = 0;
    int depth_ = 0;
    bool bad_ = false;
};

std::optional<Json> TreeReader::whole_expression() {
    Json tree = expression();
    if (bad_ || !at_end()) return std::nullopt;
    return tree;
}

std::optional<std::pair<std::string, Json>> TreeReader::let() {
    take();  // `let`
    std::string name(take().text);
    expect("=");
    Json tree = expression();
    if (accept("in")) skip_range();
    if (bad_ || !at_end()) return std::nullopt;
    return std::pair{std::move(name), std::move(tree)};
}

void TreeReader::skip_range() {
    expect("[");
    while (!at_end() && !accept("]")) take();
}

// targets op values ['for' bounds] ['if' condition] ['append' word]
std::optional<TreeReader::Statement> TreeReader::statement() {
    Statement made;
    do made.targets.push_back(element());
    while (!bad_ && accept(","));
    made.op = std::string(take().text);
    if (made.op == "min" || made.op == "max") made.op += take().text;
    do made.values.push_back(expression());
    while (!bad_ && accept(","));
    if (accept("for")) {
        do {
            made.bounds.emplace_back(take().text);
            expect("<");
            sum();
            if (accept("in")) skip_range();
        } while (!bad_ && accept(","));
    }
    if (accept("if")) made.condition = expression();
    if (accept("append")) take();
    if (bad_ || !at_end() || made.targets.size() != made.values.size()) return std::nullopt;
    return made;
}

// ---- Expressions --------------------------------------------------------------------------------

// expr = logic ['?' expr ':' expr]
Json TreeReader::expression() {
    if (bad_ || ++depth_ > ir::kMaxTextDepth) return fail();
    Json tree = logic();
    if (accept("?")) {
        Json arms = Json::array();
        arms.push_back(Json::array({std::move(tree), logic()}));
        expect(":");
        Json rest = expression();
        const bool cases = rest.is_object() && rest.value("k", "") == "cases";
        if (cases) {
            for (Json& arm : rest["arms"]) arms.push_back(std::move(arm));
        } else {
            arms.push_back(Json::array({nullptr, std::move(rest)}));
        }
        tree = {{"k", "cases"}, {"arms", std::move(arms)}};
    }
    --depth_;
    return tree;
}

Json TreeReader::logic() {
    Json tree = compare();
    while (!bad_) {
        const char* const op = accept("&&")   ? "and"
                               : accept("||") ? "or"
                               : accept("^")  ? "xor"
                                              : nullptr;
        if (!op) break;
        tree = op_node(op, std::move(tree), compare());
    }
    return tree;
}

Json TreeReader::compare() {
    Json tree = sum();
    for (const char* const op : {"<=", ">=", "==", "!=", "<", ">"}) {
        if (accept(op)) return op_node(op, std::move(tree), sum());
    }
    return tree;
}

Json TreeReader::sum() {
    Json tree = product();
    while (!bad_ && (peek().text == "+" || peek().text == "-")) {
        const std::string op(take().text);
        tree = op_node(op, std::move(tree), product());
    }
    return tree;
}

Json TreeReader::product() {
    Json tree = unary();
    while (!bad_) {
        const TextToken sign = peek();
        if (accept("*")) {
            tree = op_node("*", std::move(tree), unary());
        } else if (accept("/")) {
            tree = op_node("/", std::move(tree), unary());
            if (!spaced(sign)) tree = call_node("floor", Json::array({std::move(tree)}));
        } else if (accept("\\")) {
            tree = call_node("ceil", Json::array({op_node("/", std::move(tree), unary())}));
        } else if (accept("%")) {
            tree = op_node("mod", std::move(tree), unary());
        } else {
            break;
        }
    }
    return tree;
}

Json TreeReader::unary() {
    if (bad_ || ++depth_ > ir::kMaxTextDepth) return fail();
    Json tree;
    if (accept("-")) {
        tree = {{"k", "neg"}, {"of", unary()}};
    } else if (accept("!")) {
        tree = call_node("not", Json::array({unary()}));
    } else {
        tree = power();
    }
    --depth_;
    return tree;
}

Json TreeReader::power() {
    Json tree = primary();
    if (accept("**")) tree = op_node("^", std::move(tree), unary());
    return tree;
}

Json TreeReader::primary() {
    switch (peek().kind) {
        case TextKind::Int:
        case TextKind::Real:
            return number_node(take().text);
        case TextKind::String:
            return name_node("'" + take().value + "'");
        case TextKind::Tensor:
            return element();
        case TextKind::Word:
            return word();
        default:
            break;
    }
    if (!accept("(")) return fail();
    Json tree = expression();
    expect(")");
    return tree;
}

Json TreeReader::word() {
    const std::string name(take().text);
    if (peek().text == "(") return call(name);
    if (name == "inf" || name == "nan") return number_node(name);
    const auto let = lets.find(name);
    return let == lets.end() ? name_node(name) : let->second;
}

// A conversion to real is no operation for the reader of a formula.
Json TreeReader::call(std::string_view name) {
    expect("(");
    Json args = Json::array();
    do args.push_back(expression());
    while (!bad_ && accept(","));
    expect(")");
    if (name == "real" && args.size() == 1) return std::move(args[0]);
    return call_node(name, std::move(args));
}

Json TreeReader::element() {
    if (peek().kind != TextKind::Tensor) return fail();
    const std::string name = take().value;
    expect("[");
    Json at = Json::array();
    while (!bad_ && peek().text != "]") {
        if (!at.empty()) expect(",");
        at.push_back(index(name, at.size()));
    }
    expect("]");
    if (at.empty()) return name_node(name);  // a scalar
    return {{"k", "index"}, {"of", name_node(name)}, {"at", std::move(at)}};
}

// `|i|` takes part only if it is inside the axis; `|i <> a : b|` is replaced if it is outside.
Json TreeReader::index(std::string_view tensor, size_t axis) {
    if (!accept("|")) return expression();
    Json tree = expression();
    const std::string extent = extent_ ? extent_(tensor, axis) : "";
    const auto end = [&] {
        const bool number = extent.find_first_not_of("0123456789") == std::string::npos;
        return number ? number_node(extent) : name_node(extent);
    };
    if (accept("<>")) {
        Json below = expression();
        expect(":");
        Json above = expression();
        Json arms = Json::array();
        arms.push_back(Json::array({op_node("<", tree, number_node("0")), std::move(below)}));
        if (!extent.empty())
            arms.push_back(Json::array({op_node(">=", tree, end()), std::move(above)}));
        arms.push_back(Json::array({nullptr, std::move(tree)}));
        tree = {{"k", "cases"}, {"arms", std::move(arms)}};
    } else {
        conditions.push_back(op_node("<=", number_node("0"), tree));
        if (!extent.empty()) conditions.push_back(op_node("<", tree, end()));
    }
    expect("|");
    return tree;
}

// `y = sum over …`, or `y += sum over …` if y has a value already.
Json reduced(const TreeReader::Statement& statement,
             const std::vector<std::string>& over,
             bool initialised) {
    const char* const reduction = reduction_of(statement.op);
    Json whole;
    for (size_t i = 0; i < statement.targets.size(); ++i) {
        Json value = statement.values[i];
        if (reduction && !over.empty())
            value = {{"k", reduction}, {"over", over}, {"of", std::move(value)}};
        const bool first = reduction && !initialised && !over.empty();
        Json one = op_node(first ? "=" : statement.op, statement.targets[i], std::move(value));
        whole = i == 0 ? std::move(one) : op_node(",", std::move(whole), std::move(one));
    }
    return whole;
}

}  // namespace

std::optional<FormulaTree> formula_tree(const std::vector<std::string>& lines,
                                        bool initialised,
                                        const ExtentOf& extent) {
    FormulaTree made;
    std::map<std::string, Json> lets;
    std::set<std::string> seen_conditions;
    const auto add_conditions = [&](Json& list) {
        for (Json& one : list) {
            if (seen_conditions.insert(one.dump(-1, ' ', false, Json::error_handler_t::replace))
                    .second)
                made.conditions.push_back(std::move(one));
        }
    };
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
        TreeReader reader(lines[i], extent);
        reader.lets = lets;
        auto let = reader.let();
        if (!let) return std::nullopt;
        add_conditions(reader.conditions);
        if (count_nodes(let->second) <= kMostNodes / 4) {
            lets[let->first] = std::move(let->second);
        } else {
            made.lets.push_back(Json::array({let->first, std::move(let->second)}));
        }
    }
    TreeReader reader(lines.back(), extent);
    reader.lets = std::move(lets);
    const auto statement = reader.statement();
    if (!statement) return std::nullopt;
    add_conditions(reader.conditions);
    if (statement->condition) made.conditions.push_back(*statement->condition);
    made.indices = statement->bounds;
    std::set<std::string> kept;
    find_names(statement->targets, kept);
    if (reduction_of(statement->op)) {
        std::ranges::copy_if(statement->bounds,
                             std::back_inserter(made.over),
                             [&](const std::string& name) { return !kept.contains(name); });
    }
    made.statement = reduced(*statement, made.over, initialised);
    if (count_nodes(made.statement) > 8 * kMostNodes) return std::nullopt;
    return made;
}

std::optional<Json> expression_tree(const std::string& text) {
    static const ExtentOf none;
    return TreeReader(text, none).whole_expression();
}

}  // namespace lemma::view
