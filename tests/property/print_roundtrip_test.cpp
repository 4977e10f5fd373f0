// SPDX-License-Identifier: Apache-2.0
// What is printed reads back as the same tree, and printing it again changes nothing; no comment
// is lost. On random trees in both spellings, and on real sources with comments strewn in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "random_module.h"
#include "sknd/print/printer.h"
#include "sknd/syntax/lexer.h"
#include "sknd/syntax/parser.h"

namespace lemma::sknd {
namespace {

constexpr uint64_t kSeed = 20250514;
constexpr int kModules = 2000;
constexpr int kStrewings = 6;  // of each source

struct Parsed {
    diag::SourceMap sources;
    Module module;
    std::string errors;
};

Parsed parse(std::string text) {
    Parsed result;
    const diag::FileId file = result.sources.add("test.sknd", std::move(text));
    Diagnostics diag;
    result.module = parse_module(result.sources, file, {}, diag);
    for (const diag::Diagnostic& item : diag.items()) {
        if (item.severity != diag::Severity::Error) continue;
        const diag::LineColumn place = result.sources.place(file, item.span.begin);
        result.errors += fmt::format("{}:{}: {}\n", place.line, place.column, item.message);
    }
    return result;
}

std::vector<std::string> comments_of(const Parsed& parsed) {
    std::vector<std::string> result;
    for (const Comment& comment : parsed.module.comments) {
        const std::string_view text = parsed.sources.text(parsed.module.file);
        std::string one(text.substr(comment.begin, comment.end - comment.begin));
        one.erase(one.find_last_not_of(" \t\r\f\v") + 1);
        result.push_back(std::move(one));
    }
    std::ranges::sort(result);
    return result;
}

// Whether what was printed reads back; says what is wrong if it does not.
::testing::AssertionResult reads_back(const std::string& printed,
                                      const std::string& dump,
                                      PrintOptions options) {
    const Parsed again = parse(printed);
    if (!again.errors.empty()) {
        return ::testing::AssertionFailure() << again.errors << "in\n" << printed;
    }
    if (dump_tree(again.module) != dump) {
        return ::testing::AssertionFailure() << "another tree:\n"
                                             << printed << "\nwas\n"
                                             << dump << "\nis\n"
                                             << dump_tree(again.module);
    }
    const std::string twice = print(again.module, again.sources, options);
    if (twice != printed) {
        return ::testing::AssertionFailure() << "printed\n" << printed << "\nthen\n" << twice;
    }
    return ::testing::AssertionSuccess();
}

TEST(PrintRoundtrip, RandomTreesReadBack) {
    for (uint64_t seed = kSeed; seed < kSeed + kModules; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const Module module = RandomModule(seed).make();
        const std::string dump = dump_tree(module);
        for (const Spelling spelling : {Spelling::Spec, Spelling::Khronos}) {
            const size_t columns = seed % 3 == 0 ? 100 : seed % 3 == 1 ? 30 : 1;
            const PrintOptions options{.spelling = spelling, .max_columns = columns};
            ASSERT_TRUE(reads_back(print(module, diag::SourceMap(), options), dump, options));
        }
    }
}

// Every kind of node but the bad ones.
TEST(PrintRoundtrip, RandomTreesHaveEveryKindOfNode) {
    std::set<size_t> exprs, regions;
    for (uint64_t seed = kSeed; seed < kSeed + 100; ++seed) {
        const Module module = RandomModule(seed).make();
        for (const Expr& expr : module.exprs) exprs.insert(expr.node.index());
        for (const Region& region : module.regions) regions.insert(region.node.index());
    }
    EXPECT_EQ(exprs.size(), std::variant_size_v<decltype(Expr::node)> - 1);
    EXPECT_EQ(regions.size(), std::variant_size_v<decltype(Region::node)> - 1);
}

// ---- Comments ----

std::vector<std::string> sources() {
    const std::filesystem::path golden = LEMMA_GOLDEN_DIR;
    std::vector<std::string> paths;
    for (const auto& folder : {golden, golden.parent_path().parent_path() / "stdlib"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().extension() == ".sknd") paths.push_back(entry.path().string());
        }
    }
    std::ranges::sort(paths);
    std::vector<std::string> texts;
    for (const std::string& path : paths) {
        const Result<std::string> text = diag::read_source(path);
        if (text && parse(*text).errors.empty()) texts.push_back(*text);
    }
    return texts;
}

// The text with comments and blank lines put between tokens, about one in `rarity` of them.
std::string strewn(const std::string& text, std::mt19937_64& random, size_t rarity) {
    diag::SourceMap map;
    Diagnostics diag;
    const TokenList list = lex(map, map.add("test.sknd", text), diag);
    std::string result;
    size_t copied = 0;
    bool in_import = false;  // which the end of a line may close
    for (const Token& token : list.tokens) {
        result += text.substr(copied, token.begin - copied);
        copied = token.begin;
        const bool spared = std::exchange(in_import, token.kind == TokenKind::KwImport);
        if (spared || random() % rarity != 0) continue;
        switch (random() % 4) {
            case 0:
                result += fmt::format("# comment {}  \n", random() % 1000);
                break;
            case 1:
                result += fmt::format("\n\n  #comment {}\r\n\n\n", random() % 1000);
                break;
            case 2:
                result += fmt::format("\n# comment {}\n", random() % 1000);
                break;
            default:
                result += "\n \n";
                break;
        }
    }
    return result + text.substr(copied);
}

TEST(PrintRoundtrip, NoCommentIsLost) {
    const std::vector<std::string> texts = sources();
    ASSERT_FALSE(texts.empty());
    std::mt19937_64 random(kSeed);
    for (const std::string& text : texts) {
        for (int i = 0; i < kStrewings; ++i) {
            const std::string input = i == 0 ? text : strewn(text, random, i % 2 == 0 ? 4 : 40);
            SCOPED_TRACE(fmt::format("seed {}, source\n{}", kSeed, input));
            const Parsed parsed = parse(input);
            ASSERT_EQ(parsed.errors, "");
            const PrintOptions options{.spelling = i % 3 == 0 ? Spelling::Khronos : Spelling::Spec};
            const std::string printed = print(parsed.module, parsed.sources, options);
            ASSERT_TRUE(reads_back(printed, dump_tree(parsed.module), options));
            ASSERT_EQ(comments_of(parse(printed)), comments_of(parsed)) << printed;
        }
    }
}

// ---- Broken sources ----

// The text without about one token in twenty.
std::string broken(const std::string& text, std::mt19937_64& random) {
    diag::SourceMap map;
    Diagnostics diag;
    const TokenList list = lex(map, map.add("test.sknd", text), diag);
    std::string result;
    size_t copied = 0;
    for (const Token& token : list.tokens) {
        if (random() % 20 != 0) continue;
        result += text.substr(copied, token.begin - copied);
        copied = token.end;
    }
    return result + text.substr(copied);
}

// Such a tree is never printed as a source, but it must not stop us.
TEST(PrintRoundtrip, BrokenSourcesArePrintedSomehow) {
    std::mt19937_64 random(kSeed);
    for (const std::string& text : sources()) {
        const std::string input = broken(text, random);
        SCOPED_TRACE(fmt::format("seed {}, source\n{}", kSeed, input));
        const Parsed parsed = parse(input);
        const std::string printed = print(parsed.module, parsed.sources);
        EXPECT_EQ(printed.empty(),
                  dump_tree(parsed.module).empty() && parsed.module.comments.empty());
    }
}

}  // namespace
}  // namespace lemma::sknd
