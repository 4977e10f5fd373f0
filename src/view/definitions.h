// SPDX-License-Identifier: Apache-2.0
// view/definitions.h — the definitions of the operators that a program calls: standard ones, and
// those of the model itself.
#pragma once

#include <map>
#include <set>
#include <string>

#include "diag/source.h"
#include "ir/program/program.h"
#include "ops/library.h"
#include "sknd/modules/modules.h"
#include "view/tree.h"

namespace lemma::view {

class Definitions {
public:
    // `package` may be missing: then only standard operators are known.
    Definitions(const sknd::Package* package, diag::SourceMap& sources);

    const ops::OperatorText* find(const std::string& op) const;
    // The names of attributes that have their default value.
    Json defaults(const ir::Operation& op, const ir::SymbolPool& symbols) const;
    // `definitions` of the document, for these operators.
    Json json(const std::set<std::string>& names) const;

private:
    struct Entry {
        ops::OperatorText text;
        bool builtin = false;
    };
    void add(ops::ModuleText module, bool builtin);

    std::map<std::string, Entry> entries_;
};

}  // namespace lemma::view
