// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <fmt/format.h>

#include <set>

#include "diag/utf8.h"
#include "model/data_files.h"
#include "tensor/convert.h"

namespace lemma::model {

namespace {

// Data of another width is converted; the kind (real, integer, bool) must be the same.
bool same_kind(tensor::DType a, tensor::DType b) {
    return tensor::is_real(a) == tensor::is_real(b) &&
           tensor::is_integer(a) == tensor::is_integer(b);
}

std::set<std::string_view> variable_names(const ir::Program& program) {
    std::set<std::string_view> names;
    for (const ir::Tensor& tensor : program.tensors) {
        if (tensor.role == ir::TensorRole::Variable) names.insert(tensor.name);
    }
    return names;
}

}  // namespace

Result<Weights> Weights::open(const std::string& path) {
    if (!path.ends_with(kWeightsEnding)) {
        return std::unexpected(Error{
            fmt::format("`{}` cannot be weights: a {} file is wanted", path, kWeightsEnding)});
    }
    Weights weights;
    weights.path_ = path;
    LEMMA_TRY(weights.bytes_, tensor::map_file(path, FileKind::Any));
    const std::string_view bytes = *weights.bytes_;
    const auto size = static_cast<int64_t>(bytes.size());
    LEMMA_TRY(tensor::hold_bytes(bytes.substr(0, 8)));
    const auto end = tensor::safetensors_header_end(bytes.substr(0, 8), size);
    if (end) {
        LEMMA_TRY(tensor::hold_bytes(bytes.substr(0, static_cast<size_t>(*end))));
    }
    auto header = tensor::decode_safetensors_header(bytes, size);
    if (!header) return tensor::cannot_read(path, header.error().message);
    for (tensor::SafetensorsEntry& entry : header->entries) {
        std::string name = entry.name;
        weights.entries_.emplace(std::move(name), std::move(entry));
    }
    return weights;
}

diag::Report Weights::report(DiagKind kind, std::string message, Diagnostics& diag) const {
    return diag.add({.severity = diag::Severity::Error,
                     .kind = kind,
                     .span = {},
                     .path = path_,
                     .message = std::move(message),
                     .notes = {},
                     .fixes = {}});
}

void Weights::check(const ir::Program& program, Diagnostics& diag) const {
    const std::set<std::string_view> names = variable_names(program);
    for (const auto& [name, entry] : entries_) {
        if (names.contains(name)) continue;
        auto unknown = report(DiagKind::UnusedData,
                              fmt::format("the model has no variable `{}`", diag::printable(name)),
                              diag);
        const std::string_view nearest = diag::nearest_name(name, {names.begin(), names.end()});
        if (!nearest.empty()) unknown.note(fmt::format("did you mean `{}`?", nearest));
    }
    for (const ir::Tensor& variable : program.tensors) {
        if (variable.role != ir::TensorRole::Variable) continue;
        const auto found = entries_.find(variable.name);
        if (found == entries_.end()) continue;
        const tensor::SafetensorsEntry& entry = found->second;
        const auto misfit = [&](const std::string& got, const std::string& want) {
            report(DiagKind::BadData,
                   fmt::format("`{}` {}, expected {}", variable.name, got, want),
                   diag);
        };
        if (!same_kind(entry.dtype, variable.dtype)) {
            misfit(fmt::format("has elements of {}", tensor::dtype_name(entry.dtype)),
                   std::string(tensor::dtype_name(variable.dtype)));
        } else if (!shape_fits(program, variable, entry.shape)) {
            misfit(fmt::format("has the shape {}", tensor::shape_text(entry.shape)),
                   shape_text(program, variable));
        }
    }
}

void Weights::report_missing(const ir::Program& program,
                             const ir::Tensor& variable,
                             Diagnostics& diag) const {
    auto missing = report(DiagKind::MissingData,
                          fmt::format("no data for the variable `{}`, neither here nor with the "
                                      "model",
                                      variable.name),
                          diag);
    const std::set<std::string_view> known = variable_names(program);
    std::vector<std::string_view> free;  // names that belong to no variable
    for (const auto& [name, entry] : entries_) {
        if (!known.contains(name)) free.push_back(name);
    }
    const std::string_view nearest = diag::nearest_name(variable.name, free);
    if (!nearest.empty())
        missing.note(fmt::format("there is `{}`, which is no variable", diag::printable(nearest)));
}

Result<std::optional<tensor::Tensor>> Weights::read(const ir::Tensor& variable) const {
    const auto found = entries_.find(variable.name);
    if (found == entries_.end()) return std::nullopt;
    const tensor::SafetensorsEntry& entry = found->second;
    const std::string_view elements =
        bytes_->substr(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.bytes));
    LEMMA_TRY(tensor::hold_bytes(elements));
    auto tensor = tensor::decode_safetensors_entry(*bytes_, entry);
    tensor::drop_pages(elements);
    if (tensor) tensor = tensor::convert(*tensor, variable.dtype);
    if (tensor) return std::move(*tensor);
    return tensor::cannot_read(path_,
                               fmt::format("`{}`: {}", variable.name, tensor.error().message));
}

}  // namespace lemma::model
