// SPDX-License-Identifier: Apache-2.0
// model/options.h — options for checking and loading a model, from the command line or the API.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.h"
#include "model/data_files.h"
#include "model/given_inputs.h"
#include "model/sknd/graph_options.h"
#include "nnef1/syntax/dialect.h"
#include "sknd/syntax/parser.h"
#include "tensor/archive/memory_files.h"
#include "tensor/tensor.h"

namespace lemma::model {

// The largest --max-depth: it fits the stack in every step, even with sanitizers.
inline constexpr int kMaxDepth = 2000;

// The output of `--dump`, for debugging.
enum class Dump : uint8_t { None, Tokens, Tree };

struct CheckOptions {
    bool syntax_only = false;  // the main file alone, without its imports
    bool types_only = false;   // no composition
    bool library = false;      // a module that needs no graph
    sknd::ParseLimits parse;
    sknd::EvalLimits eval;
    GraphOptions graph;
    DataMode data = DataMode::Auto;
    Dump dump = Dump::None;
    nnef1::Dialect dialect = nnef1::Dialect::Strict;  // of NNEF 1.0
};

// A safety profile that `lemma check` adds to the rules of the format.
struct ProfileOptions {
    bool sonnx = false;
    bool relax_broadcast = false;
    std::optional<int64_t> max_concat_inputs;  // empty: the limit of the Concat document
    std::string report;                        // the file to write, .md, .html or .json
    std::string trace;                         // the file to write, .json or .csv
    std::string fix;                           // the file for the model in explicit form
    std::string proofs;                        // a file of `lemma prove --json`
    std::string tests;                         // a file of `lemma verify --json`
    std::string certificate;                   // a file of `lemma certify --json`
    std::string certificate_text;              // such a document of this run
    std::vector<std::string> command;          // words of the command line, for reports
    std::string executable;                    // the running tool; empty: not known
};

// What loading made of a model is kept here for the next time.
class ProgramStore {
public:
    virtual ~ProgramStore() = default;
    // `source` is everything that the entry was made from, in parts.
    virtual std::optional<std::string> find(std::span<const std::string_view> source) = 0;
    virtual void add(std::span<const std::string_view> source, std::string entry) = 0;
};

struct LoadOptions {
    CheckOptions check;
    tensor::SourceLimits source;
    DataMode data = DataMode::Ignore;  // the data check while loading
    // Files as for `-i`, for models with inputs that decide shapes (ONNX), and how to read them.
    std::vector<std::string> inputs;
    InputReader read_input;
    std::vector<tensor::MemoryFile> memory;        // the model, if it is no file
    std::map<std::string, tensor::Tensor> values;  // the same by the names of inputs
    ProfileOptions profile;
    const RunControl* control = nullptr;  // may be missing
    ProgramStore* store = nullptr;        // may be missing
};

}  // namespace lemma::model
