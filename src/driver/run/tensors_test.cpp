#include "driver/run/tensors.h"

#include <gtest/gtest.h>

namespace lemma::driver {
namespace {

TEST(NoSuchInput, NamesTheInputsAndTheNearest) {
    EXPECT_EQ(no_such_input("inptu", {"mask", "input"}).message,
              "there is no input `inptu`; did you mean `input`? the inputs are mask, input");
    EXPECT_EQ(no_such_input("z", {"mask", "input"}).message,
              "there is no input `z`; the inputs are mask, input");
}

}  // namespace
}  // namespace lemma::driver
