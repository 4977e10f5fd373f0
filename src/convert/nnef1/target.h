// SPDX-License-Identifier: Apache-2.0
// convert/nnef1/target.h — NNEF 1.0 as the target of a rewriting. The fragments of
// stdlib/nnef1/translations/ are its translations: `math_add` stands for `math.add`, and
// `layout_cast_to_integer` for a `layout.cast` to integers. With `flat`, the fragments of
// compounds.nnef decompose compound operations of the specification.
#pragma once

#include <set>

#include "convert/rewrite.h"
#include "model/nnef1/model.h"

namespace lemma::convert {

// The compound operations of the specification.
std::set<std::string> compound_operations();

class Nnef1Target final : public Target {
public:
    struct Options {
        bool flat = false;           // decompose compound operations
        std::set<std::string> keep;  // except these
    };

    // The program outlives the target.
    Nnef1Target(const ir::Program& program, const Options& options);

    std::string_view format() const override { return "NNEF 1.0"; }
    bool has_control_flow() const override { return false; }
    bool has(const ir::Operation& op) const override;
    std::optional<Translation> translation(const ir::Operation& op) const override;
    std::string why_not(const ir::Operation& op) const override;
    std::unique_ptr<ir::CallBuilder> builder(Diagnostics& trouble) const override;

    // The operations that a document can invoke. The document must define the fragments among them.
    const nnef1::Operations& operations() const { return *operations_; }
    std::string_view fragment_text(const std::string& name) const;

private:
    // Fragments, and the operations that they expand to.
    struct Library {
        nnef1::Document standard;
        nnef1::Document fragments;
        std::unique_ptr<nnef1::Operations> operations;
        nnef1::CheckedDocument checked;
        std::unique_ptr<model::Nnef1Library> definitions;
    };
    const Library& library() const;
    std::string fragment_texts() const;
    const nnef1::Signature* find_fragment(const ir::Operation& op) const;
    bool takes(const nnef1::Signature& signature, const ir::Operation& op) const;
    bool takes_tensors(const nnef1::ValueType& type, const ir::Operand& operand) const;
    std::optional<Translation> split(const ir::Operation& op) const;

    const ir::Program& program_;
    std::set<std::string> taken_apart_;  // compound operations
    mutable diag::SourceMap sources_;
    nnef1::Document standard_;
    nnef1::Document translations_;
    std::unique_ptr<nnef1::Operations> operations_;
    mutable std::optional<Library> library_;  // built on first use
};

}  // namespace lemma::convert
