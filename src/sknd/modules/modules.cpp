// SPDX-License-Identifier: Apache-2.0
#include "sknd/modules/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sknd/modules/embedded.h"
#include "sknd/modules/import_cycles.h"

namespace lemma::sknd {
namespace {

// In the names of standard files.
constexpr std::string_view kStandardFolder = "stdlib/";

// The files of one module.
using EmbeddedFiles = std::span<const EmbeddedFile>;

const EmbeddedDefinition* find_definition(EmbeddedFiles files, std::string_view name) {
    for (const EmbeddedFile& file : files) {
        const auto found = std::ranges::find(file.definitions, name, &EmbeddedDefinition::name);
        if (found != file.definitions.end()) return &*found;
    }
    return nullptr;
}

bool is_below(const EmbeddedFile& file, std::string_view folder) {
    return file.path.starts_with(folder) && file.path.substr(folder.size()).starts_with('/');
}

size_t number_of(const EmbeddedDefinition& definition) {
    return static_cast<size_t>(&definition - embedded_definitions().data());
}

// For each definition: whether one of the given definitions uses it, or is it.
std::vector<bool> with_all_they_use(std::vector<size_t> open) {
    const std::span<const EmbeddedDefinition> all = embedded_definitions();
    std::vector<bool> used(all.size());
    while (!open.empty()) {
        const size_t number = open.back();
        open.pop_back();
        if (used[number]) continue;
        used[number] = true;
        open.insert(open.end(), all[number].uses.begin(), all[number].uses.end());
    }
    return used;
}

// The result of an import. Without a module and without an error, the module does not exist.
struct Lookup {
    ModuleId module;
    std::string trouble;  // why its file cannot be read
};

// Loads breadth-first: the package itself is the work list, so a long chain of imports needs no
// recursion.
class Loader {
public:
    Loader(diag::SourceMap& sources,
           const ModuleReader& reader,
           const LoadOptions& options,
           Diagnostics& diag)
        : sources_(sources), reader_(reader), options_(options), diag_(diag) {
        const EmbeddedFiles all = embedded_files();
        for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
            while (end < all.size() && all[end].module == all[begin].module) ++end;
            embedded_[all[begin].module] = all.subspan(begin, end - begin);
        }
    }

    Package load(diag::FileId main_file, std::string main_name);
    // Reads only these definitions of standard modules, by index.
    void keep_only(std::vector<bool> definitions) { kept_ = std::move(definitions); }

private:
    ModuleId add_module(std::string name, bool standard, std::vector<diag::FileId> files);
    void parse(LoadedModule& loaded);
    void read_deferred();
    bool model_defines(std::string_view module, std::string_view definition) const;
    std::optional<std::vector<bool>> used_by_model() const;
    void index_definitions(LoadedModule& loaded);
    void resolve_imports(ModuleId importer);
    void resolve_import(ModuleId importer, const std::string& name, Span span);
    const Lookup& find_in_model(const std::string& name, Span span);
    Lookup read_from_model(const std::string& name, Span span);
    const Lookup& find_standard(const std::string& name);
    bool is_kept(const EmbeddedFile& file) const;
    std::vector<TextRange> left_out(const EmbeddedFile& file) const;
    void report_missing(ModuleId importer, const std::string& name, Span span);
    void report_graphs();
    void report_no_graph();
    void report_cycle(const ImportCycle& cycle);
    size_t errors_so_far() const { return diag_.error_count() + diag_.dropped_errors(); }

    diag::SourceMap& sources_;
    const ModuleReader& reader_;
    const LoadOptions& options_;
    Diagnostics& diag_;

    Package package_;
    ImportGraph imports_;  // imports of each module of the package
    std::map<std::string_view, EmbeddedFiles> embedded_;
    std::map<std::string, Lookup, std::less<>> model_lookups_;
    std::map<std::string, Lookup, std::less<>> standard_lookups_;
    std::optional<std::vector<bool>> kept_;
    bool deferring_ = false;  // standard modules are read after the used definitions are known
    std::vector<ModuleId> deferred_;
};

Package Loader::load(diag::FileId main_file, std::string main_name) {
    const size_t errors_before = errors_so_far();
    deferring_ = options_.used_only;
    model_lookups_[main_name].module = add_module(main_name, false, {main_file});
    const bool parsed_well = errors_so_far() == errors_before;
    // The list grows during the walk.
    for (size_t i = 0; i < package_.modules.size(); ++i) resolve_imports(make_id<ModuleId>(i));
    read_deferred();

    report_graphs();
    if (parsed_well && !options_.library) report_no_graph();
    for (const ImportCycle& cycle : find_import_cycles(imports_)) report_cycle(cycle);
    return std::move(package_);
}

ModuleId Loader::add_module(std::string name, bool standard, std::vector<diag::FileId> files) {
    const auto id = make_id<ModuleId>(package_.modules.size());
    LoadedModule loaded;
    loaded.name = std::move(name);
    loaded.standard = standard;
    loaded.files = std::move(files);
    if (standard && deferring_) {
        deferred_.push_back(id);
    } else {
        parse(loaded);
    }
    package_.modules.push_back(std::move(loaded));
    imports_.emplace_back();
    return id;
}

void Loader::parse(LoadedModule& loaded) {
    loaded.module.file = loaded.files.front();
    // One reservation for all files; an expression takes more than eight bytes.
    size_t bytes = 0;
    for (const diag::FileId file : loaded.files) bytes += sources_.text(file).size();
    if (loaded.files.size() > 1) loaded.module.exprs.reserve(bytes / 8);
    for (size_t i = 0; i < loaded.files.size(); ++i) {
        std::vector<TextRange> skipped;
        if (loaded.standard && kept_) {
            const EmbeddedFile& file = embedded_.find(loaded.name)->second[i];
            if (!is_kept(file)) continue;
            skipped = left_out(file);
        }
        parse_more(sources_, loaded.files[i], options_.limits, diag_, skipped, loaded.module);
    }
    index_definitions(loaded);
}

// Reads the deferred standard modules and their imports.
void Loader::read_deferred() {
    if (deferred_.empty()) return;
    deferring_ = false;
    kept_ = used_by_model();
    const size_t first_new = package_.modules.size();
    for (const ModuleId id : deferred_) parse(package_.modules[id.value]);
    for (const ModuleId id : deferred_) resolve_imports(id);
    for (size_t i = first_new; i < package_.modules.size(); ++i) {
        resolve_imports(make_id<ModuleId>(i));
    }
}

bool Loader::model_defines(std::string_view module, std::string_view definition) const {
    const auto found = model_lookups_.find(module);
    if (found == model_lookups_.end() || !found->second.module) return false;
    const LoadedModule& loaded = package_[found->second.module];
    return !loaded.standard && loaded.definition_index.contains(definition);
}

// Empty if the model calls an operator that is neither its own nor in the named module.
std::optional<std::vector<bool>> Loader::used_by_model() const {
    std::set<std::string> called;
    for (const LoadedModule& loaded : package_.modules) {
        std::vector<const QualifiedName*> callees;
        for (const Region& region : loaded.module.regions) {
            if (const auto* call = std::get_if<Invocation>(&region.node)) {
                callees.push_back(&call->callee);
            }
        }
        for (const Definition& definition : loaded.module.definitions) {
            for (const QuantizeStmt& stmt : definition.quantizes) callees.push_back(&stmt.callee);
        }
        for (const QualifiedName* callee : callees) {
            if (callee->parts.size() > 1) {
                called.insert(callee->text());
            } else if (!loaded.definition_index.contains(callee->text())) {
                return std::nullopt;
            }
        }
    }
    std::vector<size_t> used;
    for (const std::string_view name : called) {
        const size_t dot = name.rfind('.');
        const std::string_view module = name.substr(0, dot);
        const std::string_view definition = name.substr(dot + 1);
        if (model_defines(module, definition)) continue;
        const auto file = embedded_.find(module);
        if (file == embedded_.end()) return std::nullopt;
        const EmbeddedDefinition* found = find_definition(file->second, definition);
        if (!found) return std::nullopt;
        used.push_back(number_of(*found));
    }
    return with_all_they_use(std::move(used));
}

void Loader::index_definitions(LoadedModule& loaded) {
    const std::vector<Definition>& definitions = loaded.module.definitions;
    for (size_t i = 0; i < definitions.size(); ++i) {
        const Name& name = definitions[i].name;
        if (name.text.empty()) continue;  // reported by the parser
        const auto [first, is_new] = loaded.definition_index.emplace(name.text, i);
        if (is_new) continue;
        diag_
            .error(name.span,
                   DiagKind::DuplicateDefinition,
                   fmt::format("`{}` is defined twice in this module", name.text))
            .note(definitions[first->second].name.span, "first defined here");
    }
}

void Loader::resolve_imports(ModuleId importer) {
    struct Written {
        std::string name;
        Span span;
    };
    // A copy, because loading imports moves the modules.
    std::vector<Written> written;
    for (const Import& import : package_[importer].module.imports) {
        for (const QualifiedName& name : import.modules) {
            if (!name.parts.empty()) written.push_back({name.text(), name.span});
        }
    }
    std::map<std::string_view, Span> seen;
    for (const Written& import : written) {
        const auto [first, is_new] = seen.emplace(import.name, import.span);
        if (is_new) {
            resolve_import(importer, import.name, import.span);
            continue;
        }
        if (first->second.file != import.span.file) continue;  // each file has its own imports
        diag_
            .warning(import.span,
                     DiagKind::DuplicateImport,
                     fmt::format("module `{}` is imported twice", import.name))
            .note(first->second, "first imported here");
    }
}

void Loader::resolve_import(ModuleId importer, const std::string& name, Span span) {
    const bool standard = package_[importer].standard;
    const Lookup& found = standard ? find_standard(name) : find_in_model(name, span);
    if (!found.trouble.empty()) {
        diag_.error(span, DiagKind::UnreadableFile, found.trouble);
        return;
    }
    if (!found.module) {
        report_missing(importer, name, span);
        return;
    }
    package_.modules[importer.value].imports.emplace(name, found.module);
    imports_[importer.value].push_back({.span = span, .target = found.module.value});
}

const Lookup& Loader::find_in_model(const std::string& name, Span span) {
    const auto known = model_lookups_.find(name);
    if (known != model_lookups_.end()) return known->second;
    return model_lookups_[name] = read_from_model(name, span);
}

Lookup Loader::read_from_model(const std::string& name, Span span) {
    Result<std::optional<ModuleText>> read = reader_(name);
    if (!read) return {.module = {}, .trouble = read.error().message};
    if (!*read) return find_standard(name);
    ModuleText& found = **read;

    // The same text hides nothing; so the standard modules can be checked in their source folder.
    const auto hidden = embedded_.find(name);
    if (hidden != embedded_.end() && hidden->second.front().text != found.text) {
        diag_
            .warning(span,
                     DiagKind::ShadowedModule,
                     fmt::format("`{}` hides the standard module `{}`", found.file_name, name))
            .note("rename it, or move it into a subfolder of the model");
    }
    const diag::FileId file = sources_.add(std::move(found.file_name), std::move(found.text));
    return {.module = add_module(name, false, {file}), .trouble = {}};
}

const Lookup& Loader::find_standard(const std::string& name) {
    const auto known = standard_lookups_.find(name);
    if (known != standard_lookups_.end()) return known->second;
    Lookup found;
    const auto embedded = embedded_.find(name);
    if (embedded != embedded_.end()) {
        std::vector<diag::FileId> files;
        for (const EmbeddedFile& file : embedded->second) {
            files.push_back(sources_.add(fmt::format("{}{}", kStandardFolder, file.path),
                                         std::string(file.text)));
        }
        found.module = add_module(name, true, std::move(files));
    }
    return standard_lookups_[name] = found;
}

// Whether any definition of the file is kept.
bool Loader::is_kept(const EmbeddedFile& file) const {
    return std::ranges::any_of(file.definitions, [&](const EmbeddedDefinition& definition) {
        return (*kept_)[number_of(definition)];
    });
}

// The places of the definitions that are not kept.
std::vector<TextRange> Loader::left_out(const EmbeddedFile& file) const {
    std::vector<TextRange> ranges;
    if (!kept_) return ranges;
    for (const EmbeddedDefinition& definition : file.definitions) {
        if ((*kept_)[number_of(definition)]) continue;
        if (!ranges.empty() && ranges.back().end == definition.begin) {
            ranges.back().end = definition.end;
        } else {
            ranges.push_back({definition.begin, definition.end});
        }
    }
    return ranges;
}

void Loader::report_missing(ModuleId importer, const std::string& name, Span span) {
    std::vector<std::string_view> candidates;
    for (const auto& [standard_name, file] : embedded_) candidates.push_back(standard_name);
    if (!package_[importer].standard) {
        for (const LoadedModule& loaded : package_.modules) candidates.push_back(loaded.name);
    }
    const auto nearest = diag::nearest_name(name, candidates);
    auto report = diag_.error(span, DiagKind::NoModule, fmt::format("no module `{}`", name));
    report.did_you_mean(span, nearest);
    if (!nearest.empty()) return;
    std::string path = name;
    std::ranges::replace(path, '.', '/');
    report.note(fmt::format("a module of the model is a file in its folder: `{}.sknd`", path));
}

void Loader::report_graphs() {
    for (size_t i = 1; i < package_.modules.size(); ++i) {
        const LoadedModule& loaded = package_.modules[i];
        for (const Definition& definition : loaded.module.definitions) {
            if (!definition.graph) continue;
            diag_
                .error(definition.name.span,
                       DiagKind::GraphInModule,
                       fmt::format("graph `{}` in the imported module `{}`",
                                   definition.name.text,
                                   loaded.name))
                .note("only the main module can have graphs");
        }
    }
}

void Loader::report_no_graph() {
    const LoadedModule& loaded = package_.modules.front();
    const std::vector<Definition>& definitions = loaded.module.definitions;
    if (std::any_of(definitions.begin(), definitions.end(), [](const Definition& definition) {
            return definition.graph;
        })) {
        return;
    }
    diag_
        .error({loaded.module.file, 0, 0},
               DiagKind::NoGraph,
               fmt::format("the main module `{}` has no graph", loaded.name))
        .note(
            "a module of operators is checked by `lemma check --module` and run by `lemma test`; "
            "a model imports it");
}

// The error is at the first import of the cycle, the notes at the others.
void Loader::report_cycle(const ImportCycle& cycle) {
    const auto name = [this](const CycleStep& step) { return package_.modules[step.module].name; };
    const std::string first = name(cycle.front());
    if (cycle.size() == 1) {
        diag::Report report = diag_.error(cycle.front().span,
                                          DiagKind::ImportCycle,
                                          fmt::format("module `{}` imports itself", first));
        if (embedded_.contains(first)) report.note("it hides the standard module of that name");
        return;
    }
    std::string circle;
    for (const CycleStep& step : cycle) circle += name(step) + " -> ";
    diag::Report report =
        diag_.error(cycle.front().span,
                    DiagKind::ImportCycle,
                    fmt::format("modules import each other in a circle: `{}{}`", circle, first));
    for (size_t i = 1; i < cycle.size(); ++i) {
        const std::string next = name(cycle[(i + 1) % cycle.size()]);
        report.note(cycle[i].span, fmt::format("`{}` imports `{}` here", name(cycle[i]), next));
    }
}

}  // namespace

std::optional<std::string_view> standard_text(std::string_view name) {
    if (!name.starts_with(kStandardFolder)) return std::nullopt;
    const std::string_view path = name.substr(kStandardFolder.size());
    const auto files = embedded_files();
    const auto found = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
    if (found == files.end() || found->path != path) return std::nullopt;
    return found->text;
}

bool is_standard(const Package& package, Span span) {
    return std::ranges::any_of(package.modules, [&](const LoadedModule& loaded) {
        return loaded.standard && std::ranges::find(loaded.files, span.file) != loaded.files.end();
    });
}

Package load_package(diag::SourceMap& sources,
                     diag::FileId main_file,
                     std::string main_name,
                     const ModuleReader& reader,
                     const LoadOptions& options,
                     Diagnostics& diag) {
    return Loader(sources, reader, options, diag).load(main_file, std::move(main_name));
}

namespace {

// Wanted definitions with all that they use, and the modules outside of the folder that have some.
struct Used {
    std::vector<bool> definitions;
    std::set<std::string_view> modules;
};
Used used_definitions(std::string_view folder, const std::vector<std::string>& wanted) {
    std::set<std::string_view> names;                                     // in the folder
    std::set<std::pair<std::string_view, std::string_view>> other_names;  // with their modules
    Used used;
    for (const std::string_view name : wanted) {
        const size_t point = name.rfind('.');
        if (point == std::string_view::npos) {
            names.insert(name);
        } else {
            other_names.emplace(name.substr(0, point), name.substr(point + 1));
            used.modules.insert(name.substr(0, point));
        }
    }
    std::vector<size_t> open;
    for (const EmbeddedFile& file : embedded_files()) {
        const bool below = is_below(file, folder);
        if (!below && !used.modules.contains(file.module)) continue;
        for (const EmbeddedDefinition& definition : file.definitions) {
            const bool found = below ? names.contains(definition.name)
                                     : other_names.contains({file.module, definition.name});
            if (found) open.push_back(number_of(definition));
        }
    }
    used.definitions = with_all_they_use(std::move(open));
    return used;
}

Package load_folder(diag::SourceMap& sources,
                    const std::string& folder,
                    const Used* kept,
                    Diagnostics& diag) {
    std::string text;
    for (const EmbeddedFile& file : embedded_files()) {
        if (!is_below(file, folder)) continue;
        const auto is_kept = [&](const EmbeddedDefinition& definition) {
            return kept->definitions[number_of(definition)];
        };
        const bool used = !kept || std::ranges::any_of(file.definitions, is_kept);
        if (used) text += fmt::format("import {};\n", file.module);
    }
    for (const std::string_view module : kept ? kept->modules : std::set<std::string_view>()) {
        text += fmt::format("import {};\n", module);
    }
    text += "operator model {\n    @input {}\n    @output {}\n    @compose {}\n}\n";
    const diag::FileId file = sources.add(folder, std::move(text));
    const LoadOptions options = {.limits = {}, .library = true};
    const ModuleReader reader = no_reader();
    Loader loader(sources, reader, options, diag);
    if (kept) loader.keep_only(kept->definitions);
    return loader.load(file, "");
}

}  // namespace

Package load_library(diag::SourceMap& sources, const std::string& folder, Diagnostics& diag) {
    return load_folder(sources, folder, nullptr, diag);
}

Package load_library(diag::SourceMap& sources,
                     const std::string& folder,
                     const std::vector<std::string>& wanted,
                     Diagnostics& diag) {
    const Used used = used_definitions(folder, wanted);
    return load_folder(sources, folder, &used, diag);
}

}  // namespace lemma::sknd
