// SPDX-License-Identifier: Apache-2.0
// ir/text/print_impl.h — the state of printing one program: print.cpp has the statements,
// print_parts.cpp their parts.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/text/print_expr.h"
#include "ir/text/print_formula.h"
#include "ir/text/print_layout.h"

namespace lemma::ir {

class ProgramPrinter {
public:
    explicit ProgramPrinter(const Program& program);
    std::string run();

private:
    using Visit = std::function<void(SymId)>;

    void line(std::string_view text);
    void blank() { blank_ = true; }  // an empty line before the next one

    FormulaPrinter::Handle handles() const {
        return [this](TensorId id) { return layout_.handle(id); };
    }
    void print_symbols();
    void print_symbol(SymId id);
    void count_uses();
    void print_lets();
    // Omits the name of the graph if it is `usual_name`; an empty `usual_name` omits nothing.
    void print_graph(std::string_view word, std::string_view usual_name, GraphId id, int depth);
    void print_operation(OpId id, int depth);
    void print_body(const Operation& op, int depth);
    void print_assertions(const std::vector<Assertion>& assertions);

    // print_parts.cpp
    // Visits the expressions of the program outside of formulas, and those of a formula.
    void for_each_root(const Visit& visit) const;
    void for_each_root(const Value& value, const Visit& visit) const;
    void for_each_root(const std::vector<Port>& ports, const Visit& visit) const;
    void for_each_root(const Formula& formula, const Visit& visit) const;
    std::string type_text(const Tensor& tensor);
    std::string items_text(const Tensor& tensor);
    std::string scalar_text(const Scalar& scalar);
    std::string value_text(const Value& value);
    std::string attributes_text(const std::vector<Attribute>& attributes);
    std::string ports_text(const std::vector<Port>& ports);
    std::string over_text(const Loop& loop);
    // Declares a tensor with its type at its first appearance.
    std::string definition_text(const Operand& operand);
    std::string definition_text(TensorId id);
    std::string operand_text(const Operand& operand,
                             const std::function<std::string(TensorId)>& item_text);

    const Program& program_;
    const PrintLayout layout_;
    ExprScope scope_;
    WordChooser words_;
    std::unordered_set<TensorId, IdHash> defined_;
    std::unordered_set<OpId, IdHash> printed_;
    std::string out_;
    int indent_ = 0;
    bool blank_ = false;
};

}  // namespace lemma::ir
