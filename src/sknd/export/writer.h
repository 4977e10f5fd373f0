// SPDX-License-Identifier: Apache-2.0
// sknd/export/writer.h — the state of writing one program: names of tensors, and the text so far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sknd/export/export.h"
#include "sknd/export/identifiers.h"

namespace lemma::sknd {

// The SkriptND type of tensors; it has no width.
std::string_view type_text(ir::DType dtype);

class Writer {
public:
    Writer(const ir::Program& program, const Package& package, Diagnostics& diag);
    std::optional<ExportedModel> run();

private:
    struct Callee {
        const LoadedModule* module = nullptr;
        const Definition* definition = nullptr;
    };

    // declarations.cpp
    void name_inputs_and_outputs();
    void name_symbols();
    std::string inputs();
    std::string outputs();
    std::string constants();
    std::string variables();
    std::string port_declaration(const ir::Port& port, const std::string& name, bool with_bounds);
    std::string shape_text(const std::vector<ir::SymId>& shape, bool with_bounds);
    std::string updates();
    std::string quantizers();
    // Translates both to the module `nnef1.quantizers`; reports if it has no counterpart.
    bool nnef1_quantizer(ir::TensorId id, std::string& op, std::vector<std::string>& attributes);

    // calls.cpp
    void operations(const std::vector<ir::OpId>& list, int depth);
    void operation(ir::OpId id, int depth);
    void call(const ir::Operation& op, const Callee& callee);
    Callee find_callee(const std::string& op) const;
    Callee find_callee(const QualifiedName& name, const LoadedModule& from) const;
    bool is_called(const ir::Operation& op, const Callee& callee) const;
    bool can_take_apart(const ir::Operation& op) const;
    bool can_write(const std::vector<ir::OpId>& list) const;
    bool quantizes_inside(const ir::Operation& op) const;
    bool has_quantized_part(const ir::Operation& op, const std::set<ir::TensorId>& outside) const;
    std::string take_variables(const ir::Operation& op);
    void find_variables(const ir::Operation& op, std::set<ir::TensorId>& found) const;
    std::string results(const ir::Operation& op);
    std::string arguments(const ir::Operation& op);
    std::string attributes(const ir::Operation& op, const Callee& callee);
    std::string types(const ir::Operation& op, const Callee& callee);
    bool is_default(const Callee& callee, const ir::Attribute& attribute);
    const std::string& own_name(const Callee& callee);
    std::string definitions();
    void rename_calls(const Callee& callee, Module& module, RegionId id);

    // live.cpp: parts of compounds with unused results
    void find_live();
    void mark_live(const std::vector<ir::OpId>& list, bool all);
    void mark_graph(ir::GraphId id);
    bool is_live(const ir::Operation& op) const;

    // control.cpp
    void branch(const ir::Operation& op, const ir::Branch& branch, int depth);
    void loop(const ir::Operation& op, const ir::Loop& loop, int depth);
    std::string region(ir::GraphId graph, int depth);

    // values
    const std::string& name_of(ir::TensorId id);
    std::string operand_text(const ir::Operand& operand);
    std::string tensor_text(ir::TensorId id);
    std::string scalar_text(const ir::Scalar& scalar);
    std::string value_text(const ir::Value& value);
    std::string symbol_text(ir::SymId id);
    void line(std::string text) { body_ += std::move(text) + "\n"; }
    void cannot(const ir::Operation* op, std::string message);

    const ir::Program& program_;
    const Package& package_;
    Diagnostics& diag_;
    Identifiers identifiers_;
    std::unordered_map<ir::TensorId, std::string, IdHash> names_;
    std::vector<std::string> output_names_;
    std::unordered_map<ir::SymId, std::string, IdHash> symbols_;  // extents of inputs, by name
    std::vector<ir::TensorId> constants_;                         // with a declaration
    std::vector<ir::TensorId> variables_;
    std::vector<ExportedModel::Variable> inner_;  // variables of called operators
    int regions_ = 0;                             // nesting of the current operation
    std::unordered_set<ir::TensorId, IdHash> live_;
    std::set<ir::TensorId> unwritten_;  // results of formulas without a definition
    std::set<std::string> imports_;
    // Operators that the model defines by a formula, with their new names.
    std::map<const Definition*, std::string> own_names_;
    std::vector<Callee> own_;
    std::string body_;
    Span span_;  // span of the current operation
};

}  // namespace lemma::sknd
