// SPDX-License-Identifier: Apache-2.0
// ir/verify/verify_impl.h — the state of verifying one program.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}
    std::vector<std::string> run();

private:
    using SymbolSet = std::unordered_set<SymId, IdHash>;

    template <class... Args>
    void problem(fmt::format_string<Args...> format, Args&&... args) {
        if (problems_.size() >= kMaxProblems) return;
        problems_.push_back(here_ + fmt::format(format, std::forward<Args>(args)...));
    }
    // Later problems concern this operation.
    void enter(const Operation& op);
    std::string name(TensorId id) const { return "`" + program_.tensors[id].name + "`"; }

    // ---- verify_ids.cpp: if these fail, nothing else can be checked
    bool check_ids();
    void check_ids(const std::vector<Port>& ports);
    void check_ids(const Value& value);
    void check_ids(const Operation& op);
    void check_ids(const Formula& formula);
    void check_ids(const std::vector<IndexTerm>& indices);
    void check_id(TensorId id, bool optional = false);
    void check_id(OpId id);
    void check_id(GraphId id, bool optional = false);
    void check_id(SymId id, bool optional = false);
    bool check_lists();

    // ---- verify.cpp: tensors, and the order of operations
    void find_symbols();
    void tell(SymId id);
    void declare(const Tensor& tensor);
    void declare(const std::vector<Port>& ports);
    void declare(SymId id);
    void check_tensors();
    void check_items(const Tensor& tensor);
    void check_int(SymId id, std::string_view what);
    void check_symbols(SymId id, const SymbolSet& local, std::string_view what);
    void check_extents(const Tensor& tensor);
    void check_assertions(const std::vector<Assertion>& assertions);
    void check_ports(const std::vector<Port>& ports);
    void check_updates();
    void check_main();

    void make(TensorId id);
    void require_made(TensorId id, std::string_view what);
    void walk(OpId id);
    void walk_graph(GraphId id);
    void walk_formulas(const Operation& op);
    void walk_outputs(const Operation& op);
    void check_kind(const Operation& op);
    void open_scope() { scopes_.emplace_back(); }
    void close_scope();

    // ---- verify_control.cpp
    void walk_branch(const Operation& op, const Branch& branch);
    void walk_loop(const Operation& op, const Loop& loop);
    void check_condition(GraphId id);
    void check_loop_ports(const Operation& op, const Loop& loop);
    void check_same(const Operand& a, const Operand& b, std::string_view what);
    void check_same(TensorId a, TensorId b, std::string_view what);
    bool is_single(const Operand& operand) const {
        return !operand.packed && operand.items.size() == 1;
    }
    bool is_one_element(TensorId id) const;

    // ---- verify_formula.cpp
    void check_formula(const Operation& op, const Formula& formula);
    void check_bounds(const Formula& formula, SymbolSet& local);
    void check_accesses(const Formula& formula, SymbolSet& local);
    void check_write(const Operation& op,
                     const Formula& formula,
                     const Write& write,
                     const SymbolSet& local);
    void check_indices(TensorId tensor,
                       const std::vector<IndexTerm>& indices,
                       const SymbolSet& local);
    void check_counter(const Formula& formula);
    bool is_symbol(SymId id) const;

    static constexpr size_t kMaxProblems = 100;

    const Program& program_;
    std::vector<std::string> problems_;
    std::string here_;
    SymbolSet anywhere_;                // symbols that some tensor or pack defines
    SymbolSet known_;                   // known at this point
    SymbolSet inside_;                  // defined by a sub-graph, and unknown after it
    Table<TensorId, uint8_t> made_;     // made by some operation
    Table<TensorId, uint8_t> visible_;  // made before this point
    struct Scope {
        std::vector<TensorId> made;
        std::vector<SymId> told;
    };
    std::vector<Scope> scopes_;
};

}  // namespace lemma::ir
