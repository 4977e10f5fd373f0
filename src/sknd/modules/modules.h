// sknd/modules/modules.h — a main module and everything it imports, parsed once each.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
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
    std::vector<diag::FileId> files;  // one, but for some of the embedded library
    Module module;
    std::map<std::string, ModuleId, std::less<>> imports;  // by the name written
    std::map<std::string_view, size_t> definition_index;   // first definition of each name
};

// Modules in load order: the main module is the first, and each module stands behind the one that
// imported it first. A model's module and a standard one may have the same name.
struct Package {
    std::vector<LoadedModule> modules;
    const LoadedModule& operator[](ModuleId id) const { return modules[id.value]; }
    ModuleId main() const { return make_id<ModuleId>(0); }
};

// Whether the place is in a standard module.
bool is_standard(const Package& package, Span span);

struct ModuleText {
    std::string file_name;  // for diagnostics
    std::string text;
};

// The text of the module `a.b` of the model folder (`a/b.sknd`), nothing if there is none, or why
// it cannot be read.
using ModuleReader = std::function<Result<std::optional<ModuleText>>(const std::string& module)>;
// A reader of *.sknd files below a folder; names are identifiers, so they cannot leave it.
ModuleReader folder_reader(std::string folder);
// A reader without any model folder.
ModuleReader no_reader();

struct LoadOptions {
    ParseLimits limits;
    bool library = false;  // the main module needs no graph (lemma check --module)
    // Of standard modules, read only the definitions that the model calls and what those call in
    // turn; all of them if it calls one that is not there, for the sake of suggestions.
    bool used_only = false;
};

// Parses the main module (already in `sources`) and all imports; reports missing modules, cycles,
// shadowing, duplicate definitions, graphs in imported modules, and a main module without graph
// (unless it has syntax errors, which may have hidden the graph). A model's modules come first; the
// standard modules see only each other. The package is usable in any case: an import that was not
// found is missing in `imports`.
Package load_package(diag::SourceMap& sources,
                     diag::FileId main_file,
                     std::string main_name,
                     const ModuleReader& reader,
                     const LoadOptions& options,
                     Diagnostics& diag);

// The standard modules below a folder, as `nnef1` or `onnx`, and what they import, for calls that
// come from other formats. The main module is a stand-in for the model.
Package load_library(diag::SourceMap& sources, const std::string& folder, Diagnostics& diag);
// The same without the definitions that the wanted operators do not use, which takes less time.
Package load_library(diag::SourceMap& sources,
                     const std::string& folder,
                     const std::vector<std::string>& wanted,
                     Diagnostics& diag);

}  // namespace lemma::sknd
