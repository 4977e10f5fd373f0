// SPDX-License-Identifier: Apache-2.0
// diff/views.h — tensors that are copies of others with their axes in another form: reshaped,
// transposed, sliced or repeated. Formulas are hashed as if they read the copied tensors. With
// `inline_maps`, they are hashed as if they computed all element-wise operations themselves.
#pragma once

#include <optional>
#include <vector>

#include "diff/expr_hash.h"

namespace lemma::diff {

class Views {
public:
    // Adds expressions to the symbols of the program.
    explicit Views(ir::Program& program, bool inline_maps = false)
        : program_(program), inline_maps_(inline_maps) {}

    // Remembers the results of a primitive that are views; call it in execution order.
    void learn(const ir::Operation& op);
    // The tensor of which this one is a view, or itself.
    ir::TensorId base(ir::TensorId id) const;
    // The tensor with the same type and elements that was made first.
    ir::TensorId same(ir::TensorId id) const;
    // The same, but axes of extent 1 do not count.
    ir::TensorId alike(ir::TensorId id) const;
    // With `inline_maps`: what a tensor is, whichever operations make it; nothing if it is not
    // element-wise. Call it after `learn`.
    std::optional<Hash> meaning(const ir::Operation& op,
                                ir::TensorId id,
                                ExprHasher& expressions,
                                const TensorHash& tensors);
    // The same for a constant of one value.
    std::optional<Hash> filled(ir::TensorId id, ExprHasher& expressions);
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
        bool alike = false;              // the same without axes of extent 1
    };
    using Substitution = std::unordered_map<ir::SymId, ir::SymId, IdHash>;
    // An element-wise result: the value of the formula, whose bounds are given by the axes. A sum
    // that begins with a value adds it to the sum that begins with 0.
    struct Map {
        std::vector<ir::Access> accesses;  // with symbols of their own: formulas may share theirs
        ir::SymId value;
        std::vector<ir::SymId> axes;
        Substitution bounds;
        std::optional<Hash> sum = {};
    };
    using Indices = std::vector<ir::SymId>;

    std::optional<View> view_of(const ir::Formula& formula);
    std::optional<Map> map_of(const ir::Formula& formula);
    std::optional<ir::SymId> filled_with(const ir::Formula& formula);
    bool is_plain(const View& view, const ir::Tensor& to, bool units) const;
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
    Hash access_hash(const ir::Access& access,
                     const Substitution& with,
                     ExprHasher& expressions,
                     const TensorHash& tensors);
    // The element of a tensor at the indices.
    Hash element_hash(ir::TensorId tensor,
                      Indices indices,
                      ExprHasher& expressions,
                      const TensorHash& tensors);
    Hash map_hash(ir::TensorId tensor,
                  const Indices& indices,
                  ExprHasher& expressions,
                  const TensorHash& tensors);
    bool rounds(const ir::Formula& formula) const;
    bool is_zero(const ir::Formula& formula) const;
    Hash type_hash(ir::TensorId id, ExprHasher& expressions);
    // The first formula sets a real result, and the second one, the last, adds to it.
    struct Sum {
        const ir::Formula *start, *rest;
    };
    static std::optional<Sum> sum_of(const ir::Operation& op, ir::TensorId id);
    Hash guard_hash(const ir::IndexTerm& term,
                    ir::SymId value,
                    ir::SymId extent,
                    const Substitution& with,
                    ExprHasher& expressions);
    bool is_unit(ir::SymId extent) const { return program_.symbols.as_int(extent) == 1; }

    ir::Program& program_;
    bool inline_maps_;
    Table<ir::TensorId, std::optional<View>> views_;
    Table<ir::TensorId, std::optional<Map>> maps_;
    Table<ir::TensorId, std::optional<ir::SymId>> filled_;  // with one value
    std::unordered_map<Hash, Hash, HashHash> elements_;     // of maps, by tensor and indices
    int depth_ = 0;
    int64_t work_ = 0;  // elements of maps in the current formula
};

}  // namespace lemma::diff
