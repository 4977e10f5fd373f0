// SPDX-License-Identifier: Apache-2.0
// driver/inputs.h — the files of `-i`: tensor files, pictures, and standard input as `-`.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/arguments.h"
#include "model/given_inputs.h"

namespace lemma::driver {

inline constexpr const char* kStandardInput = "-";
inline constexpr const char* kInputHelp =
    "read an input from a .npy, .dat, .pb or .json file, or a picture (.png, .jpg); FILE.npz: "
    "inputs by the names of its arrays; -: standard input";

// --preprocess.
void declare_preprocess(Arguments& arguments, std::string& recipe);

// A model may need an input before it is composed and again for the run. The reader keeps what can
// be read only once, and pictures. It refers to `input`. An error concerns the recipe.
Result<model::InputReader> input_reader(std::istream& input, const std::string& recipe);

// Standard input has one content: an error if two arguments name it.
Result<void> check_standard_input(const std::vector<std::string>& arguments);

// All bytes of the stream; an error beyond the limit of pipes.
Result<std::string> read_standard_input(std::istream& input);

}  // namespace lemma::driver
