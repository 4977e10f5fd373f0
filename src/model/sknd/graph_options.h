// SPDX-License-Identifier: Apache-2.0
// model/sknd/graph_options.h — the options for composing a graph: `--graph=NAME`, `-a NAME=VALUE`
// and the limits. Values are read by the declared types of the attributes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "ir/program/program.h"
#include "sknd/compose/compose.h"
#include "sknd/modules/modules.h"

namespace lemma::model {

// The largest --max-call-depth: it fits the stack, even with sanitizers.
inline constexpr int kMaxCallDepth = 300;

struct GraphOptions {
    std::string graph;                    // empty: the command chooses
    std::vector<std::string> attributes;  // `NAME=VALUE` each
    sknd::ComposeOptions compose;         // limits; graph and attributes are filled in
};

using GraphList = std::vector<const sknd::Definition*>;

// The graph of `--graph`, or all graphs. Empty, with a report, if there is no such graph.
std::optional<GraphList> named_graphs(const sknd::Module& main,
                                      const GraphOptions& options,
                                      diag::SourceMap& sources,
                                      Diagnostics& diag);

// The values of `-a` for each of the graphs. Every value goes to each graph that declares the
// attribute. Empty, with reports that point into the command line, if a value does not fit its
// declaration or no graph declares it.
using AttributeLists = std::vector<std::vector<ir::Attribute>>;
std::optional<AttributeLists> given_attributes(const sknd::Module& main,
                                               const GraphList& graphs,
                                               const GraphOptions& options,
                                               diag::SourceMap& sources,
                                               Diagnostics& diag);

// The attributes that the graph still needs for composition.
std::vector<std::string> missing_attributes(const sknd::Module& main,
                                            const sknd::Definition& graph,
                                            const std::vector<ir::Attribute>& given);

}  // namespace lemma::model
