// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tensor/files/file_io.h"
#include "tensor/files/json_file.h"
#include "tensor/files/nnef_data.h"
#include "tensor/files/npy_file.h"
#include "tensor/files/pb_file.h"

namespace lemma::tensor {

namespace {

constexpr std::string_view kWritten = ".npy (NumPy), .dat (NNEF), .pb (ONNX) and .json files";
constexpr std::string_view kRead = ".npy and .npz (NumPy), .dat (NNEF), .pb (ONNX) and .json files";

Result<NamedTensor> unnamed(Result<Tensor> tensor) {
    if (!tensor) return std::unexpected(std::move(tensor).error());
    return NamedTensor{.name = "", .tensor = std::move(*tensor)};
}

struct Format {
    std::string_view ending;
    std::string_view magic;  // empty if the format has no magic number
    Result<NamedTensor> (*decode)(std::string_view bytes);
    Result<std::string> (*encode)(const NamedTensor& named);
};
const std::array<Format, 4> kFormats = {
    {{.ending = ".npy",
      .magic = "\x93NUMPY",
      .decode = [](std::string_view bytes) { return unnamed(decode_npy(bytes)); },
      .encode = [](const NamedTensor& named) { return encode_npy(named.tensor); }},
     {.ending = ".dat",
      .magic = "N\xEF",
      .decode = [](std::string_view bytes) { return unnamed(decode_nnef(bytes)); },
      .encode = [](const NamedTensor& named) { return encode_nnef(named.tensor); }},
     {.ending = ".pb",
      .magic = "",
      .decode = [](std::string_view bytes) { return decode_pb(bytes); },
      .encode = [](const NamedTensor& named) { return Result<std::string>(encode_pb(named)); }},
     {.ending = ".json",
      .magic = "",
      .decode = [](std::string_view bytes) { return unnamed(decode_json(bytes)); },
      .encode =
          [](const NamedTensor& named) {
              return Result<std::string>(encode_json(named.tensor));
          }}}};

template <class Test>
const Format* find(Test test) {
    const auto* const found = std::ranges::find_if(kFormats, test);
    return found == kFormats.end() ? nullptr : found;
}

const Format* by_ending(std::string path) {
    std::ranges::transform(path, path.begin(), [](unsigned char c) { return std::tolower(c); });
    return find([&](const Format& format) { return path.ends_with(format.ending); });
}

const Format* by_content(std::string_view bytes) {
    return find([&](const Format& format) {
        return !format.magic.empty() && bytes.starts_with(format.magic);
    });
}

}  // namespace

bool has_tensor_ending(const std::string& path) { return by_ending(path) != nullptr; }

Result<NamedTensor> read_tensor_file(const std::string& path, FileKind kind) {
    LEMMA_TRY(const std::string bytes, read_file(path, kind));
    return decode_tensor_file(bytes, path);
}

Result<NamedTensor> decode_tensor_file(std::string_view bytes, const std::string& path) {
    const Format* format = by_ending(path);
    if (!format) format = by_content(bytes);
    if (!format) {
        return cannot_read(path,
                           fmt::format("its format is not known; tensors are read from {}", kRead));
    }
    auto named = format->decode(bytes);
    if (!named) return cannot_read(path, named.error().message);
    return named;
}

Result<void> write_tensor_file(const std::string& path, const NamedTensor& named) {
    const Format* format = by_ending(path);
    if (!format) {
        return cannot_write(
            path, fmt::format("its format is not known; tensors are written to {}", kWritten));
    }
    const auto bytes = format->encode(named);
    if (!bytes) return cannot_write(path, bytes.error().message);
    return write_file(path, *bytes);
}

}  // namespace lemma::tensor
