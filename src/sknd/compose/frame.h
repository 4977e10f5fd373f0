// sknd/compose/frame.h — one definition being composed for one call: what its names mean, and how
// the call came about.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "sknd/compose/plan.h"
#include "sknd/eval/eval.h"
#include "sknd/types/signature.h"

namespace lemma::sknd {

// What a tensor name stands for. A failed call leaves its results as poison: whatever reads them is
// skipped without a further report.
struct Binding {
    ir::Operand operand;
    bool poison = false;
    // What `?x` and `is` see; worked out by the frame when somebody asks.
    mutable std::optional<CompileValue> identity = std::nullopt;
};

// A node of the program (an operation, a tensor, an access, …) takes as much work as this many
// items of packs; more in memory than in time.
inline constexpr size_t kNodeWork = 16;

// Tensors by what `is` compares.
using TensorsByIdentity = std::unordered_map<ir::SymId, ir::TensorId, IdHash>;

class Frame : public Environment {
public:
    // What the frames of one graph share.
    struct Context {
        const ir::Program& program;
        const TensorsByIdentity& tensors;
        const Package& package;
        WorkMeter& work;
    };
    Frame(const Context& context, DefRef ref, const Plan& plan);

    // ---- how it was called
    const Frame* caller = nullptr;  // null for the main graph
    Span call_span;
    int depth = 0;
    std::string scope;  // label path of what is composed here, without a trailing dot
    bool standard() const { return package_[ref_.module].standard; }

    DefRef ref() const { return ref_; }
    const Module& module() const { return module_; }
    const Definition& definition() const { return definition_; }
    const Plan& plan() const { return plan_; }

    std::vector<bool> asserts_done;  // conditions of the definition that were looked at

    // ---- compile-time names
    void set(const std::string& name, CompileValue value);
    void forget(const std::string& name) { values_.erase(name); }
    bool known(std::string_view name) const { return values_.find(name) != values_.end(); }
    const CompileValue* value(std::string_view name) const;
    // What a generic type is bound to.
    void set_dtype(const std::string& name, ir::DType dtype) { dtypes_[name] = dtype; }
    std::optional<ir::DType> dtype(std::string_view name) const;

    // ---- tensors, by scope
    void push() { tensors_.emplace_back(); }
    void pop() { tensors_.pop_back(); }
    void bind(const std::string& name, Binding binding);
    // Null when there is none.
    const Binding* find(std::string_view name) const;
    // In the innermost scope alone, and everywhere but there.
    const Binding* find_here(std::string_view name) const;
    const Binding* find_outer(std::string_view name) const;

    // Environment
    // Tensors too, as far as `?x` and `is` ask for them: null, or a symbol of their own.
    const CompileValue* lookup(std::string_view name) const override;
    const CompileValue* member(std::string_view name, MemberKind member) const override;
    std::optional<CompileValue> member_of(const CompileValue& tensors,
                                          MemberKind member) const override;
    std::optional<ir::ScalarType> type(std::string_view name) const override;
    bool spend(size_t items) const override { return work_.spend(items); }

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    template <class T>
    using NameMap = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

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
    NameMap<CompileValue> values_;
    NameMap<ir::DType> dtypes_;
    std::vector<NameMap<Binding>> tensors_;
    mutable CompileValue member_;  // what the last look-up returned
};

ir::ScalarType scalar_type_of(ir::DType dtype);

// A single symbolic or constant int as a compile-time value.
CompileValue extent_value(const ir::SymbolPool& symbols, ir::SymId extent);

}  // namespace lemma::sknd
