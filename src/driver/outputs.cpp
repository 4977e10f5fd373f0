// SPDX-License-Identifier: Apache-2.0
#include "driver/outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "session/tensors.h"
#include "tensor/archive/npz_file.h"
#include "tensor/files/npy_file.h"
#include "tensor/files/tensor_file.h"

namespace lemma::driver {

namespace {

// One tensor: `y.npy` or standard output. A folder of that name stays a folder.
bool takes_one(const std::string& where) {
    std::error_code ignored;
    if (where == kStandardOutput) return true;
    return tensor::has_tensor_ending(where) && !std::filesystem::is_directory(where, ignored);
}

std::unexpected<Error> too_many(const std::string& where, size_t outputs) {
    return std::unexpected(
        Error{fmt::format("`-o {}` takes one output, but there are {}; write them to a .npz file "
                          "or a folder",
                          where,
                          outputs)});
}

}  // namespace

bool is_single_place(const std::string& where) {
    return takes_one(where) || tensor::is_npz_name(where);
}

Result<void> check_place(const std::string& where, size_t outputs, bool terminal) {
    if (takes_one(where) && outputs > 1) return too_many(where, outputs);
    if (where == kStandardOutput && terminal) {
        return std::unexpected(Error{
            "`-o -` writes the bytes of a .npy file, but standard output is a terminal: redirect "
            "it to a file or a program"});
    }
    return {};
}

Result<std::string> write_outputs(const std::string& where,
                                  std::span<const ir::Port> ports,
                                  const interpret::NamedArrays& arrays) {
    if (!takes_one(where)) {
        const auto done = tensor::is_npz_name(where) ? session::write_npz(ports, arrays, where)
                                                     : session::write_folder(ports, arrays, where);
        if (!done) return std::unexpected(done.error());
        return std::string();
    }
    size_t count = 0;
    const interpret::Array* array = nullptr;
    for (const ir::Port& port : ports) {
        for (const interpret::Array& item : arrays.at(port.name)) {
            array = &item;
            ++count;
        }
    }
    if (count != 1) return too_many(where, count);
    if (where != kStandardOutput) {
        LEMMA_TRY(session::write_array(where, *array));
        return std::string();
    }
    LEMMA_TRY(const tensor::Tensor tensor, interpret::to_tensor(*array));
    return tensor::encode_npy(tensor);
}

}  // namespace lemma::driver
