// SPDX-License-Identifier: Apache-2.0
// certify/walk.h — the operations of a program in order, on abstract arrays; see certify.h.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>

#include "certify/abstract_array.h"
#include "certify/certify.h"
#include "certify/evaluator.h"
#include "certify/norms.h"

namespace lemma::certify {

class Walk {
public:
    Walk(const ir::Program& program, const VariableReader& variables, const CertifyOptions& options)
        : program_(program), variables_(variables), options_(options) {
        budget_.most = options.max_steps;
    }

    Result<Certificate> run();

private:
    using Ref = std::shared_ptr<AbstractArray>;

    bool is_empty(const ir::Tensor& tensor) const;
    Result<void> bind_inputs();
    Result<void> bind_input(ir::TensorId id, const InputRange& range);
    Result<Ref> value_of(ir::TensorId id);
    Result<Ref> constant(ir::TensorId id);
    Result<Ref> array(ir::TensorId id);
    void set(ir::TensorId id, Ref value);
    Result<void> operations(const std::vector<ir::OpId>& ids);
    Result<void> operation(ir::OpId id);
    Result<void> formulas(const ir::Operation& op);
    // One evaluation of all formulas.
    struct Pass {
        Precision precision;
        bool as_given = false;
        bool centre = false;  // on the centres of the inputs
        std::map<ir::TensorId, Ref> outputs = {};
        Events events = {};
        // By output, then by input; an output of a formula without a known bound is absent.
        std::map<ir::TensorId, std::map<ir::TensorId, Stretch>> stretches = {};
        std::set<ir::TensorId> unbounded = {};
    };
    Result<void> evaluate(const ir::Operation& op, Pass& pass);
    Result<void> evaluate(const ir::Formula& formula, Pass& pass);
    Precision precision_of(const ir::Formula& formula, const Pass& pass) const;
    struct Passes {
        Pass introduced, passed_on, centre;
        bool exact = false;       // the inputs have no errors: nothing is passed on
        bool has_centre = false;  // of all inputs
    };
    void finish(const ir::Operation& op, Passes& passes);
    void note_hazards(const Expression& expression);
    Result<bool> has_centres(const ir::Operation& op);
    void note_stretch(const Expression& expression, StretchFinder& finder, Pass& pass);
    Result<Ref> centre_of(ir::TensorId id, AbstractArray& input);
    // Tightens the bounds of a result by norms, and sets those of the result.
    void apply_norms(ir::TensorId id,
                     AbstractArray& made,
                     const Pass& introduced,
                     const Pass* centre,
                     const std::vector<double>& own);
    void note_events(const ir::Operation& op, const Events& events);
    Result<void> unknown(const ir::Operation& op, std::string reason);
    Result<void> branch(const ir::Operation& op, const ir::Branch& branch);
    Result<void> loop(const ir::Operation& op, const ir::Loop& loop);
    // The outputs of the possible arms of a branch.
    using ArmResults = std::map<ir::TensorId, std::vector<Ref>>;
    Result<void> take_arm(const ir::Operation& op, ir::GraphId graph, ArmResults& results);
    // Empty if nothing is known.
    Result<std::optional<Value>> condition(ir::GraphId graph);
    enum class LoopState { GoesOn, Ended, Unknown };
    Result<LoopState> loop_step(const ir::Operation& op, const ir::Loop& loop, int64_t step);
    TensorBound bound_of(ir::TensorId id, const AbstractArray& array, bool elements) const;
    void record(ir::TensorId id, const AbstractArray& array);
    void describe(Certificate& certificate);
    Result<void> check_updates();

    const ir::Program& program_;
    const VariableReader& variables_;
    const CertifyOptions& options_;
    Budget budget_;
    uint64_t arrays_ = 0;
    int64_t live_ = 0;  // elements of abstract arrays, which count themselves: before `values_`
    std::unordered_map<ir::TensorId, Ref, IdHash> values_;
    Certificate certificate_;
    NodeRecord* node_ = nullptr;               // the operation of the main graph
    std::map<ir::TensorId, size_t> recorded_;  // positions in certificate_.tensors
    std::set<std::string> functions_;
    std::set<std::string> used_;    // assumptions
    std::set<ir::TensorId> outer_;  // results of operations of the main graph
};

}  // namespace lemma::certify
