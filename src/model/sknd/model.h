// SPDX-License-Identifier: Apache-2.0
// model/sknd/model.h — the steps of a SkriptND model: it is read, typed and composed; then it gets
// its data.
#pragma once

#include <optional>

#include "model/loaded_model.h"
#include "model/options.h"
#include "sknd/types/types.h"

namespace lemma::model {

struct SkndModel {
    diag::FileId file;      // of the main module
    sknd::Package package;  // with syntax_only: the main module alone
    sknd::TypedPackage types;
    ModelFile model;
};

// Reads the modules and checks their types. An error concerns the file itself; faults in its
// contents go to `diag`.
Result<SkndModel> check_sknd(const ModelFile& file,
                             const CheckOptions& options,
                             diag::SourceMap& sources,
                             Diagnostics& diag);

// Composes the graph of `--graph`, or the first one, with the attributes of `-a`. The model must be
// checked without errors. Empty after a fault, which is reported.
std::optional<ir::Program> compose_graph(const SkndModel& model,
                                         const CheckOptions& options,
                                         Finding& finding);

// Composes the graph of `--graph`, or every graph that no other one invokes, to find faults, and
// checks the data of the variables. Graphs that lack attributes are skipped with a remark. Returns
// the programs of the graphs without faults.
std::vector<ir::Program> check_graphs(const SkndModel& model,
                                      const CheckOptions& options,
                                      Finding& finding);

// The composed program, with the files of its variables.
LoadedModel with_data(SkndModel model,
                      ir::Program program,
                      const LoadOptions& options,
                      const diag::SourceMap& sources);

}  // namespace lemma::model
