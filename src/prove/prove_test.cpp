// SPDX-License-Identifier: Apache-2.0
#include "prove/prove.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "prove/fake_tools_test.h"

namespace lemma::prove {
namespace {

namespace fs = std::filesystem;

class ProveTest : public FakeTools {
protected:
    Provers provers() const {
        const auto found = find_provers(folder_.string());
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or(Provers());
    }
    std::vector<FunctionProof> prove(const std::vector<FunctionText>& functions,
                                     ProveOptions options = {}) const {
        options.folder = file("work");
        options.cache_folder = file("cache");
        auto proofs = prove_functions(functions, provers(), options, {});
        EXPECT_TRUE(proofs) << proofs.error().message;
        if (!proofs) return {};
        EXPECT_EQ(proofs->cache_trouble, "");
        return proofs->functions;
    }
};

const std::vector<FunctionText> kFunctions = {{"n4_relu", "n0_relu", "void n0_relu(void) {}"},
                                              {"n5_tanh", "n0_tanh", "void n0_tanh(void) {}"},
                                              {"n6_relu", "n0_relu", "void n0_relu(void) {}"}};

TEST_F(ProveTest, VersionsAreNamed) {
    const Provers found = provers();
    EXPECT_EQ(found.versions,
              (std::vector<std::string>{
                  "Frama-C 25.0-beta (Manganese)", "CVC4 1.8", "Z3 4.8.12", "Why3 1.5.1"}));
    EXPECT_EQ(found.provers, (std::vector<std::string>{"cvc4", "z3"}));
    EXPECT_EQ(found.frama_c, file("bin/frama-c"));
}

TEST_F(ProveTest, MissingToolsAreNamedWithTheirPackages) {
    fs::remove(folder_ / "bin" / "frama-c");
    fs::remove(folder_ / "bin" / "z3");
    const auto found = find_provers(folder_.string());
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message,
              "`frama-c`, `z3` are not found; a proof needs Frama-C, Why3, Z3 and CVC4. On Debian "
              "and Ubuntu: apt install frama-c-base z3");
}

TEST_F(ProveTest, NewerProverReplacesTheOlderOne) {
    fs::rename(folder_ / "bin" / "cvc4", folder_ / "bin" / "cvc5");
    const auto found = find_provers(folder_.string());
    ASSERT_FALSE(found);  // Why3 has to know it
    EXPECT_TRUE(found.error().message.starts_with("Why3 does not accept `cvc5`"));
}

TEST_F(ProveTest, EqualFunctionsAreProvedOnceAndNeverAgain) {
    const auto first = prove(kFunctions, {.jobs = 3});
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(calls(), 2U);
    EXPECT_EQ(first[0].goals, 3);
    EXPECT_TRUE(first[0].good());
    EXPECT_EQ(first[0].by, (std::map<std::string, int64_t>{{"CVC4", 2}, {"Qed", 1}}));
    EXPECT_FALSE(first[0].cached);
    EXPECT_EQ(first[2].same_as, "n4_relu");
    EXPECT_EQ(first[2].digest, first[0].digest);
    EXPECT_EQ(first[0].digest.size(), 64U);
    EXPECT_NE(first[1].digest, first[0].digest);

    fs::remove(folder_ / "work" / "n5_tanh.c");
    const auto second = prove(kFunctions, {.timeout = 30});
    EXPECT_EQ(calls(), 2U);
    EXPECT_TRUE(fs::exists(folder_ / "work" / "n5_tanh.c"));
    EXPECT_TRUE(second[1].cached);
    EXPECT_TRUE(second[1].good());
    EXPECT_EQ(second[1].by, first[1].by);

    prove(kFunctions, {.force = true});
    EXPECT_EQ(calls(), 4U);
}

TEST_F(ProveTest, OtherToolsProveAgain) {
    prove(kFunctions);
    tool("z3", "echo 'Z3 version 4.13.0 - 64 bit'");
    prove(kFunctions);
    EXPECT_EQ(calls(), 4U);
}

TEST_F(ProveTest, FailuresAreNotKept) {
    answer(kUnproved);
    const auto first = prove({kFunctions[0]});
    EXPECT_FALSE(first[0].good());
    EXPECT_EQ(first[0].proved, 2);
    EXPECT_EQ(first[0].unproved, (std::vector<std::string>{"n4_relu_ensures"}));
    answer(kProved);
    EXPECT_TRUE(prove({kFunctions[0]})[0].good());
    EXPECT_EQ(calls(), 2U);
}

TEST_F(ProveTest, DamagedCacheIsIgnored) {
    prove({kFunctions[0]});
    for (const auto& entry : fs::directory_iterator(folder_ / "cache")) {
        std::ofstream(entry.path(), std::ios::app) << "x";
    }
    EXPECT_FALSE(prove({kFunctions[0]})[0].cached);
    EXPECT_EQ(calls(), 2U);
}

TEST_F(ProveTest, TroubleOfFramaCIsNoProof) {
    answer("[kernel] Frama-C aborted: invalid user input.\n", "exit 1");
    EXPECT_EQ(prove({kFunctions[0]})[0].trouble, "[kernel] Frama-C aborted: invalid user input.");
    answer(kProved, "exit 4");
    EXPECT_TRUE(prove({kFunctions[0]})[0].trouble.starts_with("Frama-C ended with status 4:"));
    answer("[wp] Proved goals:    0 / 0\n");
    const auto none = prove({kFunctions[0]});
    EXPECT_TRUE(none[0].trouble.starts_with("Frama-C reported no goals"));
    EXPECT_FALSE(none[0].good());
    answer("", "/bin/sleep 60");
    const auto slow = prove({kFunctions[0]}, {.limit = 1});
    EXPECT_EQ(slow[0].trouble, "Frama-C took more than 1 s (--limit)");
    EXPECT_LT(slow[0].seconds, 30);
}

TEST_F(ProveTest, UnsafeCacheIsReported) {
    fs::create_directory(folder_ / "cache");
    fs::permissions(folder_ / "cache", fs::perms::all);
    const auto proofs = prove_functions(
        {kFunctions[0]}, provers(), {.cache_folder = file("cache"), .folder = file("work")}, {});
    ASSERT_TRUE(proofs);
    EXPECT_EQ(proofs->cache_trouble, "others can write to `" + file("cache") + "`");
    EXPECT_TRUE(proofs->functions[0].good());
}

TEST(Proof, DecodesCompleteProofsAlone) {
    FunctionProof proof;
    proof.goals = proof.proved = 3;
    proof.by = {{"Qed", 3}};
    const std::string text = encode_proof(proof);
    ASSERT_TRUE(decode_proof(text));
    EXPECT_EQ(decode_proof(text)->by, proof.by);
    proof.proved = 2;
    EXPECT_FALSE(decode_proof(encode_proof(proof)));
    for (const char* const hostile : {"",
                                      "[]",
                                      "{",
                                      "{\"format\": 1}",
                                      "{\"format\": \"1\"}",
                                      R"({"format":1,"goals":1,"proved":1,"by":{"Qed":"x"},)"
                                      R"("seconds":0,"slowest":0,"warnings":[]})",
                                      R"({"format":1,"goals":1,"proved":1,"by":{},"seconds":0,)"
                                      R"("slowest":0,"warnings":[1]})"}) {
        EXPECT_FALSE(decode_proof(hostile)) << hostile;
    }
}

TEST(Proof, TableAndJsonSayWhatIsProved) {
    ModelProof proof{.file = "m.onnx",
                     .sha256 = "ab",
                     .accumulate = "f32",
                     .tools = {"Frama-C"},
                     .command = {"frama-c", "-wp"}};
    FunctionProof good{.name = "n0_relu", .place = "graph/node[0]:Relu"};
    good.goals = good.proved = 3;
    good.by = {{"Qed", 2}, {"Z3", 1}};
    good.seconds = 1.25;
    FunctionProof frame = good;
    frame.name = "n1_loop";
    frame.frame_only = true;
    frame.same_as = "n0_relu";
    proof.functions = {good, frame};
    EXPECT_TRUE(proof.good());
    EXPECT_EQ(
        proof_table(proof),
        "Frama-C\n"
        "\n"
        "function       goals    Qed     Z3  seconds\n"
        "n0_relu          3/3      2      1  1.2\n"
        "n1_loop          3/3      2      1  as n0_relu  frame only\n"
        "all              6/6      4      2  0.0\n"
        "\n"
        "All 6 goals are proved: 2 functions, 1 of them different, 0 from the cache; 0 s, the "
        "slowest goal 0.0 s.\n"
        "Functions that are `frame only` (1): they end, have no run-time errors and write "
        "only what they\n"
        "name, but their contract does not say what they compute.\n"
        "The values of weights are not part of the proof: it holds for all weights of these "
        "shapes.\n");
    proof.functions[0].proved = 2;
    proof.functions[0].unproved = {"n0_relu_ensures"};
    EXPECT_FALSE(proof.good());
    const std::string table = proof_table(proof);
    EXPECT_TRUE(table.contains("1.2  NOT PROVED\n")) << table;
    EXPECT_TRUE(table.contains("not proved in n0_relu, graph/node[0]:Relu:\n    n0_relu_ensures\n"))
        << table;
    const auto json = proof_json(proof);
    EXPECT_EQ(json["proved"], false);
    EXPECT_EQ(json["weights_in_proof"], false);
    EXPECT_EQ(json["goals"]["proved"], 5);
    EXPECT_EQ(json["functions"][0]["unproved"][0], "n0_relu_ensures");
    EXPECT_EQ(json["functions"][1]["says"], "frame");
    EXPECT_FALSE(ModelProof().good());  // nothing proved is no proof
}

}  // namespace
}  // namespace lemma::prove
