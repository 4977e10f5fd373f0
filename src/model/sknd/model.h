// model/sknd/model.h — the steps of a SkriptND model: read and typed, composed, with its data.
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

// Reads the modules and checks their types. An error is trouble with the file itself; what is wrong
// inside it goes to `diag`.
Result<SkndModel> check_sknd(const ModelFile& file,
                             const CheckOptions& options,
                             diag::SourceMap& sources,
                             Diagnostics& diag);

// The graph that `--graph` names, or the first one, with the attributes of `-a`; the model was
// checked without errors. Empty when something is wrong, which is reported.
std::optional<ir::Program> compose_graph(const SkndModel& model,
                                         const CheckOptions& options,
                                         Finding& finding);

// Composes every graph that no other one invokes, or the one that `--graph` names, to find what is
// wrong with it, and checks the data of the variables. Graphs that lack attributes are left out,
// which is remarked.
void check_graphs(const SkndModel& model, const CheckOptions& options, Finding& finding);

// The program that the model was composed to, with the files of its variables.
LoadedModel with_data(SkndModel model,
                      ir::Program program,
                      const LoadOptions& options,
                      const diag::SourceMap& sources);

}  // namespace lemma::model
