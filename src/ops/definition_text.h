// SPDX-License-Identifier: Apache-2.0
// ops/definition_text.h — parts of a definition as text, in the canonical layout of the
// printer.
#pragma once

#include <string>

#include "diag/source.h"
#include "sknd/syntax/ast.h"

namespace lemma::ops {

// For the definitions of one module.
class DefinitionPrinter {
public:
    DefinitionPrinter(const sknd::Module& module, const diag::SourceMap& sources)
        : module_(module), sources_(sources), scratch_(module) {}

    const sknd::Module& module() const { return module_; }

    std::string definition(const sknd::Definition& definition);
    // The statements of one block, without indentation; empty if there is none.
    std::string block(const sknd::Definition& definition, sknd::BlockKind kind);
    // `optional real[n]`
    std::string type(const sknd::ParamDecl& decl);
    std::string expr(sknd::ExprId id) const;
    // The text of a string literal, with its formatted parts in braces.
    std::string message(sknd::ExprId id) const;

private:
    std::string print(sknd::Definition definition, Span comments_of);

    const sknd::Module& module_;
    const diag::SourceMap& sources_;
    sknd::Module scratch_;  // a copy whose only definition is the one being printed
};

}  // namespace lemma::ops
