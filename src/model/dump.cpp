// SPDX-License-Identifier: Apache-2.0
#include "model/dump.h"

#include <fmt/format.h>

#include "sknd/print/printer.h"
#include "sknd/syntax/lexer.h"

namespace lemma::model {

namespace {

// `line:column  kind  text`, a line per token.
std::string dump_tokens(const diag::SourceMap& sources, diag::FileId file) {
    Diagnostics repeated;  // the parser has already reported these
    const sknd::TokenList list = sknd::lex(sources, file, repeated);
    std::string text;
    for (const sknd::Token& token : list.tokens) {
        const diag::LineColumn place = sources.place(file, token.begin);
        const std::string_view written = sources.text(Span{file, token.begin, token.end});
        text += fmt::format("{}:{}  {}{}{}\n",
                            place.line,
                            place.column,
                            sknd::describe(token.kind),
                            written.empty() ? "" : "  ",
                            written);
    }
    return text;
}

}  // namespace

std::string dump(Dump what, const diag::SourceMap& sources, const SkndModel& model) {
    switch (what) {
        case Dump::None:
            return "";
        case Dump::Tokens:
            return dump_tokens(sources, model.file);
        case Dump::Tree:
            return sknd::dump_tree(model.package[model.package.main()].module);
    }
    return "";
}

}  // namespace lemma::model
