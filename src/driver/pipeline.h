// driver/pipeline.h — the whole line of travel on one page: each step takes what the step before
// made, and reports into one list.
#pragma once

#include "base/result.h"
#include "diag/diagnostic.h"
#include "diag/source.h"
#include "driver/model.h"
#include "sknd/modules/modules.h"
#include "sknd/syntax/parser.h"
#include "sknd/types/types.h"

namespace lemma::driver {

// The largest --max-depth: what the stack of any step takes, sanitizers included.
inline constexpr int kMaxDepth = 2000;

struct CheckOptions {
    bool syntax_only = false;  // the main file alone, without its imports
    bool library = false;      // a module that needs no graph
    sknd::ParseLimits parse;
    sknd::EvalLimits eval;
};

struct CheckedModel {
    diag::FileId file;      // of the main module
    sknd::Package package;  // with syntax_only: the main module alone
    sknd::TypedPackage types;
};

// An error is trouble with the file itself; what is wrong inside it goes to `diag`.
Result<CheckedModel> check_sknd(const ModelFile& model,
                                const CheckOptions& options,
                                diag::SourceMap& sources,
                                Diagnostics& diag);

}  // namespace lemma::driver
