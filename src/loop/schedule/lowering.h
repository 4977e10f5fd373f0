// SPDX-License-Identifier: Apache-2.0
// loop/schedule/lowering.h — lowers values of stages to expressions of a kernel: indices become
// addresses, and a variable may run along the lanes of vectors.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loop/ir/layout.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

class Lowering {
public:
    Lowering(StagePool& pool, const BufferViews& places, ScheduledKernel& result)
        : build(result.function),
          lane_var(build.var("lane")),
          pool_(pool),
          places_(places),
          result_(result) {}

    // Expresses a variable of the stage in the kernel's variables; `lane_var` stands for the lane.
    void bind(VarId stage_var, Address address);
    void bind(VarId stage_var, VarId var) {
        Address address;
        address.add(var, 1);
        bind(stage_var, std::move(address));
    }
    const Address& bound(VarId stage_var) const { return bindings_.at(stage_var); }
    // Sets the number of lanes and the mask of active ones (missing: all).
    void set_lanes(uint16_t lanes, ExprId mask);
    uint16_t lanes() const { return lanes_; }
    ExprId mask() const { return mask_; }
    // Narrows the mask until restore(); returns the previous mask.
    ExprId narrow(ExprId also);
    void restore(ExprId mask) { set_lanes(lanes_, mask); }

    ExprId value(ExprId stage_value);
    // Uses the given value for a stage's expression.
    void define(ExprId stage_value, ExprId value) { values_[stage_value] = value; }
    void forget_values() { values_.clear(); }
    // Replaces further reads of the tensor, at any index, by the value.
    void hold(ir::TensorId tensor, ExprId value) { held_[tensor] = value; }
    // The place of an element; with lanes if an index has lanes.
    struct Element {
        BufferId buffer;
        Address address;
        bool in_lanes = false;
    };
    Element element(ir::TensorId tensor, const std::vector<ExprId>& index, bool written);
    ExprId load(ir::TensorId tensor, const std::vector<ExprId>& index);
    Stmt store(ir::TensorId tensor, const std::vector<ExprId>& index, ExprId value);
    // Stores the result for a total of the stage, and what it assigns beside.
    void store_result(const Stage& stage, ExprId total, Block& out);
    BufferId buffer(ir::TensorId tensor, bool written);
    bool in_lanes(ExprId stage_value) const;

    Builder build;
    VarId lane_var;
    // A vector divided by one number is multiplied by its reciprocal, and the product corrected.
    bool multiplies_quotients = false;
    bool has_library = true;  // false: for a device

private:
    Address affine(const Address& of_stage) const;
    bool add_split(Address& address, const Address& index, const Layout& layout) const;
    void add_affine(Address& address, const Address& index, int64_t stride) const;
    ExprId checked(ExprId at, ExprId extent);
    std::vector<ExprId> strides(const BufferView& place);
    void finish(Element& element, ExprId dynamic);
    ExprId number(const Address& address);
    ExprId compute(const Expr& e);

    StagePool& pool_;
    const BufferViews& places_;
    ScheduledKernel& result_;
    std::unordered_map<VarId, Address, IdHash> bindings_;
    std::unordered_map<StorageId, BufferId, IdHash> buffers_;
    std::unordered_map<ExprId, ExprId, IdHash> values_;
    std::unordered_map<ir::TensorId, ExprId, IdHash> held_;
    uint16_t lanes_ = 1;
    ExprId mask_;
};

// Whether expand_function knows the function.
bool is_expanded(std::string_view name);
// Expands exp, log, tanh, erf and pow of floats into a few operations; empty for other functions.
ExprId expand_function(Builder& build, const std::string& name, const std::vector<ExprId>& args);

// x / divisor, of many floats by one number. Correctly rounded, unless x or the result is below
// 2^-100; then it is off by one unit in the last place at most.
ExprId quotient_of_many(Builder& build, ExprId x, ExprId divisor);
// Whether kernels of the stage may have such quotients: the target multiplies and adds in one
// operation, many quotients have one divisor, and none decides about a whole number. `together`:
// steps of the loop along the lanes.
bool may_multiply_quotients(const Stage& stage,
                            const StagePool& pool,
                            const Target& target,
                            int64_t together);

}  // namespace lemma::loop
