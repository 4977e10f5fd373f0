// nnef1/check/operations.h — the operations that a document can invoke: those of the specification,
// which stdlib/nnef1/standard.nnef declares, and its own fragments.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/check/value_type.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/quant_file.h"

namespace lemma::nnef1 {

// The declarations of the specification, stdlib/nnef1/standard.nnef, which notes point into.
Document parse_standard(diag::SourceMap& sources, std::string_view text, Diagnostics& diag);
// The same without the declarations that a small document and its quantisation file have no use
// for, which takes less time. Places stay what they are.
Document parse_used_standard(diag::SourceMap& sources,
                             std::string_view text,
                             const Document& document,
                             const QuantFile& quant,
                             Diagnostics& diag);
// Those of another file beside it, such as `tract.nnef`.
Document parse_library(diag::SourceMap& sources,
                       const std::string& name,
                       std::string_view text,
                       Diagnostics& diag);

struct Signature {
    const Nodes* nodes = nullptr;  // that the types and defaults are among
    const Fragment* fragment = nullptr;
    bool standard = false;
    std::vector<ValueType> params;
    std::vector<ValueType> results;

    std::string_view name() const { return fragment->name.text; }
    bool generic() const { return fragment->generic.has_value(); }
    std::optional<size_t> find_param(std::string_view param) const;
    // A fragment without body that the specification does not know: nobody can say what it does.
    bool custom() const { return !standard && !fragment->body; }
    // What an invocation gives: the one result, or a tuple of all.
    ValueType result() const {
        return results.size() == 1 ? results[0] : ValueType::tuple(results);
    }
};

// An argument by a name that no parameter has.
diag::Report report_no_param(const Signature& signature,
                             const Argument& argument,
                             Diagnostics& diag);

// Both documents outlive it.
class Operations {
public:
    // Names that are taken twice are reported. Tract lets a document replace standard operations.
    // What a dialect has beside the specification is declared in `more`; may be null.
    Operations(const Document& standard,
               const Document& document,
               Dialect dialect,
               Diagnostics& diag,
               const Document* more = nullptr);

    const Signature* find(std::string_view name) const;
    std::string_view nearest(std::string_view name) const;

private:
    std::map<std::string_view, Signature> by_name_;
};

}  // namespace lemma::nnef1
