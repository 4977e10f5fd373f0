// SPDX-License-Identifier: Apache-2.0
// ir/text/print_formula.h — formulas as index algebra.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program/program.h"
#include "ir/text/print_expr.h"

namespace lemma::ir {

// Gives each symbol a unique word.
class WordChooser {
public:
    explicit WordChooser(const WordChooser* outer = nullptr) : outer_(outer) {}
    // The name itself if it is free and can be a symbol; else the name, or `otherwise`, with a
    // number.
    std::string choose(const std::string& name, const std::string& otherwise);
    // `t0`, `t1`, …
    std::string next(const std::string& prefix);
    bool taken(const std::string& word) const;

private:
    const WordChooser* outer_;
    std::unordered_set<std::string> words_;
    std::unordered_map<std::string, int> counts_;
};

class FormulaPrinter {
public:
    // The text of a tensor: `%x`.
    using Handle = std::function<std::string(TensorId)>;
    FormulaPrinter(const Program& program,
                   Handle handle,
                   ExprScope& scope,
                   const WordChooser& words)
        : program_(program), handle_(std::move(handle)), scope_(scope), words_(words) {}

    // Counts the uses of expressions that the formula shares with the program.
    void count(const Formula& formula) const;
    // The lets, then the statement.
    std::vector<std::string> lines(const Formula& formula) const;

private:
    struct Roots {
        std::vector<SymId> extents, values, indices, condition;
        std::vector<SymId> behind_lets() const;
    };
    struct Text {
        ExprScope scope;
        WordChooser words;
        std::vector<std::string> lines;
    };

    Text begin(const Formula& formula) const;
    Roots roots(const Formula& formula) const;
    std::vector<std::string> print(const Formula& formula, bool all_accesses, bool& exact) const;
    void print_lets(const std::vector<SymId>& lets, Text& text) const;
    std::string statement(const Formula& formula, ExprScope& scope) const;
    std::string bounds_text(const Formula& formula, ExprScope& scope) const;
    bool needs_lets(const Formula& formula) const;

    const Program& program_;
    Handle handle_;
    ExprScope& scope_;
    const WordChooser& words_;
};

std::string range_text(Interval range);

}  // namespace lemma::ir
