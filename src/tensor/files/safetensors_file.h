// SPDX-License-Identifier: Apache-2.0
// tensor/files/safetensors_file.h — named tensors in the .safetensors format: the length of a
// header, the header in JSON, then the elements of all tensors one after the other, little endian.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace lemma::tensor {

// The format's own limit of a header.
inline constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    int64_t begin = 0;  // byte range in the file
    int64_t bytes = 0;
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;        // sorted by offset
    std::map<std::string, std::string> metadata;  // the entry `__metadata__`
};

// The end of the header, from the first 8 bytes of a file; an error if the file is shorter.
Result<int64_t> safetensors_header_end(std::string_view first_bytes, int64_t file_bytes);
// Reads and checks a header: dtypes are known, shapes match byte ranges, the tensors fill the file
// without gaps or overlaps, and names are unique. `header` is the file up to the end of the header.
Result<SafetensorsHeader> decode_safetensors_header(std::string_view header, int64_t file_bytes);

struct SafetensorsFile {
    std::vector<NamedTensor> tensors;
    std::map<std::string, std::string> metadata;
};
Result<SafetensorsFile> decode_safetensors(std::string_view bytes);
// One tensor of a file.
Result<Tensor> decode_safetensors_entry(std::string_view bytes, const SafetensorsEntry& entry);
// Keeps the given order. Strings cannot be written, and names must be unique.
Result<std::string> encode_safetensors(const SafetensorsFile& file);

// Errors name the file.
Result<SafetensorsFile> read_safetensors(const std::string& path);
Result<void> write_safetensors(const std::string& path, const SafetensorsFile& file);

}  // namespace lemma::tensor
