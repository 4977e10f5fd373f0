// SPDX-License-Identifier: Apache-2.0
#include "lsp/features/facts.h"
#include "lsp/features/requests.h"

namespace lemma::lsp {

namespace {

bool shows_type(const Thing& thing, Language language) {
    if (thing.kind == NameKind::Intermediate) return true;
    return language == Language::Nnef1 &&
           (thing.kind == NameKind::Input || thing.kind == NameKind::Output);
}

}  // namespace

// The types of tensors behind their names, where a graph computes them.
Answer inlay_hints(const Query& query) {
    Json hints = Json::array();
    if (!query.fresh()) return hints;
    const auto view = query.view();
    const TextSpan range = query.range();
    constexpr int kType = 1;
    for (const Thing& graph : view->names.things) {
        if (graph.kind != NameKind::Graph) continue;
        const TensorTypes types(*query.analysis, graph.name);
        for (const Thing* thing : view->names.of_definition(graph.definition)) {
            if (!shows_type(*thing, view->language)) continue;
            if (thing->place.end < range.begin || thing->place.begin > range.end) continue;
            const auto type = types.find(thing->name);
            if (!type) continue;
            hints.push_back(
                {{"position", to_json(query.document.lines().position(thing->place.end))},
                 {"label", ": " + *type},
                 {"kind", kType}});
        }
    }
    return hints;
}

}  // namespace lemma::lsp
