// SPDX-License-Identifier: Apache-2.0
// driver/outputs.h — where a run writes its outputs: a folder, a .npz file, a file for the one
// output, or standard output.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "interpret/interpret.h"
#include "ir/program/program.h"

namespace lemma::driver {

inline constexpr const char* kStandardOutput = "-";

// Whether `where` has room for the outputs of one run only, as a file or standard output.
bool is_single_place(const std::string& where);
// Whether the outputs fit the place; to be asked before a long run.
Result<void> check_place(const std::string& where, size_t outputs, bool terminal);

// Writes the outputs; for standard output, returns the bytes of a .npy file.
Result<std::string> write_outputs(const std::string& where,
                                  std::span<const ir::Port> ports,
                                  const interpret::NamedArrays& arrays);

}  // namespace lemma::driver
