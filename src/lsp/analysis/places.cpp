// SPDX-License-Identifier: Apache-2.0
#include "lsp/analysis/places.h"

#include "lsp/text/uri.h"
#include "lsp/workspace/library_files.h"

namespace lemma::lsp {

std::optional<std::string> Places::uri(diag::FileId file) {
    const auto [found, added] = uris_.try_emplace(file.value);
    if (!added) return found->second;
    const std::string& name = analysis_.finding.sources.name(file);
    if (file == analysis_.file) {
        found->second = analysis_.uri;
    } else if (name.starts_with('/')) {
        found->second = workspace_.uri_of(name);
    } else if (const auto path = library_file(name)) {
        found->second = uri_of_path(*path);
    }
    return found->second;
}

const LineIndex& Places::lines(diag::FileId file) {
    const auto found = lines_.find(file.value);
    if (found != lines_.end()) return found->second;
    const std::string_view text = analysis_.finding.sources.text(file);
    return lines_.emplace(file.value, LineIndex(text, workspace_.encoding)).first->second;
}

Json Places::range(Span span) { return range_json(lines(span.file), {span.begin, span.end}); }

std::optional<Json> Places::location(Span span) {
    if (!span.valid()) return std::nullopt;
    const auto where = uri(span.file);
    if (!where) return std::nullopt;
    return Json{{"uri", *where}, {"range", range(span)}};
}

}  // namespace lemma::lsp
