// SPDX-License-Identifier: Apache-2.0
// edit/copier.h — copies operations of one program into another, with their tensors, expressions
// and sub-graphs. Tensors and expressions with a given counterpart are replaced by it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program/copy_expr.h"
#include "ir/program/program.h"

namespace lemma::edit {

class Copier {
public:
    // The name of a copied tensor or the label of a copied operation; empty: names stay.
    using Rename = std::function<std::string(const std::string&)>;

    Copier(const ir::Program& from, ir::Program& into)
        : from_(from), into_(into), exprs_(from.symbols, into.symbols) {}

    ir::ExprCopier& exprs() { return exprs_; }
    void put(ir::TensorId id, ir::TensorId copy) { tensors_[id] = copy; }
    void rename_tensors(Rename rename) { tensor_name_ = std::move(rename); }
    void rename_labels(Rename rename) { label_ = std::move(rename); }
    void rename_operators(Rename rename) { operator_ = std::move(rename); }

    ir::TensorId tensor(ir::TensorId id);
    ir::OpId operation(ir::OpId id);
    ir::Port port(const ir::Port& port);
    ir::SymId expr(ir::SymId id);
    // Those whose symbols all have counterparts: nobody could check the others.
    std::vector<ir::Assertion> known_assertions(const std::vector<ir::Assertion>& assertions);

    bool has(ir::TensorId id) const { return tensors_.contains(id); }
    const std::unordered_map<ir::TensorId, ir::TensorId, IdHash>& tensors() const {
        return tensors_;
    }
    // An expression had no value for the given replacements.
    bool failed() const { return failed_; }

private:
    ir::Scalar scalar(const ir::Scalar& scalar);
    ir::Value value(const ir::Value& value);
    std::vector<ir::Port> ports(const std::vector<ir::Port>& ports);
    void indices(std::vector<ir::IndexTerm>& terms);
    ir::Formula formula(const ir::Formula& formula);
    ir::Branch branch(const ir::Branch& branch);
    ir::Loop loop(const ir::Loop& loop);
    ir::GraphId graph(ir::GraphId id);

    const ir::Program& from_;
    ir::Program& into_;
    ir::ExprCopier exprs_;
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> tensors_;
    Rename tensor_name_, label_, operator_;
    bool failed_ = false;
};

}  // namespace lemma::edit
