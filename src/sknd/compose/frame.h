// SPDX-License-Identifier: Apache-2.0
// sknd/compose/frame.h — one definition being composed for one call: the meaning of its names, and
// the chain of calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program/program.h"
#include "sknd/compose/plan.h"
#include "sknd/eval/eval.h"
#include "sknd/names/name_table.h"
#include "sknd/types/signature.h"

namespace lemma::sknd {

// The value of a tensor name. The results of a failed call are poison: operations that read them
// are skipped without a further report.
struct Binding {
    ir::Operand operand;
    bool poison = false;
    // The value for `?x` and `is`; the frame computes it on demand.
    mutable std::optional<CompileValue> identity = std::nullopt;
};

// A node of the program (an operation, a tensor, an access, …) counts as much work as this many
// items of packs; more for its memory than for its time.
inline constexpr size_t kNodeWork = 16;

// Tensors by the identity that `is` compares.
using TensorsByIdentity = std::unordered_map<ir::SymId, ir::TensorId, IdHash>;

struct KnownCall;

class Frame : public Environment {
public:
    // The state that all frames of a graph share.
    struct Context {
        const ir::Program& program;
        const TensorsByIdentity& tensors;
        const Package& package;
        WorkMeter& work;
    };
    Frame(const Context& context, DefRef ref, const Plan& plan);

    // ---- the call
    const Frame* caller = nullptr;  // null for the main graph
    Span call_span;
    int depth = 0;
    std::string scope;  // label path of the composed parts, without a trailing dot
    size_t root = 0;    // the invocation of a graph where the path begins; 0: the main graph
    KnownCall* known_call = nullptr;  // the equal call, or this one; null: no other can be equal
    bool standard() const { return package_[ref_.module].standard; }

    DefRef ref() const { return ref_; }
    const Module& module() const { return module_; }
    const Definition& definition() const { return definition_; }
    const Plan& plan() const { return plan_; }
    // The names that an expression of the definition reads.
    const ReadNames::List& names_in(ExprId expr) const { return plan_.names.of(module_, expr); }

    std::vector<bool> asserts_done;  // conditions of the definition that have been checked

    // ---- compile-time names
    // Here and below, names are views into the syntax tree, which outlives the frame.
    using Values = NameTable<CompileValue>;
    const Values& values() const { return shared_ ? *shared_ : values_; }
    void set(std::string_view name, CompileValue value) {
        own_values().set(name, std::move(value));
    }
    void forget(std::string_view name) { own_values().erase(name); }
    bool known(std::string_view name) const { return values().contains(name); }
    const CompileValue* value(std::string_view name) const { return values().find(name); }
    // Values that outlive the frame, until it changes one.
    void share_values(const Values& values) { shared_ = &values; }
    bool shares_values() const { return shared_ != nullptr; }
    // The binding of a generic type.
    void set_dtype(std::string_view name, ir::DType dtype) { dtypes_.set(name, dtype); }
    std::optional<ir::DType> dtype(std::string_view name) const;

    // In @update: the new value of each variable. Names of variables keep their old values
    // meanwhile.
    using NewValues = std::unordered_map<std::string_view, std::optional<Binding>>;
    NewValues* new_values = nullptr;

    // ---- tensors, by scope
    void push() { tensors_.push(); }
    void pop() { tensors_.pop(); }
    void bind(std::string_view name, Binding binding);
    // Null if there is none. It keeps its address until the next name is bound.
    const Binding* find(std::string_view name) const { return tensors_.find(name); }

    // Environment
    // Also tensors, for `?x` and `is`: null, or a symbol.
    const CompileValue* lookup(std::string_view name) const override;
    const CompileValue* member(std::string_view name, MemberKind member) const override;
    std::optional<CompileValue> member_of(const CompileValue& tensors,
                                          MemberKind member) const override;
    std::optional<ir::ScalarType> type(std::string_view name) const override;
    bool spend(size_t items) const override { return work_.spend(items); }

private:
    Values& own_values() {
        if (shared_) values_ = *std::exchange(shared_, nullptr);
        return values_;
    }
    CompileValue identity_of(const ir::Operand& operand) const;
    CompileValue member_of_tensor(ir::TensorId tensor, MemberKind member) const;

    const ir::Program& program_;
    const TensorsByIdentity& by_identity_;
    const Package& package_;
    WorkMeter& work_;
    const DefRef ref_;
    const Module& module_;
    const Definition& definition_;
    const Plan& plan_;
    Values values_;
    const Values* shared_ = nullptr;  // instead of the own ones
    NameTable<ir::DType> dtypes_;
    NameTable<Binding> tensors_;
    mutable CompileValue member_;  // the result of the last look-up
};

ir::ScalarType scalar_type_of(ir::DType dtype);

// A single symbolic or constant int as a compile-time value.
CompileValue extent_value(const ir::SymbolPool& symbols, ir::SymId extent);

}  // namespace lemma::sknd
