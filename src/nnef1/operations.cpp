#include "nnef1/operations.h"

#include <fmt/format.h>

namespace lemma::nnef1 {

Document parse_library(diag::SourceMap& sources,
                       const std::string& name,
                       std::string_view text,
                       Diagnostics& diag) {
    const diag::FileId file = sources.add("stdlib/nnef1/" + name, std::string(text));
    return parse_document(sources, file, {.kind = DocumentKind::Library}, diag);
}

Document parse_standard(diag::SourceMap& sources, std::string_view text, Diagnostics& diag) {
    return parse_library(sources, "standard.nnef", text, diag);
}

namespace {

Signature signature(const Document& document, const Fragment& fragment, bool standard) {
    Signature result{.nodes = &document, .fragment = &fragment, .standard = standard};
    for (const Param& param : fragment.params) {
        result.params.push_back(value_type(document, param.type));
    }
    for (const auto& item : fragment.results) {
        result.results.push_back(value_type(document, item.type));
    }
    return result;
}

}  // namespace

Operations::Operations(const Document& standard,
                       const Document& document,
                       Dialect dialect,
                       Diagnostics& diag,
                       const Document* more) {
    for (const Document* const library : {&standard, more}) {
        if (!library) continue;
        for (const Fragment& fragment : library->fragments) {
            by_name_.emplace(fragment.name.text, signature(*library, fragment, true));
        }
    }
    for (const Fragment& fragment : document.fragments) {
        if (fragment.name.text.empty()) continue;  // it was reported
        const auto [place, added] =
            by_name_.emplace(fragment.name.text, signature(document, fragment, false));
        if (added) continue;
        if (place->second.standard && dialect == Dialect::Tract) {
            place->second = signature(document, fragment, false);
            continue;
        }
        const std::string_view name = fragment.name.text;
        diag.error(fragment.name.span,
                   DiagKind::DuplicateDefinition,
                   place->second.standard
                       ? fmt::format("`{}` is an operation of the specification", name)
                       : fmt::format("there are two fragments `{}`", name))
            .note(place->second.fragment->name.span, "declared here")
            .note("NNEF 1.0.4, 3.3.2: each fragment declaration must have a unique name");
    }
}

const Signature* Operations::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
}

std::string_view Operations::nearest(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const auto& [known, signature] : by_name_) names.push_back(known);
    return diag::nearest_name(name, names);
}

}  // namespace lemma::nnef1
