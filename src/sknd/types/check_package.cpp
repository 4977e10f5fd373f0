// SPDX-License-Identifier: Apache-2.0
// The check of a whole package: finds definitions by name, checks each, and detects recursion.
#include <fmt/format.h>

#include <algorithm>

#include "sknd/names/suggest.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

std::string module_part(const QualifiedName& name) {
    std::string text;
    for (size_t i = 0; i + 1 < name.parts.size(); ++i) {
        if (i > 0) text += '.';
        text += name.parts[i].text;
    }
    return text;
}

// Imported, but not found: reported at the import.
bool is_import_of(const Module& module, std::string_view name) {
    for (const Import& import : module.imports) {
        for (const QualifiedName& imported : import.modules) {
            if (imported.text() == name) return true;
        }
    }
    return false;
}

bool is_private(std::string_view name) { return name.starts_with('_'); }

// The call graph, from the callees that the check resolved.
class CallGraph {
public:
    CallGraph(const Package& package, const TypedPackage& typed);
    void report_cycles(const Package& package, Diagnostics& diag) const;

private:
    struct Call {
        DefRef callee;
        Span span;
    };
    struct Visit {
        DefRef ref;
        size_t next = 0;
    };
    void report_cycle(const std::vector<Visit>& path,
                      const Call& last,
                      const Package& package,
                      Diagnostics& diag) const;
    void add_module(const Package& package, const TypedPackage& typed, ModuleId id);

    std::map<DefRef, std::vector<Call>> calls_;
};

CallGraph::CallGraph(const Package& package, const TypedPackage& typed) {
    for (size_t m = 0; m < package.modules.size(); ++m) {
        add_module(package, typed, make_id<ModuleId>(m));
    }
}

void CallGraph::add_module(const Package& package, const TypedPackage& typed, ModuleId id) {
    const Module& module = package[id].module;
    // In the order of the module's files.
    const auto place = [](Span span) { return uint64_t{span.file.value} << 32 | span.begin; };
    std::vector<std::pair<uint64_t, uint32_t>> begins;  // place, definition
    for (uint32_t d = 0; d < module.definitions.size(); ++d) {
        begins.emplace_back(place(module.definitions[d].span), d);
    }
    std::sort(begins.begin(), begins.end());
    for (size_t r = 0; r < module.regions.size(); ++r) {
        const auto region = make_id<RegionId>(r);
        const auto& callee = typed.modules[id.value].callees[region];
        if (!callee) continue;
        const Span span = module.regions[region].span;
        const auto next =
            std::upper_bound(begins.begin(), begins.end(), std::pair{place(span), UINT32_MAX});
        if (next == begins.begin()) continue;
        const DefRef caller{id, std::prev(next)->second};
        calls_[caller].push_back({*callee, span});
    }
}

void CallGraph::report_cycles(const Package& package, Diagnostics& diag) const {
    std::map<DefRef, int> state;  // 1: on the path, 2: done
    for (const auto& [start, unused] : calls_) {
        if (state[start] != 0) continue;
        std::vector<Visit> path = {{start}};
        state[start] = 1;
        while (!path.empty()) {
            Visit& visit = path.back();
            const auto calls = calls_.find(visit.ref);
            if (calls == calls_.end() || visit.next == calls->second.size()) {
                state[visit.ref] = 2;
                path.pop_back();
                continue;
            }
            const Call& call = calls->second[visit.next++];
            if (state[call.callee] == 0) {
                state[call.callee] = 1;
                path.push_back({call.callee});
            } else if (state[call.callee] == 1) {
                report_cycle(path, call, package, diag);
            }
        }
    }
}

// The error is at the call that closes the cycle, the notes at the calls that lead to it.
void CallGraph::report_cycle(const std::vector<Visit>& path,
                             const Call& last,
                             const Package& package,
                             Diagnostics& diag) const {
    constexpr std::ptrdiff_t kMostNotes = 8;
    const bool full = diag.full();
    const auto name = [&](DefRef ref) {
        return package[ref.module].module.definitions[ref.definition].name.text;
    };
    auto report = diag.error(last.span,
                             DiagKind::RecursiveOperator,
                             fmt::format("`{}` calls itself", name(last.callee)));
    if (full) return;
    const auto begin = std::find_if(
        path.begin(), path.end(), [&](const Visit& v) { return v.ref == last.callee; });
    const std::ptrdiff_t steps = path.end() - begin - 1;
    for (auto step = begin; step < begin + std::min(steps, kMostNotes); ++step) {
        const Call& made = calls_.at(step->ref)[step->next - 1];
        report.note(made.span,
                    fmt::format("`{}` calls `{}` here", name(step->ref), name(made.callee)));
    }
    if (steps > kMostNotes) {
        report.note(fmt::format("and so on, {} more calls in the circle", steps - kMostNotes));
    }
}

}  // namespace

PackageChecker::PackageChecker(const Package& package,
                               const CheckOptions& options,
                               const Diagnostics& syntax)
    : package_(package), options_(options), work_{options.limits.max_work} {
    for (const LoadedModule& loaded : package.modules) {
        broken_.emplace_back(loaded.module, syntax.items());
        signatures_.emplace_back(loaded.module.definitions.size());
    }
}

const Definition& PackageChecker::definition(DefRef ref) const {
    return package_[ref.module].module.definitions[ref.definition];
}

const Signature& PackageChecker::signature(DefRef ref) {
    auto& signature = signatures_[ref.module.value][ref.definition];
    if (!signature) signature = make_signature(module_of(ref), definition(ref));
    return *signature;
}

std::optional<DefRef> PackageChecker::resolve(ModuleId from,
                                              const QualifiedName& name,
                                              Diagnostics& diag) {
    if (name.parts.empty()) return std::nullopt;
    ModuleId module = from;
    if (name.parts.size() > 1) {
        const auto& imports = package_[from].imports;
        const auto found = imports.find(module_part(name));
        if (found == imports.end()) {
            if (!is_import_of(package_[from].module, module_part(name))) {
                report_unknown_qualified(from, name, diag);
            }
            return std::nullopt;
        }
        module = found->second;
    }
    const std::string_view last = name.parts.back().text;
    const auto& definitions = package_[module].definition_index;
    const auto found = definitions.find(last);
    if (found == definitions.end()) {
        if (!broken_[module.value].names_lost()) report_unknown(module, name, diag);
        return std::nullopt;
    }
    const DefRef ref{module, static_cast<uint32_t>(found->second)};
    if (module != from && is_private(last)) {
        diag.error(name.span,
                   DiagKind::PrivateOperator,
                   fmt::format("`{}` is private to its module", name.text()))
            .note(definition(ref).name.span,
                  "names that begin with `_` can be used in their module only");
        return std::nullopt;
    }
    return ref;
}

void PackageChecker::report_unknown(ModuleId module, const QualifiedName& name, Diagnostics& diag) {
    const Name& last = name.parts.back();
    auto report =
        diag.error(name.span, DiagKind::NoOperator, fmt::format("no operator `{}`", name.text()));
    if (diag.full()) return;
    std::vector<std::string_view> names;
    for (const auto& [candidate, index] : package_[module].definition_index) {
        if (name.parts.size() == 1 || !is_private(candidate)) names.push_back(candidate);
    }
    const bool qualified = name.parts.size() > 1;
    const auto likely =
        qualified ? likely_name(last.text, names) : diag::nearest_name(last.text, names);
    if (!likely.empty()) {
        report.did_you_mean(last.span, likely);
        return;
    }
    if (qualified) return;
    for (const auto& [imported, id] : package_[module].imports) {
        if (!id.valid() || !package_[id].definition_index.contains(last.text)) continue;
        report.did_you_mean(last.span, fmt::format("{}.{}", imported, last.text));
        return;
    }
    const std::string standard = standard_operator(last.text);
    if (standard.empty()) return;
    report.did_you_mean(last.span, standard);
    const std::string of = standard.substr(0, standard.find('.'));
    if (!package_[module].imports.contains(of)) {
        report.note(fmt::format("write `import {};` at the top of the file, too", of));
    }
}

void PackageChecker::report_unknown_qualified(ModuleId from,
                                              const QualifiedName& name,
                                              Diagnostics& diag) {
    const std::string module = module_part(name);
    const Span span = cover(name.parts.front().span, name.parts[name.parts.size() - 2].span);
    std::vector<std::string_view> names;
    for (const auto& [imported, id] : package_[from].imports) names.push_back(imported);
    auto report = diag.error(
        span, DiagKind::NotImported, fmt::format("the module `{}` is not imported", module));
    const std::string_view nearest = diag::nearest_name(module, names);
    if (!nearest.empty()) {
        report.did_you_mean(span, nearest);
    } else {
        report.note(fmt::format("write `import {};` at the top of the file", module));
    }
}

namespace {

// The graphs of the main module that branches and loops invoke.
NameSet invoked_names(const Module& module) {
    NameSet names;
    for (const Region& region : module.regions) {
        const auto* call = std::get_if<Invocation>(&region.node);
        if (call && call->callee.parts.size() == 1) names.insert(call->callee.parts[0].text);
    }
    return names;
}

// Limit of findings in a broken definition, most of which are dropped.
constexpr size_t kMostInBroken = 1'000;

// The requested graph, or else the first one, is the main graph.
class GraphRoles {
public:
    using Role = DefinitionChecker::Role;

    GraphRoles(const Module& module, std::string_view asked)
        : invoked_(invoked_names(module)), main_(asked), asked_(!asked.empty()) {
        for (const Definition& definition : module.definitions) {
            if (main_.empty() && definition.graph) main_ = definition.name.text;
        }
    }
    Role of(const Definition& definition) const {
        if (!definition.graph) return Role::Invoked;
        if (definition.name.text == main_) return Role::Main;
        const bool open = !asked_ && !invoked_.contains(definition.name.text);
        return open ? Role::Spare : Role::Invoked;
    }

private:
    NameSet invoked_;
    std::string_view main_;
    bool asked_;
};

void check_module(PackageChecker& checker,
                  ModuleId id,
                  std::string_view asked,
                  TypedPackage& typed,
                  Diagnostics& diag) {
    const Module& module = checker.package()[id].module;
    typed.modules[id.value].types = Table<ExprId, Type>(module.exprs.size());
    const GraphRoles roles(module, asked);
    for (uint32_t d = 0; d < module.definitions.size(); ++d) {
        const Definition& definition = module.definitions[d];
        const auto role = roles.of(definition);
        const DefRef ref{id, d};
        if (!checker.broken(id).broken(d)) {
            checker.clear_scratch();
            DefinitionChecker one(checker, ref, typed.modules[id.value], diag);
            typed.definitions.push_back(one.run(role));
            continue;
        }
        Diagnostics found(kMostInBroken);
        checker.clear_scratch();
        DefinitionChecker one(checker, ref, typed.modules[id.value], found);
        typed.definitions.push_back(one.run(role));
        for (const diag::Diagnostic& error : found.items()) {
            if (checker.broken(id).independent(definition, d, error)) diag.add(error);
        }
    }
}

}  // namespace

TypedPackage check_types(const Package& package, const CheckOptions& options, Diagnostics& diag) {
    PackageChecker checker(package, options, diag);
    TypedPackage typed;
    typed.modules.resize(package.modules.size());
    for (size_t m = 0; m < package.modules.size(); ++m) {
        if (package.modules[m].standard && !options.check_standard_modules) continue;
        check_module(checker, make_id<ModuleId>(m), options.graph, typed, diag);
    }
    CallGraph(package, typed).report_cycles(package, diag);
    return typed;
}

}  // namespace lemma::sknd
