// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/npz_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tensor/archive/archive_write.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"
#include "tensor/files/tensor_file.h"

namespace lemma::tensor {

namespace {

constexpr std::string_view kEnding = ".npy";
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kEmptyZipMagic = "PK\x05\x06";

}  // namespace

bool is_npz_name(std::string_view path) {
    std::string name(path);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.ends_with(".npz");
}

Result<std::vector<NamedTensor>> decode_npz(std::string bytes,
                                            const std::string& path,
                                            const SourceLimits& limits) {
    // A tar archive would be read as well, but it is no .npz file.
    if (!bytes.starts_with(kZipMagic) && !bytes.starts_with(kEmptyZipMagic))
        return cannot_read(path, "it is no .npz file: it does not begin as a zip archive");
    SourceLimits all = limits;
    all.memory = kMaxTensorBytes;  // each array is needed once, so it is not read again
    LEMMA_TRY(const auto source,
              open_archive_bytes(std::move(bytes), path, all, ArchiveNames::AsWritten));
    LEMMA_TRY(const std::vector<std::string> entries, source->list());
    std::vector<NamedTensor> arrays;
    for (const std::string& entry : entries) {
        if (!entry.ends_with(kEnding)) {
            return cannot_read(path, fmt::format("the entry `{}` is no .npy file", entry));
        }
        LEMMA_TRY(const std::string content, source->read_all(entry, limits.max_file_bytes));
        auto tensor = decode_npy(content);
        if (!tensor) {
            return cannot_read(path, fmt::format("`{}`: {}", entry, tensor.error().message));
        }
        arrays.push_back(
            {.name = entry.substr(0, entry.size() - kEnding.size()), .tensor = std::move(*tensor)});
    }
    return arrays;
}

Result<void> write_npz(const std::string& path, std::span<const NamedTensor> arrays) {
    LEMMA_TRY(ArchiveWriter writer, ArchiveWriter::create(path));
    std::set<std::string> names;
    for (const NamedTensor& array : arrays) {
        if (!names.insert(array.name).second)
            return cannot_write(path, fmt::format("the name `{}` occurs twice", array.name));
        const auto bytes = encode_npy(array.tensor);
        if (!bytes) return cannot_write(path, bytes.error().message);
        LEMMA_TRY(writer.add(array.name + std::string(kEnding), *bytes));
    }
    return writer.finish();
}

Result<std::vector<NamedTensor>> decode_tensors(std::string bytes, const std::string& path) {
    const bool zip = bytes.starts_with(kZipMagic) && !has_tensor_ending(path);
    if (zip || is_npz_name(path)) return decode_npz(std::move(bytes), path);
    LEMMA_TRY(NamedTensor one, decode_tensor_file(bytes, path));
    std::vector<NamedTensor> tensors;
    tensors.push_back(std::move(one));
    return tensors;
}

Result<std::vector<NamedTensor>> read_tensors(const std::string& path, FileKind kind) {
    LEMMA_TRY(std::string bytes, read_file(path, kind));
    return decode_tensors(std::move(bytes), path);
}

}  // namespace lemma::tensor
