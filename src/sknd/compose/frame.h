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
#include "sknd/eval/eval.h"
#include "sknd/types/signature.h"

namespace lemma::sknd {

// What a tensor name stands for. A failed call leaves its results as poison: whatever reads them is
// skipped without a further report.
struct Binding {
    ir::Operand operand;
    bool poison = false;
    CompileValue identity = Null{};  // what `?x` and `is` see; set by Frame::bind
};

// Tensors by what `is` compares.
using TensorsByIdentity = std::unordered_map<ir::SymId, ir::TensorId, IdHash>;

class Frame : public Environment {
public:
    Frame(const ir::Program& program,
          const TensorsByIdentity& tensors,
          const Package& package,
          DefRef ref);

    // ---- how it was called
    const Frame* caller = nullptr;  // null for the main graph
    Span call_span;
    int depth = 0;
    std::string scope;  // label path of what is composed here, without a trailing dot
    bool standard() const { return package_[ref_.module].standard; }

    DefRef ref() const { return ref_; }
    const Module& module() const { return module_; }
    const Definition& definition() const { return definition_; }

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

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    template <class T>
    using NameMap = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

    CompileValue member_of_tensor(ir::TensorId tensor, MemberKind member) const;

    const ir::Program& program_;
    const TensorsByIdentity& by_identity_;
    const Package& package_;
    const DefRef ref_;
    const Module& module_;
    const Definition& definition_;
    NameMap<CompileValue> values_;
    NameMap<ir::DType> dtypes_;
    std::vector<NameMap<Binding>> tensors_;
    mutable CompileValue member_;  // what the last look-up returned
};

ir::ScalarType scalar_type_of(ir::DType dtype);

// A single symbolic or constant int as a compile-time value.
CompileValue extent_value(const ir::SymbolPool& symbols, ir::SymId extent);

}  // namespace lemma::sknd
