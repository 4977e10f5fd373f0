// SPDX-License-Identifier: Apache-2.0
#include "model/format_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/options.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/printer.h"
#include "sknd/print/printer.h"

namespace lemma::model {

namespace {

struct Formatted {
    std::string text;
    bool same = false;  // it reads back as the same program
};

std::string_view first_word(std::string_view text) {
    while (!text.empty()) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
        if (!text.starts_with('#')) break;
        text.remove_prefix(std::min(text.find_first_of("\r\n\f"), text.size()));
    }
    return text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

// Imports may omit the `;` at the end of a line (notes, resolution 16); a remark reports the added
// one.
void tell_imports(const sknd::Module& module, Finding& finding) {
    const std::string_view text = finding.sources.text(module.file);
    for (const sknd::Import& import : module.imports) {
        const size_t next = text.find_first_not_of(" \t", import.span.end);
        const bool closed = finding.sources.text(import.span).ends_with(';') ||
                            (next != std::string_view::npos && text[next] == ';');
        if (closed) continue;
        diag::Note& remark = finding.remarks.emplace_back();
        remark.span = {import.span.file, import.span.end, import.span.end};
        remark.message = "added the missing `;` after this import";
    }
}

// A formatter must not lose a part of the program, so both formatters read their text back.
Formatted format_sknd(diag::FileId file, const FormatOptions& options, Finding& finding) {
    const sknd::Module module =
        sknd::parse_module(finding.sources, file, {.max_depth = options.max_depth}, finding.diag);
    if (finding.diag.has_errors()) return {};
    const sknd::Spelling spelling =
        options.dialect == TextDialect::Khronos ? sknd::Spelling::Khronos : sknd::Spelling::Spec;
    std::string text = sknd::print(module, finding.sources, {.spelling = spelling});
    tell_imports(module, finding);
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId again_file = sources.add("formatted", text);
    const sknd::Module again =
        sknd::parse_module(sources, again_file, {.max_depth = kMaxDepth}, diag);
    const bool same = !diag.has_errors() && sknd::dump_tree(again) == sknd::dump_tree(module);
    return {.text = std::move(text), .same = same};
}

nnef1::Dialect nnef1_dialect(TextDialect dialect) {
    switch (dialect) {
        case TextDialect::Spec:
            return nnef1::Dialect::Strict;
        case TextDialect::Khronos:
            return nnef1::Dialect::Khronos;
        case TextDialect::Tract:
            return nnef1::Dialect::Tract;
    }
    return nnef1::Dialect::Strict;
}

Formatted format_nnef1(diag::FileId file, const FormatOptions& options, Finding& finding) {
    const nnef1::Dialect dialect = nnef1_dialect(options.dialect);
    nnef1::ParseOptions parse = {.dialect = dialect, .limits = {.max_depth = options.max_depth}};
    if (first_word(finding.sources.text(file)) == "fragment") {
        parse.kind = nnef1::DocumentKind::Library;
    }
    const nnef1::Document document =
        nnef1::parse_document(finding.sources, file, parse, finding.diag);
    if (finding.diag.has_errors()) return {};
    std::string text = nnef1::print(document, finding.sources, {.dialect = dialect});
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId again_file = sources.add("formatted", text);
    parse.limits.max_depth = kMaxDepth;
    const nnef1::Document again = nnef1::parse_document(sources, again_file, parse, diag);
    const bool same = !diag.has_errors() && nnef1::dump_tree(again) == nnef1::dump_tree(document);
    return {.text = std::move(text), .same = same};
}

}  // namespace

TextLanguage language_of(std::string_view text) {
    const std::string_view word = first_word(text);
    return word == "version" || word == "fragment" ? TextLanguage::Nnef1 : TextLanguage::SkriptND;
}

std::optional<std::string> format_text(const std::string& name,
                                       const std::string& text,
                                       const FormatOptions& options,
                                       Finding& finding) {
    const bool sknd = options.language == TextLanguage::SkriptND;
    if (sknd && options.dialect == TextDialect::Tract) {
        finding.fail({fmt::format("the dialect of tract is for NNEF 1.0, not for `{}`", name)});
        return std::nullopt;
    }
    const diag::FileId file = finding.sources.add(name, text);
    Formatted formatted =
        sknd ? format_sknd(file, options, finding) : format_nnef1(file, options, finding);
    if (finding.diag.has_errors()) {
        finding.diag.sort_by_place();
        finding.status = kWrong;
        return std::nullopt;
    }
    if (!formatted.same) {
        finding.fail(
            {fmt::format("internal fault: formatting `{}` would change it; left as it is", name)});
        finding.status = kFault;
        return std::nullopt;
    }
    return std::move(formatted.text);
}

}  // namespace lemma::model
