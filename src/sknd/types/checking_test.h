// SPDX-License-Identifier: Apache-2.0
// sknd/types/checking_test.h — loads and checks texts, for the tests of this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "diag/render.h"
#include "sknd/types/types.h"

namespace lemma::sknd::testing {

struct Texts {
    std::string main;
    std::map<std::string, std::string> modules;  // by name
};

// A library module (it needs no graph) with the modules that it may import.
class Checked {
public:
    explicit Checked(const std::string& main) : Checked(Texts{.main = main, .modules = {}}) {}
    explicit Checked(const Texts& texts, size_t max_errors = Diagnostics::kDefaultMaxErrors)
        : diag(max_errors) {
        const diag::FileId file = sources.add("main.sknd", texts.main);
        const ModuleReader reader = [&](const std::string& name) {
            const auto found = texts.modules.find(name);
            if (found == texts.modules.end()) return std::optional<ModuleText>();
            return std::optional<ModuleText>({name + ".sknd", found->second});
        };
        package = load_package(
            sources, file, "main", reader, {.limits = ParseLimits(), .library = true}, diag);
        typed = check_types(package, CheckOptions(), diag);
        diag.sort_by_place();
    }

    const Module& module() const { return package.modules.front().module; }
    const Definition& definition(size_t index = 0) const { return module().definitions[index]; }

    // The ids of all kinds reported, each once.
    std::set<std::string> kinds() const {
        std::set<std::string> ids;
        for (const diag::Diagnostic& item : diag.items()) ids.emplace(diag::info(item.kind).id);
        return ids;
    }
    // One line each: `main.sknd:1:2: error: … [kind]`.
    std::string brief() const { return diag::render(sources, diag, {.brief = true}); }

    diag::SourceMap sources;
    Diagnostics diag;
    Package package;
    TypedPackage typed;
};

using Kinds = std::set<std::string>;

}  // namespace lemma::sknd::testing
