// SPDX-License-Identifier: Apache-2.0
// view/document.h — a model as the one JSON document that the page of `lemma view` shows
// (docs/view-json.md).
#pragma once

#include <optional>
#include <set>
#include <string>

#include "model/finding.h"
#include "model/load.h"
#include "show/json.h"
#include "view/places.h"
#include "view/tree.h"

namespace lemma::view {

class Definitions;

// Grows by one if a reader of the document would have to change.
inline constexpr int kViewSchema = 1;

struct ViewOptions {
    std::string model;  // as the user named it
    model::LoadOptions load;
    bool live = false;
    ErrorPages pages;
};

// A model that was read, and what is known about it without running it.
struct ViewedModel {
    model::Finding finding;                    // of loading; `unusable`: there is nothing to show
    std::optional<model::LoadedModel> loaded;  // missing if the model is broken, or a program
    std::optional<ir::Program> own_program;    // of an .ir file
    Json document;

    const ir::Program* program() const {
        return loaded ? &loaded->program : own_program ? &*own_program : nullptr;
    }
};

// Reads the model and makes the document. A broken model gives a document with diagnostics and
// without a graph.
ViewedModel view_model(const ViewOptions& options);

// The graph of a program with the additions for pages. It adds the operators to `used`.
Json viewed_graph(const ir::Program& program,
                  const show::Origin& origin,
                  const Definitions& definitions,
                  std::set<std::string>& used);

// The document of a comparison: both graphs in the member `diff`, which has the rest of it already.
struct Compared {
    std::string model;  // as the user named it
    const ir::Program* program;
};
Json compared_document(const Compared& a, const Compared& b, Json diff);

// In one line. Invalid UTF-8 becomes replacement characters.
std::string compact_text(const Json& json);

}  // namespace lemma::view
