// SPDX-License-Identifier: Apache-2.0
// diff/views.h — tensors that are copies of others with their axes in another form: reshaped,
// transposed, sliced or repeated. Formulas are hashed as if they read the copied tensors.
#pragma once

#include <optional>
#include <vector>

#include "diff/expr_hash.h"

namespace lemma::diff {

class Views {
public:
    // Adds expressions to the symbols of the program.
    explicit Views(ir::Program& program) : program_(program) {}

    // Remembers the results of a primitive that are views; call it in execution order.
    void learn(const ir::Operation& op);
    // The tensor of which this one is a view, or itself.
    ir::TensorId base(ir::TensorId id) const;
    // The tensor with the same type and elements that was made first.
    ir::TensorId same(ir::TensorId id) const;
    // `tensors` gives hashes of the tensors that are read and written.
    Hash formula_hash(const ir::Formula& formula,
                      ExprHasher& expressions,
                      const TensorHash& tensors);

private:
    struct View {
        ir::TensorId base;
        std::vector<ir::SymId> axes;     // symbols for the indices of the view
        std::vector<ir::SymId> indices;  // of the base, over these symbols
        bool plain = false;              // all indices in order, of the same shape
    };
    struct Element {
        ir::TensorId tensor;
        std::vector<ir::SymId> indices;
        std::vector<Hash> guards;
    };
    using Substitution = std::unordered_map<ir::SymId, ir::SymId, IdHash>;

    std::optional<View> view_of(const ir::Formula& formula);
    std::optional<Substitution> inverse(const ir::Write& write,
                                        const ir::Formula& formula,
                                        std::vector<ir::SymId>& axes);
    bool invert_axis(ir::SymId index,
                     ir::SymId extent,
                     ir::SymId axis,
                     const ir::Formula& formula,
                     Substitution& found);
    Substitution units(const ir::Formula& formula);
    ir::SymId replaced(ir::SymId id, const Substitution& with);
    std::optional<ir::SymId> constant(ir::TensorId id);
    Hash element_hash(const ir::Access& access,
                      const Substitution& with,
                      ExprHasher& expressions,
                      const TensorHash& tensors);
    Hash guard_hash(const ir::IndexTerm& term,
                    ir::SymId value,
                    ir::SymId extent,
                    const Substitution& with,
                    ExprHasher& expressions);
    bool is_unit(ir::SymId extent) const { return program_.symbols.as_int(extent) == 1; }

    ir::Program& program_;
    Table<ir::TensorId, std::optional<View>> views_;
};

}  // namespace lemma::diff
