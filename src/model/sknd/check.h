// model/sknd/check.h — the whole line of travel on one page: each step takes what the step before
// made, and reports into one list.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "diag/diagnostic.h"
#include "diag/source.h"
#include "ir/program/program.h"
#include "model/data_files.h"
#include "model/find_model.h"
#include "model/sknd/graph_options.h"
#include "nnef1/syntax/dialect.h"
#include "sknd/modules/modules.h"
#include "sknd/syntax/parser.h"
#include "sknd/types/types.h"

namespace lemma::model {

// The largest --max-depth: what the stack of any step takes, sanitizers included.
inline constexpr int kMaxDepth = 2000;

// What `--dump` prints, for debugging.
enum class Dump : uint8_t { None, Tokens, Tree };

struct CheckOptions {
    bool syntax_only = false;  // the main file alone, without its imports
    bool types_only = false;   // no composing
    bool library = false;      // a module that needs no graph
    sknd::ParseLimits parse;
    sknd::EvalLimits eval;
    GraphOptions graph;
    DataMode data = DataMode::Auto;
    Dump dump = Dump::None;
    nnef1::Dialect dialect = nnef1::Dialect::Strict;  // of NNEF 1.0
};

struct CheckedModel {
    diag::FileId file;      // of the main module
    sknd::Package package;  // with syntax_only: the main module alone
    sknd::TypedPackage types;
    ModelFile model;
};

// An error is trouble with the file itself; what is wrong inside it goes to `diag`.
Result<CheckedModel> check_sknd(const ModelFile& model,
                                const CheckOptions& options,
                                diag::SourceMap& sources,
                                Diagnostics& diag);

// The graph that `--graph` names, or the first one, with the attributes of `-a`; the model was
// checked without errors.
struct Composed {
    std::optional<ir::Program> program;  // empty: reported
    bool bad_usage = false;              // it is the command line that does not fit the model
};
Composed compose_graph(const CheckedModel& model,
                       const CheckOptions& options,
                       diag::SourceMap& sources,
                       Diagnostics& diag);

// Composes every graph that no other one invokes, or the one that `--graph` names, to find what is
// wrong with it, and checks the data of the variables. Graphs that lack attributes are left out,
// which is remarked.
struct ComposeCheck {
    std::vector<diag::Note> remarks;
    bool bad_usage = false;
};
ComposeCheck check_graphs(const CheckedModel& model,
                          const CheckOptions& options,
                          diag::SourceMap& sources,
                          Diagnostics& diag);

}  // namespace lemma::model
