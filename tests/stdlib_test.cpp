// SPDX-License-Identifier: Apache-2.0
// Checks the standard modules. Only this test does: `lemma check` takes them as valid. Each
// operator has a file in tests/stdlib with its parts, and one with expected numbers. A file there
// violates each of its asserts, or README.md excuses the assert.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "diag/render.h"
#include "ops/examples.h"
#include "sknd/compose/compose.h"
#include "sknd/modules/embedded.h"
#include "sknd/modules/modules.h"
#include "sknd/types/types.h"
#include "support/golden_file.h"

namespace lemma::sknd {

namespace {

namespace fs = std::filesystem;

std::set<std::string_view> standard_modules() {
    std::set<std::string_view> names;
    for (const EmbeddedFile& file : embedded_files()) names.insert(file.module);
    return names;
}

// A main module that imports every standard one.
std::string import_all() {
    std::string text;
    for (const std::string_view module : standard_modules()) {
        text += fmt::format("import {};\n", module);
    }
    return text;
}

class StandardLibrary : public ::testing::Test {
protected:
    StandardLibrary() {
        const diag::FileId file = sources.add("main.sknd", import_all());
        package = load_package(sources, file, "main", no_reader(), {.library = true}, diag);
    }

    // The operators of stdlib/*.sknd. Operators of other formats, in folders below, are tested with
    // these formats.
    template <typename F>
    void for_each_operator(F visit) const {
        for (const LoadedModule& loaded : package.modules) {
            if (!loaded.standard || loaded.name.find('.') != std::string::npos) continue;
            for (const Definition& op : loaded.module.definitions) visit(loaded, op);
        }
    }

    diag::SourceMap sources;
    Diagnostics diag;
    Package package;
};

TEST_F(StandardLibrary, HasNoErrorsAndNoWarnings) {
    EXPECT_EQ(package.modules.size(), standard_modules().size() + 1);
    check_types(package, {.check_standard_modules = true}, diag);
    EXPECT_TRUE(diag.items().empty()) << diag::render(sources, diag, {});
}

TEST_F(StandardLibrary, HasAFileForEachPublicOperatorAndNoOthers) {
    std::set<fs::path> known;
    const fs::path root = LEMMA_STDLIB_TESTS_DIR;
    for_each_operator([&](const LoadedModule& loaded, const Definition& op) {
        const std::string name(op.name.text);
        if (name.starts_with('_')) return;
        const fs::path file = root / loaded.name / (name + ".sknd");
        const fs::path failing = root / loaded.name / fmt::format("fail_{}.sknd", name);
        EXPECT_TRUE(fs::exists(file)) << file << " is missing";
        EXPECT_TRUE(op.asserts.empty() || fs::exists(failing)) << failing << " is missing";
        known.insert(file);
        known.insert(file.string() + ".out");
        known.insert(failing);
        known.insert(root / loaded.name / (name + ".numbers"));
    });
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
        if (entry.path().parent_path() == root / "reference") continue;
        EXPECT_TRUE(known.contains(entry.path())) << entry.path() << " is no operator's";
    }
}

// `lemma test` runs the examples (operator_examples_test).
TEST_F(StandardLibrary, HasAnExampleForEachPublicOperatorAndNoOthers) {
    size_t count = 0;
    for_each_operator([&](const LoadedModule& loaded, const Definition& op) {
        if (op.name.text.starts_with('_')) return;
        const std::string name = fmt::format("{}.{}", loaded.name, op.name.text);
        const ops::OperatorExample* example = ops::example_of(loaded.name, op.name.text);
        ASSERT_NE(example, nullptr) << "examples/operators has no example of " << name;
        ++count;
        const bool called = std::ranges::any_of(std::string_view("({<"), [&](char next) {
            return example->model.find(name + next) != std::string_view::npos;
        });
        EXPECT_TRUE(called) << "the example of " << name << " does not call it";
        EXPECT_NE(example->test.find("\noutput "), std::string_view::npos) << name;
    });
    EXPECT_EQ(ops::operator_examples().size(), count);
}

// Whether a case sets the attribute: its call contains `name=`.
bool sets_attribute(const std::string& text, std::string_view name) {
    for (const char before : {'{', ' '}) {
        if (text.find(fmt::format("{}{}=", before, name)) != std::string::npos) return true;
    }
    return false;
}

TEST_F(StandardLibrary, HasNumbersForEachPublicOperatorAndAttribute) {
    for_each_operator([&](const LoadedModule& loaded, const Definition& op) {
        if (op.name.text.starts_with('_')) return;
        const fs::path file = fs::path(LEMMA_STDLIB_TESTS_DIR) / loaded.name /
                              fmt::format("{}.numbers", op.name.text);
        ASSERT_TRUE(fs::exists(file)) << file << " is missing";
        const std::string text = testing::read_bytes(file);
        EXPECT_NE(text.find(fmt::format("{}.{}", loaded.name, op.name.text)), std::string::npos);
        for (const ParamDecl& attrib : op.attribs) {
            EXPECT_TRUE(sets_attribute(text, attrib.name.text))
                << "no case of " << file << " sets `" << attrib.name.text << "`";
        }
    });
}

// The place of an assert: the name of its file and the offset of its first byte.
using AssertPlace = std::pair<std::string, uint32_t>;

std::string without_breaks(std::string_view text) {
    std::string words;
    for (const char c : text) {
        if (c != ' ' && c != '\n')
            words += c;
        else if (!words.empty() && words.back() != ' ')
            words += ' ';
    }
    return words;
}

// The asserts that README.md excuses in a table row "| `nn.conv` | `stride > 0` | why |", written
// `nn.conv: stride > 0`.
std::set<std::string> excused_asserts() {
    std::set<std::string> excused;
    const fs::path readme = fs::path(LEMMA_STDLIB_TESTS_DIR) / "README.md";
    for (const std::string& line : testing::split_lines(testing::read_bytes(readme))) {
        const size_t middle = line.find("` | `");
        const size_t end = line.find("` |", middle + 1);
        if (!line.starts_with("| `") || middle == std::string::npos || end == std::string::npos) {
            continue;
        }
        const std::string name = line.substr(3, middle - 3);
        excused.insert(fmt::format("{}: {}", name, line.substr(middle + 5, end - middle - 5)));
    }
    return excused;
}

// Adds the places that the notes of failed asserts point to.
void collect_violated(const fs::path& path, std::set<AssertPlace>& violated) {
    diag::SourceMap sources;
    Diagnostics diag(0);
    const diag::FileId file = sources.add(path.string(), testing::read_bytes(path));
    const Package package = load_package(sources, file, "main", no_reader(), {}, diag);
    check_types(package, {}, diag);
    ASSERT_FALSE(diag.has_errors()) << diag::render(sources, diag, {});
    for (const Definition& graph : package[package.main()].module.definitions) {
        ComposeOptions options;
        options.graph = graph.name.text;
        EXPECT_FALSE(compose(package, options, diag)) << path << ": " << options.graph;
    }
    for (const diag::Diagnostic& found : diag.items()) {
        if (found.kind != DiagKind::AssertFailed) continue;
        for (const diag::Note& note : found.notes) {
            if (note.span.valid()) violated.emplace(sources.name(note.span.file), note.span.begin);
        }
    }
}

TEST_F(StandardLibrary, HasAFailingCaseForEachAssert) {
    std::set<AssertPlace> violated;
    for (const auto& entry : fs::recursive_directory_iterator(LEMMA_STDLIB_TESTS_DIR)) {
        if (entry.path().filename().string().starts_with("fail_")) {
            collect_violated(entry.path(), violated);
        }
    }
    std::set<std::string> excused = excused_asserts();
    const size_t exceptions = excused.size();
    size_t count = 0, total = 0;
    for_each_operator([&](const LoadedModule& loaded, const Definition& op) {
        for (const AssertStmt& stmt : op.asserts) {
            const Span condition = loaded.module.exprs[stmt.condition].span;
            const std::string name = fmt::format(
                "{}.{}: {}", loaded.name, op.name.text, without_breaks(sources.text(condition)));
            const bool found = violated.contains({sources.name(stmt.span.file), stmt.span.begin});
            const bool is_excused = excused.erase(name) > 0;
            EXPECT_TRUE(found || is_excused) << "no file in tests/stdlib violates " << name;
            EXPECT_FALSE(found && is_excused) << "take this out of README.md: " << name;
            count += found;
            ++total;
        }
    });
    for (const std::string& name : excused)
        ADD_FAILURE() << "README.md excuses no assert: " << name;
    fmt::print("asserts violated: {} of {}, exceptions: {}\n", count, total, exceptions);
}

}  // namespace

}  // namespace lemma::sknd
