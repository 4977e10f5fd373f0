// SPDX-License-Identifier: Apache-2.0
// tensor/archive/npz_file.h — several arrays in NumPy's .npz format, a zip archive with a .npy file
// for each array; and the tensors of any file that a user names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/open_file.h"
#include "tensor/archive/archive.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

bool is_npz_name(std::string_view path);

// Arrays in the order of their names, which are unique. Entries may be stored or deflated; the
// limits are those of archives. Errors name the file by `path` and the entry.
Result<std::vector<NamedTensor>> decode_npz(std::string bytes,
                                            const std::string& path,
                                            const SourceLimits& limits = {});
// The same arrays give the same bytes. Entries are stored, as by numpy.savez.
Result<void> write_npz(const std::string& path, std::span<const NamedTensor> arrays);

// The arrays of a .npz file, or the one tensor of a .npy, .dat, .pb or .json file. The ending of
// the name decides, with another ending the first bytes.
Result<std::vector<NamedTensor>> decode_tensors(std::string bytes, const std::string& path);
Result<std::vector<NamedTensor>> read_tensors(const std::string& path, FileKind kind);

}  // namespace lemma::tensor
