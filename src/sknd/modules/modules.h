// SPDX-License-Identifier: Apache-2.0
// sknd/modules/modules.h — a main module and all its imports, each parsed once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/ast.h"
#include "sknd/syntax/parser.h"

namespace lemma::sknd {

struct ModuleId : Id<ModuleId> {};

struct LoadedModule {
    std::string name;       // as imported: `nn`, `custom.blocks`; `main` or the file's stem
    bool standard = false;  // from the embedded library
    std::vector<diag::FileId> files;  // one, except for some modules of the embedded library
    Module module;
    std::map<std::string, ModuleId, std::less<>> imports;  // by the written name
    std::map<std::string_view, size_t> definition_index;   // first definition of each name
};

// Modules in load order: the main module first, each other module after the one that imported it
// first. A model's module and a standard one may have the same name.
struct Package {
    std::vector<LoadedModule> modules;
    const LoadedModule& operator[](ModuleId id) const { return modules[id.value]; }
    ModuleId main() const { return make_id<ModuleId>(0); }
};

// The text of a standard file by its name in diagnostics, `stdlib/onnx/conv.sknd`.
std::optional<std::string_view> standard_text(std::string_view name);

// Whether the place is in a standard module.
bool is_standard(const Package& package, Span span);

struct ModuleText {
    std::string file_name;  // name in diagnostics
    std::string text;
};

// The text of the module `a.b` in the model folder (`a/b.sknd`); nothing if there is none; or an
// error if it cannot be read.
using ModuleReader = std::function<Result<std::optional<ModuleText>>(const std::string& module)>;
// Reads *.sknd files below a folder; names are identifiers, so they cannot leave it.
ModuleReader folder_reader(std::string folder);
// A reader without a model folder.
ModuleReader no_reader();

struct LoadOptions {
    ParseLimits limits;
    bool library = false;  // the main module needs no graph (lemma check --module)
    // Read only the definitions of standard modules that the model calls, directly or indirectly.
    // If it calls a missing one, read all of them, for suggestions.
    bool used_only = false;
};

// Parses the main module (already in `sources`) and all imports. Reports missing modules, cycles,
// shadowing, duplicate definitions, graphs in imported modules, and a main module without a graph
// (unless a syntax error may have hidden the graph). A model's modules take precedence; the
// standard modules see only each other. The package is always usable; `imports` lacks the missing
// modules.
Package load_package(diag::SourceMap& sources,
                     diag::FileId main_file,
                     std::string main_name,
                     const ModuleReader& reader,
                     const LoadOptions& options,
                     Diagnostics& diag);

// The standard modules below a folder, such as `nnef1` or `onnx`, and their imports, for calls of
// other formats. The main module represents the model.
Package load_library(diag::SourceMap& sources, const std::string& folder, Diagnostics& diag);
// The same, with only the definitions that the wanted operators use, which is faster. An operator
// of another module has its name in front: `layout.stack`.
Package load_library(diag::SourceMap& sources,
                     const std::string& folder,
                     const std::vector<std::string>& wanted,
                     Diagnostics& diag);

}  // namespace lemma::sknd
