// SPDX-License-Identifier: Apache-2.0
// ir/text/print_layout.h — the names of tensors in the text of a program, and their place of
// declaration: at the top, or at the operation that makes them.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

class PrintLayout {
public:
    explicit PrintLayout(const Program& program);

    // `%name`, `%"odd name"`, and `%name~2` for the second tensor with that name.
    const std::string& handle(TensorId id) const { return handles_[id]; }
    // The tensors declared at the top, in order.
    const std::vector<TensorId>& top() const { return top_; }
    bool is_inline(TensorId id) const { return places_[id] == Place::Inline; }

private:
    enum class Place : uint8_t { Unseen, Inline, Top };

    void walk(const std::vector<OpId>& operations, int depth);
    void walk(OpId id, int depth);
    void walk(GraphId id, int depth);
    void define(TensorId id);
    void read(TensorId id);
    void read(const Operand& operand);
    void name_tensors();

    const Program& program_;
    Table<TensorId, Place> places_;
    Table<TensorId, std::string> handles_;
    std::vector<TensorId> top_, inline_;
};

}  // namespace lemma::ir
