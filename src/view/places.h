// SPDX-License-Identifier: Apache-2.0
// view/places.h — diagnostics and verdicts of a profile, tied to the operations that they are
// about.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program/program.h"
#include "model/finding.h"
#include "view/tree.h"

namespace lemma::view {

// The text of the page in docs/errors about a kind of diagnostics; empty if there is none.
using ErrorPages = std::function<std::string_view(std::string_view kind)>;

// Finds the operation at a place of the model's files.
class OperationPlaces {
public:
    OperationPlaces() = default;
    // Operations of the main graph and of bodies, but not the parts of compounds.
    OperationPlaces(const ir::Program& program, const diag::SourceMap& sources);

    // The id of the smallest operation around the place, else of the first one in its line; null if
    // there is none.
    Json at(const diag::SourceMap& sources, Span span) const;
    // By the path in a binary file: that of the operation, or of a part of it.
    Json at_path(std::string path) const;

private:
    struct Range {
        uint32_t begin, end, line, id;
    };
    void add(const ir::Program& program,
             const diag::SourceMap& sources,
             const std::vector<ir::OpId>& ops);

    std::map<std::string, std::vector<Range>, std::less<>> texts_;  // by file
    std::unordered_map<std::string, uint32_t> paths_;
};

Json diagnostics_json(const model::Finding& finding,
                      const OperationPlaces& places,
                      const ErrorPages& pages);

// `profile` of the document, from the report of the profile.
Json profile_json(const std::string& conformity, const OperationPlaces& places);

}  // namespace lemma::view
