// SPDX-License-Identifier: Apache-2.0
#include "prove/wp_output.h"

#include <gtest/gtest.h>

namespace lemma::prove {
namespace {

using Names = std::vector<std::string>;

TEST(WpOutput, CountsGoalsByProver) {
    const WpOutput output = read_wp_output(R"([kernel] Parsing n1_tanh.c (with preprocessing)
[wp] Running WP plugin...
[rte:annot] annotating function n0_tanh
[wp] 5 goals scheduled
[wp] [CVC4 1.8] Goal typed_real_n0_tanh_ensures : Valid (Qed:4ms) (40ms) (9270)
[wp] [Qed] Goal typed_real_n0_tanh_exits : Valid
[wp] [CVC4 1.8] Goal typed_real_n0_tanh_loop_invariant_preserved : Valid (Qed:9s) (1.5s) (8998)
[wp] [Z3 4.8.12] Goal typed_real_n0_tanh_loop_invariant_2_preserved : Valid (Qed:10ms) (20ms) (37969)
[wp] [Qed] Goal typed_real_n0_tanh_loop_variant_positive : Valid (3ms)
[wp] Proved goals:    5 / 5
  Qed:             2  (0.21ms-5ms-16ms)
  CVC4 1.8:        2  (30ms-50ms) (10855) (unknown: 1)
  Z3 4.8.12:       1  (20ms) (37969)
)");
    EXPECT_TRUE(output.complete);
    EXPECT_EQ(output.goals, 5);
    EXPECT_EQ(output.proved, 5);
    EXPECT_EQ(output.by, (std::map<std::string, int64_t>{{"CVC4", 2}, {"Qed", 2}, {"Z3", 1}}));
    EXPECT_EQ(output.unproved, Names());
    EXPECT_DOUBLE_EQ(output.slowest, 1.5);
    EXPECT_EQ(output.errors, Names());
}

TEST(WpOutput, CountsGoalsThatTheSummaryLeavesOut) {
    const WpOutput output = read_wp_output(R"([wp] 2 goals scheduled
[wp] [CFG] Goal n0_concat_3_exits : Valid (Unreachable)
[wp] [Qed] Goal typed_real_n0_concat_3_ensures : Valid
[wp] [CVC4 1.8] Goal typed_real_n0_concat_3_assigns : Valid (Qed:4ms) (40ms) (9270)
[wp] Proved goals:    3 / 3
  Qed:             1  (0.21ms)
  CVC4 1.8:        1  (40ms) (9270)
)");
    EXPECT_EQ(output.by, (std::map<std::string, int64_t>{{"CFG", 1}, {"CVC4", 1}, {"Qed", 1}}));
}

TEST(WpOutput, NamesGoalsThatAreNotProved) {
    const WpOutput output = read_wp_output(R"([wp] 4 goals scheduled
[wp] [Failed] Goal typed_real_n0_tanh_loop_invariant_2_preserved
  Z3 4.8.12: Failed Unknown error
  CVC4 1.8: Unknown (Qed:11ms)
[wp] [Qed] Goal typed_real_n0_tanh_loop_invariant_2_established : Valid (0.67ms)
[wp] [CVC4 1.8] Goal typed_real_n0_tanh_ensures : Unknown (Qed:10ms)
[wp] [Timeout] typed_real_n0_tanh_assigns (Qed 5ms) (CVC4)
[wp] Proved goals:    1 / 4
  Qed:             1  (0.17ms-4ms-10ms)
  CVC4 1.8:        0  (unknown: 2)
  Z3 4.8.12:       0  (failed: 1)
)");
    EXPECT_TRUE(output.complete);
    EXPECT_EQ(output.goals, 4);
    EXPECT_EQ(output.proved, 1);
    EXPECT_EQ(output.by, (std::map<std::string, int64_t>{{"Qed", 1}}));
    EXPECT_EQ(output.unproved,
              (Names{"typed_real_n0_tanh_loop_invariant_2_preserved",
                     "typed_real_n0_tanh_ensures",
                     "typed_real_n0_tanh_assigns"}));
}

TEST(WpOutput, ReportsErrorsOfFramaC) {
    const WpOutput provers = read_wp_output(
        "[wp] User Error: Prover 'z3' not found in why3.conf\n"
        "[wp] Goal typed_real_f_ensures : not tried\n"
        "[wp] User Error: Deferred error message was emitted during execution.\n");
    EXPECT_FALSE(provers.complete);
    EXPECT_EQ(provers.errors.size(), 2U);
    EXPECT_EQ(provers.unproved, (Names{"typed_real_f_ensures"}));

    const WpOutput syntax = read_wp_output(
        "[kernel] bad.c:1: \n  syntax error:\n[kernel] Frama-C aborted: invalid user input.\n");
    EXPECT_FALSE(syntax.complete);
    EXPECT_EQ(syntax.errors, (Names{"[kernel] Frama-C aborted: invalid user input."}));
}

TEST(WpOutput, KeepsWarnings) {
    const WpOutput output =
        read_wp_output("[wp] n0.c:3: Warning: Missing RTE guards\n[wp] Proved goals:   1 / 1\n");
    EXPECT_EQ(output.warnings, (Names{"[wp] n0.c:3: Warning: Missing RTE guards"}));
    EXPECT_TRUE(output.complete);
}

TEST(WpOutput, TextThatEndsEarlyIsIncomplete) {
    for (const char* const text : {"",
                                   "\n\n",
                                   "[wp] Proved goals:",
                                   "[wp] Proved goals:   3 /",
                                   "[wp] Proved goals:   99999999999999999999 / 3\n",
                                   "[wp] [",
                                   "[wp] [Qed] Goal",
                                   "  Qed: 12\n"}) {
        const WpOutput output = read_wp_output(text);
        EXPECT_FALSE(output.complete) << text;
        EXPECT_TRUE(output.by.empty()) << text;
    }
}

}  // namespace
}  // namespace lemma::prove
