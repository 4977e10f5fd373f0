// SPDX-License-Identifier: Apache-2.0
// lsp/language/cursor.h — what surrounds a place, by the tokens alone: it also serves texts in
// which a statement is half written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lsp/language/view.h"

namespace lemma::lsp {

struct CallAround {
    std::string callee;              // `nn.conv`
    bool in_attributes = false;      // between the braces; else between the parentheses
    size_t argument = 0;             // the number of commas before the place
    std::string name;                // of the argument, if `name =` precedes the place
    std::vector<std::string> given;  // names of the attributes or arguments in this list
};

struct Cursor {
    bool in_text = false;   // inside of a comment or a string
    TextSpan word;          // the name at the place, up to it
    std::string prefix;     // what is written of it
    std::string qualifier;  // `nn` of `nn.re`
    std::string before;     // the token before the word or its qualifier
    std::string block;      // `@compose`; empty outside of blocks
    bool in_definition = false;
    bool in_import = false;
    std::optional<CallAround> call;
};
Cursor cursor_at(const View& view, uint32_t offset);

}  // namespace lemma::lsp
