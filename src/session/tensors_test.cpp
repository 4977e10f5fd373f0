// SPDX-License-Identifier: Apache-2.0
#include "session/tensors.h"

#include "model/input_names.h"

#include <gtest/gtest.h>

namespace lemma::session {
namespace {

TEST(NoSuchInput, NamesTheInputsAndTheNearest) {
    EXPECT_EQ(model::no_such_input("inptu", {"mask", "input"}).message,
              "there is no input `inptu`; did you mean `input`? the inputs are mask, input");
    EXPECT_EQ(model::no_such_input("z", {"mask", "input"}).message,
              "there is no input `z`; the inputs are mask, input");
}

}  // namespace
}  // namespace lemma::session
