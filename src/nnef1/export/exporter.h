// SPDX-License-Identifier: Apache-2.0
// nnef1/export/exporter.h — the implementation of export.h: the state of writing one graph.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "nnef1/check/literals.h"
#include "nnef1/export/export.h"

namespace lemma::nnef1 {

class Exporter {
public:
    Exporter(const ir::Program& program,
             const Operations& operations,
             const ExportOptions& options,
             Diagnostics& diag)
        : program_(program), operations_(operations), options_(options), diag_(diag) {}

    std::optional<ExportedGraph> run();

private:
    // The graph and its tensors (export.cpp).
    void name_ports();
    void finish_outputs();
    void finish_updates();
    std::string assemble();
    const std::string& name_of(ir::TensorId id);
    void declare(ir::TensorId id);
    void declare_stored(ir::TensorId id, const std::string& label);
    std::string tensor_text(ir::TensorId id);
    std::string generic_text(ir::TensorId id);
    std::string shape_text(ir::TensorId id);
    void check_rank(ir::TensorId id);
    bool is_known(ir::TensorId id) const;

    // Operations (export_call.cpp).
    void operation(const ir::Operation& op);
    bool write_update(const ir::Operation& op, const Signature& signature);
    std::string arguments(const ir::Operation& op, const Signature& signature);
    std::string operand_text(const ir::Operand& operand, const ValueType& type);
    std::string results(const ir::Operation& op, const Signature& signature);
    std::string explicit_type(const ir::Operation& op, const Signature& signature);

    void cannot(const ir::Operation* op, std::string message);

    const ir::Program& program_;
    const Operations& operations_;
    const ExportOptions& options_;
    Diagnostics& diag_;
    ExportedGraph graph_;
    Identifiers identifiers_;
    Labels labels_;
    std::unordered_map<ir::TensorId, std::string, IdHash> names_;
    std::unordered_set<ir::TensorId, IdHash> written_;  // tensors made by an assignment
    std::vector<std::string> inputs_, outputs_;         // identifiers
    std::vector<std::string> declarations_, body_;      // lines
    std::set<size_t> updated_;                          // written updates
    const ir::Operation* current_ = nullptr;            // the operation being written
};

}  // namespace lemma::nnef1
