// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/unused.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace lemma::sknd {

namespace {

// The names that expressions of one definition read, with their places. A read counts for all
// tensors of that name, because blocks may hide outer names.
class Reads {
public:
    void add(uint32_t place, std::string_view name) {
        places_.emplace_back(place, name);
        ++counts_[name];
    }
    void finish() { std::ranges::sort(places_); }
    bool contains(std::string_view name) const { return counts_.contains(name); }
    // Whether a name in the span is also read outside of it.
    bool shares_names(Span span) const {
        std::unordered_map<std::string_view, size_t> inside;
        const auto begin = std::ranges::lower_bound(
            places_, span.begin, {}, &std::pair<uint32_t, std::string_view>::first);
        for (auto at = begin; at != places_.end() && at->first < span.end; ++at) {
            ++inside[at->second];
        }
        return std::ranges::any_of(
            inside, [&](const auto& entry) { return counts_.at(entry.first) > entry.second; });
    }

private:
    std::vector<std::pair<uint32_t, std::string_view>> places_;
    std::unordered_map<std::string_view, size_t> counts_;
};

std::string module_part(const QualifiedName& name) {
    std::string text = name.text();
    return text.substr(0, text.rfind('.') == std::string::npos ? 0 : text.rfind('.'));
}

class UnusedFinder {
public:
    UnusedFinder(const Module& module, Diagnostics& diag) : module_(module), diag_(diag) {}

    void run() {
        collect();
        report_imports();
        for (size_t d = 0; d < module_.definitions.size(); ++d) {
            const Definition& definition = module_.definitions[d];
            // The program that runs the model implements an operator without a body.
            if (definition.composes.empty() && definition.lowers.empty()) continue;
            report_definition(definition, reads_[d]);
            add_results(definition.composes, d);
            add_results(definition.updates, d);
        }
        for (const Region& region : module_.regions) {
            const auto* block = std::get_if<Block>(&region.node);
            const auto d = block ? definition_at(region.span.begin) : std::nullopt;
            if (d) add_results(block->components, *d);
        }
        for (const std::vector<Name>& names : results_) report_results(names);
    }

private:
    void collect();
    void report_imports();
    void report_definition(const Definition& definition, const Reads& reads);
    void add_results(const std::vector<Component>& components, size_t definition);
    void report_results(const std::vector<Name>& names);
    std::optional<size_t> definition_at(uint32_t place) const;
    void warn(const Name& name, std::string_view what, std::string_view missing) {
        if (name.text.starts_with('_')) return;
        diag_.warning(name.span,
                      DiagKind::UnusedName,
                      fmt::format("the {} `{}` is {}", what, name.text, missing));
    }

    const Module& module_;
    Diagnostics& diag_;
    std::vector<std::pair<uint32_t, size_t>> begins_;  // beginnings of definitions, in order
    std::vector<Reads> reads_;                         // by definition
    std::vector<std::vector<Name>> results_;           // unread names, by definition
    std::set<std::string> called_in_;                  // modules with called operators
};

std::optional<size_t> UnusedFinder::definition_at(uint32_t place) const {
    const auto next =
        std::ranges::upper_bound(begins_, place, {}, &std::pair<uint32_t, size_t>::first);
    if (next == begins_.begin()) return std::nullopt;
    return std::prev(next)->second;
}

void UnusedFinder::collect() {
    reads_.resize(module_.definitions.size());
    results_.resize(module_.definitions.size());
    for (size_t d = 0; d < module_.definitions.size(); ++d) {
        begins_.emplace_back(module_.definitions[d].span.begin, d);
    }
    std::ranges::sort(begins_);
    for (const Expr& expr : module_.exprs) {
        const auto* name = std::get_if<Identifier>(&expr.node);
        const auto d = name ? definition_at(expr.span.begin) : std::nullopt;
        if (d) reads_[*d].add(expr.span.begin, name->name);
    }
    for (const Region& region : module_.regions) {
        if (const auto* call = std::get_if<Invocation>(&region.node))
            called_in_.insert(module_part(call->callee));
    }
    for (size_t d = 0; d < module_.definitions.size(); ++d) {
        for (const QuantizeStmt& stmt : module_.definitions[d].quantizes) {
            called_in_.insert(module_part(stmt.callee));
            if (!stmt.tensor.parts.empty())
                reads_[d].add(stmt.tensor.span.begin, stmt.tensor.parts[0].text);
        }
        reads_[d].finish();
    }
}

// One report for all modules of an import.
void UnusedFinder::report_imports() {
    for (const Import& import : module_.imports) {
        std::vector<const QualifiedName*> unused;
        for (const QualifiedName& name : import.modules) {
            if (!called_in_.contains(name.text())) unused.push_back(&name);
        }
        if (unused.empty()) continue;
        std::vector<std::string> names;
        for (const QualifiedName* name : unused) names.push_back(fmt::format("`{}`", name->text()));
        const bool one = unused.size() == 1;
        diag_.warning(one ? unused[0]->span : import.span,
                      DiagKind::UnusedName,
                      fmt::format("the {} {} {} imported and not used",
                                  one ? "module" : "modules",
                                  fmt::join(names, ", "),
                                  one ? "is" : "are"));
    }
}

void UnusedFinder::report_definition(const Definition& definition, const Reads& reads) {
    for (const ParamDecl& input : definition.inputs) {
        // An input that is passed only for its shape is used by the names of its extents.
        if (reads.contains(input.name.text) || reads.shares_names(input.span)) continue;
        warn(input.name, "input", "not read");
    }
    std::set<std::string_view> updated;
    for (const Component& component : definition.updates) {
        for (const LValue& lhs : component.results) {
            for (const LValueItem& item : lhs.items) {
                for (const auto& target : item.targets) updated.insert(target.name.text);
            }
        }
    }
    for (const ParamDecl& variable : definition.variables) {
        const std::string_view name = variable.name.text;
        if (reads.contains(name) || updated.contains(name)) continue;
        warn(variable.name, "variable", "neither read nor updated");
    }
}

void UnusedFinder::add_results(const std::vector<Component>& components, size_t d) {
    const Definition& definition = module_.definitions[d];
    const auto declares = [](const std::vector<ParamDecl>& decls, std::string_view name) {
        return std::ranges::any_of(decls,
                                   [&](const ParamDecl& decl) { return decl.name.text == name; });
    };
    for (const Component& component : components) {
        for (const LValue& lhs : component.results) {
            for (const LValueItem& item : lhs.items) {
                for (const auto& target : item.targets) {
                    const std::string_view name = target.name.text;
                    if (name.starts_with('_') || reads_[d].contains(name) ||
                        declares(definition.outputs, name) ||
                        declares(definition.variables, name)) {
                        continue;
                    }
                    results_[d].push_back(target.name);
                }
            }
        }
    }
}

void UnusedFinder::report_results(const std::vector<Name>& names) {
    constexpr size_t kMost = 4;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
        const bool last = i + 1 == kMost && names.size() > kMost;
        diag_
            .warning(names[i].span,
                     DiagKind::UnusedName,
                     last ? fmt::format("the result `{}` is not read, nor are {} others",
                                        names[i].text,
                                        names.size() - kMost)
                          : fmt::format("the result `{}` is not read", names[i].text))
            .note("`~` takes a result that is not needed");
    }
}

}  // namespace

void report_unused(const Package& package, Diagnostics& diag) {
    for (const LoadedModule& loaded : package.modules) {
        if (!loaded.standard) UnusedFinder(loaded.module, diag).run();
    }
}

}  // namespace lemma::sknd
