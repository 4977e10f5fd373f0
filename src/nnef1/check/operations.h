// SPDX-License-Identifier: Apache-2.0
// nnef1/check/operations.h — the operations that a document can invoke: those of the specification,
// declared in stdlib/nnef1/standard.nnef, and its own fragments.
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

// The declarations of the specification, stdlib/nnef1/standard.nnef. Notes point into them.
Document parse_standard(diag::SourceMap& sources, std::string_view text, Diagnostics& diag);
// The same, but faster for small documents: skips declarations that the document and its
// quantisation file do not use. Places do not change.
Document parse_used_standard(diag::SourceMap& sources,
                             std::string_view text,
                             const Document& document,
                             const QuantFile& quant,
                             Diagnostics& diag);
// The declarations of a file beside it, such as `tract.nnef`.
Document parse_library(diag::SourceMap& sources,
                       const std::string& name,
                       std::string_view text,
                       Diagnostics& diag);

struct Signature {
    const Nodes* nodes = nullptr;  // owner of the types and defaults
    const Fragment* fragment = nullptr;
    bool standard = false;
    std::vector<ValueType> params;
    std::vector<ValueType> results;

    std::string_view name() const { return fragment->name.text; }
    bool generic() const { return fragment->generic.has_value(); }
    std::optional<size_t> find_param(std::string_view param) const;
    // A fragment without body outside of the specification: its meaning is unknown.
    bool custom() const { return !standard && !fragment->body; }
    // The type of an invocation: the one result, or a tuple of all.
    ValueType result() const {
        return results.size() == 1 ? results[0] : ValueType::tuple(results);
    }
};

// Reports an argument whose name no parameter has.
diag::Report report_no_param(const Signature& signature,
                             const Argument& argument,
                             Diagnostics& diag);

// Both documents must outlive it.
class Operations {
public:
    // Reports names that are declared twice. In Tract, a document may replace standard operations.
    // `more` declares further operations of a dialect; may be null.
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
