// SPDX-License-Identifier: Apache-2.0
// lsp/workspace/overlay.h — the model of an open document: its files, with open texts in their
// place.
#pragma once

#include <string>
#include <vector>

#include "lsp/workspace/document.h"
#include "model/find_model.h"

namespace lemma::lsp {

// The folder that imports of a file begin at: that of the file; for a module, the nearest folder
// above it with a `main.sknd`, inside of the roots.
struct ModelPlace {
    std::string folder;
    bool library = false;  // a module, which needs no graph
};
ModelPlace model_place(const std::string& path,
                       std::string_view text,
                       const std::vector<std::string>& roots,
                       const Buffers& buffers);

// The model whose main file is this text. Without a path it has no other files.
Result<model::ModelFile> model_of(const std::string& path,
                                  const SharedText& text,
                                  Language language,
                                  const std::string& folder,
                                  const Buffers& buffers);

}  // namespace lemma::lsp
