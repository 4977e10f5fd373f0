// SPDX-License-Identifier: Apache-2.0
#include "sknd/modules/modules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "diag/render.h"
#include "sknd/modules/embedded.h"
#include "sknd/modules/import_cycles.h"

namespace lemma::sknd {
namespace {

constexpr std::string_view kGraph = "graph g {\n}\n";

// A model folder in memory.
struct Model {
    std::map<std::string, std::string> files;  // by module name
    LoadOptions options;
    diag::SourceMap sources;
    Diagnostics diag;
    std::map<std::string, int> reads;

    Package load(const std::string& main_text, const std::string& main_name = "main") {
        const diag::FileId file = sources.add(main_name + ".sknd", main_text);
        const ModuleReader reader = [this](const std::string& name) {
            ++reads[name];
            const auto found = files.find(name);
            if (found == files.end()) return std::optional<ModuleText>();
            return std::optional<ModuleText>({name + ".sknd", found->second});
        };
        return load_package(sources, file, main_name, reader, options, diag);
    }
    // The reports about modules; the parser has its own tests.
    std::string report() const {
        Diagnostics about_modules;
        for (const diag::Diagnostic& item : diag.items()) {
            const bool syntax =
                item.kind >= DiagKind::BadEncoding && item.kind < DiagKind::NoModule;
            if (!syntax) about_modules.add(item);
        }
        return diag::render(sources, about_modules, {.brief = true});
    }
};

std::vector<std::string> names(const Package& package) {
    std::vector<std::string> result;
    for (const LoadedModule& loaded : package.modules) result.push_back(loaded.name);
    return result;
}

std::string with_graph(std::string_view imports) { return fmt::format("{}\n{}", imports, kGraph); }

TEST(Modules, LoadsEachOnceInOrderOfImport) {
    Model model;
    model.files = {{"a", "import c;"}, {"b", "import c, a;"}, {"c", ""}};
    const Package package = model.load(with_graph("import b, a;"));
    EXPECT_EQ(names(package), (std::vector<std::string>{"main", "b", "a", "c"}));
    EXPECT_EQ(model.report(), "");
    EXPECT_EQ(model.reads, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
    EXPECT_EQ(package[package.main()].imports.at("b").value, 1u);
    EXPECT_EQ(package.modules[1].imports.at("c").value, 3u);
}

TEST(Modules, KeepsNestedNamesAsWritten) {
    Model model;
    model.files = {{"custom.blocks", "operator op {\n}\n"}};
    const Package package = model.load(with_graph("import custom.blocks;"));
    EXPECT_EQ(package[package.main()].imports.count("custom.blocks"), 1u);
    EXPECT_EQ(package.modules[1].name, "custom.blocks");
    EXPECT_EQ(package.modules[1].definition_index.count("op"), 1u);
    EXPECT_EQ(model.report(), "");
}

TEST(Modules, FindsStandardModules) {
    Model model;
    const Package package = model.load(with_graph("import misc;"));
    ASSERT_EQ(package.modules.size(), 2u);
    EXPECT_TRUE(package.modules[1].standard);
    EXPECT_EQ(model.sources.name(package.modules[1].module.file), "stdlib/misc.sknd");
    EXPECT_EQ(model.report(), "");
}

std::string calling(const std::string& callee) {
    return fmt::format(R"(import nn, own;
graph G {{
    @input {{ x: real[2,3]; }}
    @output {{ y: real[2,3]; }}
    @compose {{ y = {}(x); }}
}}
)",
                       callee);
}

TEST(Modules, ReadsOnlyTheStandardDefinitionsThatAreUsed) {
    Model model;
    model.files = {{"own", R"(import layout, math;
operator op {
    @input { x: real[n]; }
    @output { y: real[n]; }
    @compose { y = math.add(x, x); }
}
)"}};
    const Package all = model.load(calling("nn.relu"));
    model.options.used_only = true;
    const Package used = model.load(calling("nn.relu"));
    EXPECT_EQ(model.report(), "");
    const auto module = [](const Package& package, const std::string& name) -> const LoadedModule& {
        return *std::ranges::find(package.modules, name, &LoadedModule::name);
    };
    EXPECT_TRUE(module(all, "nn").definition_index.contains("conv"));
    EXPECT_TRUE(module(used, "nn").definition_index.contains("relu"));
    EXPECT_FALSE(module(used, "nn").definition_index.contains("conv"));
    EXPECT_TRUE(module(used, "math").definition_index.contains("add"));
    EXPECT_TRUE(module(used, "layout").standard);
    EXPECT_EQ(module(used, "nn").imports.size(), module(all, "nn").imports.size());
    // Places refer to the whole text.
    const Definition& relu = module(used, "nn").module.definitions.front();
    EXPECT_EQ(model.sources.text(relu.name.span), relu.name.text);
}

TEST(Modules, ReadsAllDefinitionsWhereOneIsMissing) {
    Model model;
    model.options.used_only = true;
    model.files = {{"own", ""}};
    for (const char* missing : {"nn.rely", "relu"}) {
        const Package package = model.load(calling(missing));
        EXPECT_TRUE(package.modules[1].definition_index.contains("relu")) << missing;
        EXPECT_TRUE(package.modules[1].definition_index.contains("conv")) << missing;
    }
}

TEST(Modules, TakesTheModelsModuleBeforeAStandardOne) {
    Model model;
    model.files = {{"misc", "operator own {\n}\n"}, {"a", "import misc;"}};
    const Package package = model.load(with_graph("import misc, a;"));
    EXPECT_FALSE(package.modules[1].standard);
    EXPECT_EQ(package.modules[2].imports.at("misc").value, 1u);
    EXPECT_EQ(model.report(),
              "main.sknd:1:8: warning: `misc.sknd` hides the standard module `misc` "
              "[shadowed-module]\n");
}

TEST(Modules, TakesTheSameTextForNoShadow) {
    Model model;
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.path == "misc.sknd") model.files["misc"] = std::string(file.text);
    }
    model.load(with_graph("import misc;"));
    EXPECT_EQ(model.report(), "");
}

TEST(Modules, AreMadeOfSeveralFilesInTheLibrary) {
    Model model;
    const Package package = model.load(with_graph("import math;"));
    EXPECT_EQ(model.report(), "");
    const LoadedModule& math = package.modules.at(1);
    EXPECT_EQ(math.name, "math");
    EXPECT_GT(math.files.size(), 1u);
    std::set<diag::FileId> files;
    for (const Definition& definition : math.module.definitions) {
        files.insert(definition.span.file);
        EXPECT_TRUE(is_standard(package, definition.span)) << definition.name.text;
    }
    EXPECT_EQ(files, std::set<diag::FileId>(math.files.begin(), math.files.end()));
    EXPECT_TRUE(math.definition_index.contains("neg"));
    EXPECT_TRUE(math.definition_index.contains("sum_reduce"));
    EXPECT_FALSE(is_standard(package, {package.modules[0].files[0], 0, 0}));
}

// The name of a standard module and of one that it imports; empty if there is none.
std::pair<std::string, std::string> find_standard_import() {
    for (const EmbeddedFile& file : embedded_files()) {
        const std::string name(file.path.substr(0, file.path.rfind('.')));
        if (name.find('/') != std::string::npos) continue;
        Model model;
        const Package package = model.load(with_graph("import " + name + ";"));
        const auto& imports = package.modules.at(1).imports;
        if (!imports.empty()) return {name, imports.begin()->first};
    }
    return {};
}

TEST(Modules, LetsStandardModulesSeeOnlyEachOther) {
    const auto [importer, imported] = find_standard_import();
    ASSERT_FALSE(importer.empty()) << "no standard module imports another one";
    Model model;
    model.files = {{imported, "operator own {\n}\n"}};
    const Package package =
        model.load(with_graph(fmt::format("import {}, {};", importer, imported)));
    const LoadedModule& standard = package[package.modules[0].imports.at(importer)];
    EXPECT_TRUE(package[standard.imports.at(imported)].standard);
    EXPECT_FALSE(package[package.modules[0].imports.at(imported)].standard);
}

TEST(Modules, ReportsAMissingModuleWithTheNearestName) {
    Model model;
    model.load(with_graph("import micc, nothing.like.it;"));
    EXPECT_EQ(model.report(),
              "main.sknd:1:8: error: no module `micc` [no-module]\n"
              "main.sknd:1:14: error: no module `nothing.like.it` [no-module]\n");
    EXPECT_EQ(model.diag.items()[0].fixes.at(0).replacement, "misc");
    EXPECT_TRUE(model.diag.items()[1].fixes.empty());
}

TEST(Modules, ReportsAMissingModuleAtEachImportAndReadsOnce) {
    Model model;
    model.files = {{"a", "import nowhere;"}};
    model.load(with_graph("import a, nowhere;"));
    EXPECT_EQ(model.diag.error_count(), 2u);
    EXPECT_EQ(model.reads["nowhere"], 1);
}

TEST(Modules, ReportsAModuleThatCannotBeRead) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", with_graph("import a;"));
    const ModuleReader reader = [](const std::string&) -> Result<std::optional<ModuleText>> {
        return std::unexpected(Error{"cannot read `a.sknd`: Permission denied"});
    };
    load_package(sources, file, "main", reader, {}, diag);
    ASSERT_EQ(diag.error_count(), 1u);
    EXPECT_EQ(diag.items()[0].kind, DiagKind::UnreadableFile);
}

TEST(Modules, ShowsAnImportCycle) {
    Model model;
    model.files = {{"a", "import b;"}, {"b", "import c;"}, {"c", "import a;"}};
    const Package package = model.load(with_graph("import a;"));
    EXPECT_EQ(package.modules.size(), 4u);
    EXPECT_EQ(package.modules[3].imports.at("a").value, 1u);
    EXPECT_EQ(model.report(),
              "a.sknd:1:8: error: modules import each other in a circle: `a -> b -> c -> a` "
              "[import-cycle]\n");
    const std::vector<diag::Note>& notes = model.diag.items()[0].notes;
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_EQ(notes[0].message, "`b` imports `c` here");
    EXPECT_EQ(model.sources.name(notes[0].span.file), "b.sknd");
    EXPECT_EQ(notes[1].message, "`c` imports `a` here");
}

TEST(Modules, TakesAnImportOfTheMainModuleForACycle) {
    Model model;
    model.files = {{"a", "import main;"}, {"main", "never read"}};
    const Package package = model.load(with_graph("import a, main;"));
    EXPECT_EQ(package.modules.size(), 2u);
    EXPECT_EQ(model.report(),
              "main.sknd:1:8: error: modules import each other in a circle: `main -> a -> main` "
              "[import-cycle]\n"
              "main.sknd:1:11: error: module `main` imports itself [import-cycle]\n");
}

TEST(Modules, WarnsOfADuplicateImport) {
    Model model;
    const Package package = model.load(with_graph("import misc;\nimport misc;"));
    EXPECT_EQ(package.modules.size(), 2u);
    EXPECT_EQ(model.report(),
              "main.sknd:2:8: warning: module `misc` is imported twice [duplicate-import]\n");
    EXPECT_EQ(model.diag.items()[0].notes.size(), 1u);
}

TEST(Modules, ReportsTheSecondDefinitionOfAName) {
    Model model;
    const Package package = model.load("operator f {\n}\noperator f {\n}\ngraph f {\n}\n");
    EXPECT_EQ(package.modules[0].definition_index.at("f"), 0u);
    EXPECT_EQ(model.report(),
              "main.sknd:3:10: error: `f` is defined twice in this module [duplicate-definition]\n"
              "main.sknd:5:7: error: `f` is defined twice in this module [duplicate-definition]\n");
    EXPECT_EQ(model.diag.items()[0].notes.at(0).span.begin, 9u);
}

TEST(Modules, ReportsAGraphInAnImportedModule) {
    Model model;
    model.files = {{"a", std::string(kGraph)}};
    model.load(with_graph("import a;"));
    EXPECT_EQ(model.report(),
              "a.sknd:1:7: error: graph `g` in the imported module `a` [graph-in-module]\n");
}

TEST(Modules, ReportsAMainModuleWithoutGraph) {
    Model model;
    model.load("operator f {\n}\n");
    EXPECT_EQ(model.report(),
              "main.sknd:1:1: error: the main module `main` has no graph [no-graph]\n");
    EXPECT_NE(model.diag.items()[0].notes.at(0).message.find("--module"), std::string::npos);
}

TEST(Modules, LetsALibraryHaveNoGraph) {
    Model model;
    model.options.library = true;
    model.load("operator f {\n}\n");
    EXPECT_EQ(model.report(), "");
}

TEST(Modules, DoesNotMissAGraphAmongSyntaxErrors) {
    Model model;
    model.load("graph {\n}\n");
    EXPECT_TRUE(model.diag.has_errors());
    EXPECT_EQ(model.report(), "");
}

TEST(Modules, FollowsLongChainsOfImports) {
    Model model;
    constexpr int kLength = 2000;
    for (int i = 0; i < kLength; ++i) {
        model.files[fmt::format("m{}", i)] = fmt::format("import m{};", (i + 1) % kLength);
    }
    const Package package = model.load(with_graph("import m0;"));
    EXPECT_EQ(package.modules.size(), kLength + 1u);
    ASSERT_EQ(model.diag.error_count(), 1u);
    EXPECT_EQ(model.diag.items()[0].notes.size(), kLength - 1u);
}

TEST(ImportCycles, GivesOneCircleForEachModuleThatClosesOne) {
    ImportGraph graph(3);
    for (std::vector<ImportEdge>& edges : graph) {
        for (size_t target = 0; target < graph.size(); ++target) edges.push_back({{}, target});
    }
    EXPECT_EQ(find_import_cycles(graph).size(), 3u);
    EXPECT_TRUE(find_import_cycles({}).empty());
}

class FolderReader : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "lemma_XXXXXX").string();
        folder_ = mkdtemp(name.data());
        std::filesystem::create_directories(folder_ / "model/custom/folder.sknd");
        std::ofstream(folder_ / "outside.sknd") << "secret";
        std::ofstream(folder_ / "model/a.sknd") << "text of a";
        std::ofstream(folder_ / "model/custom/blocks.sknd") << "text of blocks";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string model() const { return (folder_ / "model").string(); }

    std::filesystem::path folder_;
};

TEST_F(FolderReader, ReadsModulesBelowTheFolder) {
    const ModuleReader reader = folder_reader(model());
    EXPECT_EQ(reader("a").value()->text, "text of a");
    EXPECT_EQ(reader("custom.blocks").value()->text, "text of blocks");
    EXPECT_EQ(reader("custom.blocks").value()->file_name, model() + "/custom/blocks.sknd");
    EXPECT_FALSE(reader("b").value().has_value());
    EXPECT_FALSE(reader("a.b").value().has_value());
    EXPECT_FALSE(reader(std::string(5000, 'x')).value().has_value());
}

TEST_F(FolderReader, SaysThatAModuleIsAFolder) {
    const ModuleReader reader = folder_reader(model());
    EXPECT_NE(reader("custom.folder").error().message.find("is a folder"), std::string::npos);
}

TEST_F(FolderReader, StaysInItsFolder) {
    const ModuleReader reader = folder_reader(model());
    for (const char* name : {"../outside", "..outside", ".a", "a.", "", ".", "custom..blocks"}) {
        EXPECT_FALSE(reader(name).value().has_value()) << name;
    }
    EXPECT_FALSE(reader((folder_ / "outside").string()).value().has_value());
}

// Operators of the folder by their names, those of other modules with the module's name.
TEST(LoadLibrary, ReadsOnlyTheWantedDefinitions) {
    const auto load = [](const std::vector<std::string>& wanted) {
        diag::SourceMap sources;
        Diagnostics diag;
        const Package package = load_library(sources, "onnx", wanted, diag);
        EXPECT_FALSE(diag.has_errors());
        std::map<std::string, size_t> counts;  // of definitions, by module
        for (const LoadedModule& loaded : package.modules) {
            counts[loaded.name] += loaded.module.definitions.size();
        }
        return counts;
    };
    EXPECT_EQ(load({"Tanh"})["layout"], 0U);
    EXPECT_EQ(load({"Tanh", "stack"})["layout"], 0U);
    const size_t both = load({"Tanh", "layout.stack", "layout.unstack"})["layout"];
    EXPECT_GE(both, 2U);
    EXPECT_LE(both, 4U);  // with what they use
}

TEST(NoReader, FindsNothing) { EXPECT_FALSE(no_reader()("nn").value().has_value()); }

}  // namespace
}  // namespace lemma::sknd
