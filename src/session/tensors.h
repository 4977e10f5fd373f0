// SPDX-License-Identifier: Apache-2.0
// session/tensors.h — inputs and outputs of a run: files by the names of tensors, random inputs,
// and summaries of results.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/open_file.h"
#include "base/result.h"
#include "interpret/interpret.h"
#include "ir/program/program.h"
#include "model/given_inputs.h"

namespace lemma::session {

// `a/b c` as part of a file name: `a_b_c`.
std::string file_name_of(const std::string& tensor);

// .npy, .dat, .pb or .json, by the extension or the first bytes.
Result<interpret::Array> read_array(const std::string& path, FileKind kind = FileKind::Regular);
// The file of a tensor in a folder; if there is none, a name with the extension .npy.
std::string find_file(const std::string& folder, const std::string& tensor);
Result<void> write_array(const std::string& path, const interpret::Array& array);

// The names of a port's tensors in files: `x`, or `xs.0`, `xs.1`, …
std::vector<std::string> item_names(const ir::Port& port, size_t count);

// Reads the files of `-i NAME=FILE` and `-i FILE` (model/given_inputs.h).
Result<interpret::NamedArrays> read_inputs(const ir::Program& program,
                                           const std::vector<std::string>& arguments,
                                           const model::InputReader& read = {});
// All inputs, or outputs, with a file in the folder, `NAME.npy` or in another format.
Result<interpret::NamedArrays> read_folder(const ir::Program& program,
                                           const std::vector<ir::Port>& ports,
                                           const std::string& folder);
Result<void> write_folder(std::span<const ir::Port> ports,
                          const interpret::NamedArrays& arrays,
                          const std::string& folder);
// All arrays in one .npz file, by their names.
Result<void> write_npz(std::span<const ir::Port> ports,
                       const interpret::NamedArrays& arrays,
                       const std::string& path);
// Groups inputs by their item names into the ports of the graph. For a pack with a run-time length,
// the last items may be missing, or all.
Result<interpret::NamedArrays> gather_inputs(const ir::Program& program,
                                             std::map<std::string, interpret::Array> items);

// Adds random values for missing inputs: reals in [0, 1), integers 0 or 1. Run-time extents get
// their upper bound, or 1 without a bound.
Result<void> add_random_inputs(const ir::Program& program,
                               uint64_t seed,
                               interpret::NamedArrays& inputs);
// The inputs that are still missing.
std::vector<std::string> missing_inputs(const ir::Program& program,
                                        const interpret::NamedArrays& inputs);

// `y: f32[1, 10], from -1.5 to 2, mean 0.25: 0.1 0.2 …`
std::string summary(const std::string& name, const interpret::Array& array);
// The largest elements along the last axis, as classes: `  1. class 207  0.53`, or with the names
// of classes `  1. golden retriever  0.53`.
std::string top_classes(const interpret::Array& array,
                        int64_t count,
                        const std::vector<std::string>& labels = {});

}  // namespace lemma::session
