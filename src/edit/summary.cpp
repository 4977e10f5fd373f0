// SPDX-License-Identifier: Apache-2.0
#include "edit/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/checked.h"
#include "edit/uses.h"
#include "show/types.h"

namespace lemma::edit {

namespace fs = std::filesystem;

int64_t bytes_of(const ir::Program& program, const ir::Tensor& tensor) {
    if (tensor.dtype == ir::DType::Str) return 0;
    std::optional<int64_t> bytes = tensor::dtype_size(tensor.dtype);
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program.symbols.as_int(part);
        bytes = bytes && extent ? checked_mul(*bytes, *extent) : std::nullopt;
    }
    return bytes.value_or(0);
}

Size size_of(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    Size size{.operations = static_cast<int64_t>(main.operations.size())};
    TensorSet read;
    for (const ir::OpId id : main.operations) {
        const Uses uses = uses_of(program, id);
        read.insert(uses.reads.begin(), uses.reads.end());
    }
    for (const ir::TensorId id : items_of(main.outputs)) read.insert(id);
    for (const ir::TensorId id : read) {
        const ir::Tensor& tensor = program.tensors[id];
        if (tensor.role != ir::TensorRole::Variable) continue;
        ++size.variables;
        size.bytes = checked_add(size.bytes, bytes_of(program, tensor)).value_or(INT64_MAX);
    }
    return size;
}

std::vector<std::string> port_texts(const ir::Program& program,
                                    const std::vector<ir::Port>& ports) {
    show::TypeNames types(program);
    std::vector<std::string> texts;
    for (const ir::Port& port : ports) {
        texts.push_back(
            fmt::format("{}: {}", port.name, fmt::join(types.operand(port.operand), ", ")));
    }
    return texts;
}

Result<void> check_apart(const std::string& out, const std::vector<std::string>& models) {
    std::error_code failed;
    for (const std::string& model : models) {
        const fs::path path(model);
        const bool same = fs::equivalent(out, path, failed) ||
                          (fs::is_directory(out, failed) && fs::is_regular_file(path, failed) &&
                           fs::equivalent(out, fs::absolute(path, failed).parent_path(), failed));
        if (!same) continue;
        return std::unexpected(
            Error{fmt::format("`{}` is the model that is read: give OUT another name", out)});
    }
    return {};
}

}  // namespace lemma::edit
