// SPDX-License-Identifier: Apache-2.0
// tests/property/random_exprs.h — random expressions, valid by the grammar, without parentheses
// where a program would leave them out.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// Throws the dice, and makes names and expressions.
class RandomExprs {
public:
    explicit RandomExprs(uint64_t seed) : random_(seed) {}

protected:
    using ExprNode = decltype(Expr::node);

    // ---- Dice ----

    size_t below(size_t count) { return random_() % count; }
    bool one_in(size_t count) { return below(count) == 0; }
    template <class T>
    T pick(std::initializer_list<T> items) {
        return items.begin()[below(items.size())];
    }
    template <class Make>
    auto some(size_t least, size_t most, Make make) {
        std::vector<decltype(make())> items;
        for (size_t count = least + below(most - least + 1); count > 0; --count) {
            items.push_back(make());
        }
        return items;
    }

    // ---- Names ----

    Name name() {
        return {pick<std::string_view>({"x", "y1", "_t", "axes", "is_on", "input", "e1", "rank"}),
                {}};
    }
    Name type_name() { return {pick<std::string_view>({"int", "real", "bool", "str", "T"}), {}}; }
    QualifiedName qualified_name() {
        return {some(1, 3, [&] { return name(); }), {}};
    }

    // ---- Expressions ----

    ExprId add(ExprNode node) { return module_.exprs.add({.span = {}, .node = std::move(node)}); }
    ExprId maybe(int depth) { return one_in(2) ? expr(depth) : ExprId{}; }

    ExprId expr(int depth) {
        if (depth <= 0 || one_in(5)) return leaf();
        const int d = depth - 1;
        switch (below(16)) {
            case 0:
                return add(Member{expr(d), pick({MemberKind::Shape, MemberKind::Rank})});
            case 1:
                return add(Paren{expr(d)});
            case 2:
                return add(List{some(0, 4, [&] { return list_item(d); })});
            case 3:
                return add(Index{expr(d), one_in(3) ? open_range(d) : expr(d)});
            case 4:
                return access(expr(d), d);
            case 5:
                return add(Substitution{expr(d), one_in(3) ? open_range(d) : expr(d), expr(d)});
            case 6:
                return unary(d);
            case 7:
                return add(Select{expr(d), expr(d), maybe(d)});
            case 8:
                return add(Coalesce{expr(d), expr(d)});
            case 9:
                return add(NullTest{expr(d)});
            case 10:
                return fold(d);
            case 11:
                return add(Cast{type_name(), maybe(d)});
            case 12:
                return add(
                    BuiltinCall{{pick<std::string_view>({"sin", "abs", "erf"}), {}}, expr(d)});
            case 13:
                return string(d);
            default:
                return binary(d);
        }
    }

    ExprId leaf() {
        switch (below(9)) {
            case 0:
                return add(IntLiteral{pick<int64_t>({0, 1, 42, INT64_MAX})});
            case 1:
                return add(RealLiteral{pick({0.0, 0.1, 5.0, 1e300, 1e-7, 123456.75}), ""});
            case 2:
                return add(
                    RealLiteral{2.0, pick<std::string_view>({"2.", "2.0", "2e0", "0.2E+1"})});
            case 3:
                return add(BoolLiteral{one_in(2)});
            case 4:
                return one_in(2) ? add(InfLiteral{}) : add(PiLiteral{});
            case 5:
                return add(Identifier{pick<std::string_view>({"is", "in", "n"})});
            default:
                return add(Identifier{name().text});
        }
    }

    ExprId unary(int depth) {
        return add(Unary{pick({UnaryOp::Plus, UnaryOp::Minus, UnaryOp::Not}), expr(depth)});
    }

    ExprId binary(int depth) {
        const auto op = static_cast<BinaryOp>(below(static_cast<size_t>(BinaryOp::In) + 1));
        // `a < b > (c)` is a call with type arguments.
        const int right_depth = op == BinaryOp::Greater ? 0 : depth;
        const ExprId lhs = expr(depth);
        return add(Binary{op, lhs, expr(right_depth), {}});
    }

    ExprId fold(int depth) {
        const auto op = static_cast<FoldOp>(below(static_cast<size_t>(FoldOp::Uniform) + 1));
        return add(Fold{op, expr(depth), op <= FoldOp::Max && one_in(2), {}});
    }

    ExprId string(int depth) {
        using Part = StringLiteral::Part;
        if (in_string_) return add(StringLiteral{{Part{"plain", {}}}});
        if (one_in(3)) {
            const auto first = static_cast<uint32_t>(module_.pieces.size());
            for (const char* const piece : {"'it\\'s '", "\"\\{\\n\"", "'\\} ok'"}) {
                module_.pieces.emplace_back(piece);
            }
            return add(StringLiteral{{Part{"it's {\n} ok", {}}}, first, 3});
        }
        in_string_ = true;
        std::vector<Part> parts = some(0, 3, [&] {
            const std::string_view text =
                pick<std::string_view>({"a b", "\t{\\}", "\"quoted\"", "'"});
            return one_in(2) ? Part{text, {}} : Part{"", expr(std::min(depth, 2))};
        });
        in_string_ = false;
        return add(StringLiteral{std::move(parts)});
    }

    // ---- Items ----

    ExprId open_range(int depth) { return add(Range{maybe(depth), maybe(depth), maybe(depth)}); }

    ExprId expansion(int depth) {
        if (!one_in(3)) return add(Expand{expr(depth), maybe(depth)});
        const ExprId zip = add(Zip{some(2, 3, [&] { return expr(depth); })});
        return add(Expand{zip, maybe(depth)});
    }

    ExprId list_item(int depth) {
        if (one_in(4)) return add(Range{expr(depth), expr(depth), maybe(depth)});
        return one_in(3) ? expansion(depth) : expr(depth);
    }

    ExprId access(ExprId base, int depth) {
        return add(Access{base, some(0, 3, [&] { return access_index(depth); })});
    }

    ExprId access_index(int depth) {
        if (in_lower_ && !in_string_ && one_in(3)) return guarded(depth);
        if (one_in(4)) return open_range(depth);
        return one_in(3) ? expansion(depth) : expr(depth);
    }

    ExprId guard(int depth) {
        if (one_in(2)) return add(Guard{expr(depth), {}, {}});
        return add(Guard{expr(depth), expr(depth), expr(depth)});
    }

    ExprId guarded(int depth) {
        switch (below(5)) {
            case 0:
                return add(Expand{guard(depth), {}});
            case 1:
                return add(Select{expr(depth), guard(depth), guard(depth)});
            case 2:
                return add(Coalesce{guard(depth), expr(depth)});
            case 3:
                return add(Substitution{expr(depth), expr(depth), guard(depth)});
            default:
                return guard(depth);
        }
    }

    std::mt19937_64 random_;
    Module module_;
    bool in_lower_ = false;
    bool in_string_ = false;
};

}  // namespace lemma::sknd
