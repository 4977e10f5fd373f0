// SPDX-License-Identifier: Apache-2.0
// emit/certified/model_writer.h — writes the functions and files of a model; see certified.h.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "emit/certified/certified.h"
#include "emit/certified/lower.h"
#include "emit/certified/program_files.h"

namespace lemma::emit {

using TensorList = std::vector<ir::TensorId>;

class ModelWriter {
public:
    ModelWriter(const CertifiedInput& input,
                LoweredProgram& lowered,
                std::vector<Obstacle>& obstacles)
        : input_(input),
          program_(input.program),
          lowered_(lowered),
          graph_(lowered.graph),
          obstacles_(obstacles) {}

    std::optional<CertifiedModel> run();

private:
    // What a step of the model does: a function without arguments.
    struct Call {
        std::string function;
        std::string holds;         // may be empty
        TensorList used, written;  // used: read or written
        CBox box;                  // as in CFunction
        std::vector<std::string> assigns;
        bool faults = false;
        ir::OpId op;
    };
    using Calls = std::vector<Call>;

    void find_arrays();
    void use_steps(const Steps& steps);
    void use(ir::TensorId id);
    CArray array_of(ir::TensorId id) const;
    std::string declaration(ir::TensorId id) const;
    std::optional<interpret::Array> constant_values(const ir::Tensor& tensor);

    void add(CFunction function, ir::OpId op);
    Call call_of(const CFunction& function, ir::OpId op) const;
    Call group_function(const loop::FusionGroup& group);
    void put_flat_copy(ir::TensorId id, const std::string& flat, bool to, CLines& lines);
    Call intrinsic_function(ir::OpId id);
    Call bit_cast_function(ir::OpId id, ir::TensorId from, ir::TensorId to);
    Call copy_function(const CopyStep& step, ir::OpId op);
    Call own_access(ir::TensorId id, bool written, ir::OpId op) const;
    void put_steps(const Steps& steps, CLines& lines, Calls& all);
    void put_copies(const std::vector<CopyStep>& copies, ir::OpId op, CLines& lines, Calls& all);
    void put_condition(
        const Steps& steps, ir::TensorId value, const LoopStep& loop, CLines& lines, Calls& all);
    void put_iteration(const LoopStep& step, CLines& lines, Calls& all);
    Call loop_function(const LoopStep& step);
    Call branch_function(const BranchStep& step);
    Call sequence_function(const std::string& name,
                           const std::string& comment,
                           const Calls& calls,
                           ir::OpId op);
    Calls calls_of(const Steps& steps);
    std::string op_comment(const loop::FusionGroup& group) const;
    std::string short_name(ir::OpId id) const;
    std::string new_id() { return fmt::format("n{}", next_++); }
    void put_item_switch(const LoopStep::Item& item,
                         bool take,
                         int64_t count,
                         ir::OpId op,
                         CLines& lines,
                         Calls& all);
    static void put_calls(const Calls& calls, CLines& lines);
    Call finish_function(CFunction function, const Calls& inner, ir::OpId op);
    Calls in_blocks(Calls calls);
    void run_function(const Calls& calls);
    void reset_function();
    std::vector<CFile> files();

    const CertifiedInput& input_;
    const ir::Program& program_;
    LoweredProgram& lowered_;
    loop::StageGraph& graph_;
    std::vector<Obstacle>& obstacles_;
    TensorNames names_;
    CNames c_names_;
    TensorList arrays_;  // in the order of the program
    std::unordered_set<ir::TensorId, IdHash> used_;
    std::unordered_set<ir::TensorId, IdHash> changed_;  // variables with updates
    std::vector<CopyStep> starts_;  // from the first values of variables to the variables
    std::vector<CConstant> constants_;
    std::unordered_set<ir::TensorId, IdHash> constant_;
    CProgram c_program_;
    std::unordered_set<ir::TensorId, IdHash> ports_;
    std::vector<std::pair<std::string, CertifiedFunction>> functions_;  // with their comments
    std::string pending_comment_;
    std::vector<ir::OpId> unspecified_;
    std::string fault_;
    bool uses_memcpy_ = false;
    bool intrinsics_ = false;  // the model calls functions of the support file
    int next_ = 0;
};

}  // namespace lemma::emit
