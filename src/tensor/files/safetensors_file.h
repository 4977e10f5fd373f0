// tensor/files/safetensors_file.h — named tensors in the .safetensors format: the length of a
// header, the header in JSON, then the elements of all tensors one after the other, little endian.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace lemma::tensor {

// More than this is no header (the format's own limit).
inline constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    int64_t begin = 0;  // of its bytes, in the file
    int64_t bytes = 0;
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;        // in the order of their bytes
    std::map<std::string, std::string> metadata;  // the entry `__metadata__`
};

// Where the header ends, as the first 8 bytes of a file say; an error if the file is shorter.
Result<int64_t> safetensors_header_end(std::string_view first_bytes, int64_t file_bytes);
// Reads and checks a header: types, and that shapes and places agree, that the tensors fill the
// file without holes or overlaps, and that no name occurs twice. `header` is the file up to its
// end.
Result<SafetensorsHeader> decode_safetensors_header(std::string_view header, int64_t file_bytes);

struct SafetensorsFile {
    std::vector<NamedTensor> tensors;
    std::map<std::string, std::string> metadata;
};
Result<SafetensorsFile> decode_safetensors(std::string_view bytes);
// One tensor of such a file.
Result<Tensor> decode_safetensors_entry(std::string_view bytes, const SafetensorsEntry& entry);
// In the order given. Strings cannot be written, nor one name twice.
Result<std::string> encode_safetensors(const SafetensorsFile& file);

// Errors name the file.
Result<SafetensorsFile> read_safetensors(const std::string& path);
Result<void> write_safetensors(const std::string& path, const SafetensorsFile& file);

}  // namespace lemma::tensor
