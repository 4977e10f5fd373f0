// SPDX-License-Identifier: Apache-2.0
// lsp/features/target.h — what the name at a place means, in whichever file, and who else names it.
#pragma once

#include <optional>
#include <vector>

#include "lsp/features/feature.h"

namespace lemma::lsp {

struct Target {
    ViewedFile file;
    int thing = -1;  // -1: the file as a module

    const Thing& what() const { return file.view->names.things[static_cast<size_t>(thing)]; }
};

// What a name of another module is.
std::optional<Target> external_target(const Workspace& workspace,
                                      Views& views,
                                      const std::string& path,
                                      Language language,
                                      const External& external);
std::optional<Target> target_of(const Query& query, const Occurrence& occurrence);
// What the name at the place of the request is.
std::optional<Target> target_at(const Query& query);

// Where a target is named.
struct Use {
    ViewedFile file;
    Occurrence place;
};
// In its own file, and in the files that can import it. In the order of files and places.
std::vector<Use> uses_of(const Workspace& workspace, Views& views, const Target& target);

// A place in a viewed file.
Json location_in(const Workspace& workspace, const ViewedFile& file, TextSpan place);
Json range_in(const Workspace& workspace, const ViewedFile& file, TextSpan place);

// The definitions of a request about a place.
ViewedFile file_of(const Query& query);

}  // namespace lemma::lsp
