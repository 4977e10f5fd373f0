// SPDX-License-Identifier: Apache-2.0
#include "model/nnef1/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/stored_data.h"
#include "tensor/convert.h"
#include "tensor/files/nnef_file.h"

namespace lemma::model {

namespace {

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

tensor::Shape without_trailing_ones(tensor::Shape shape) {
    while (!shape.empty() && shape.back() == 1) shape.pop_back();
    return shape;
}

}  // namespace

std::string label_file(const std::string& label) {
    std::string file = label + ".dat";
    std::ranges::replace(file, '\\', '/');
    return file;
}

LabelFiles::LabelFiles(const ModelFile& model, nnef1::Dialect dialect)
    : model_(model), dialect_(dialect) {
    if (dialect == nnef1::Dialect::Tract) many_.emplace(*model.source);
    auto names = model.source->list();
    if (!names) {
        trouble_ = names.error();
        return;
    }
    for (std::string& name : *names) {
        if (!name.ends_with(".dat")) continue;
        any_case_.emplace(lower_case(name), name);
        files_.push_back(std::move(name));
    }
}

std::optional<std::string> LabelFiles::find(const std::string& label) const {
    std::string file = label_file(label);
    if (model_.source->has(file)) return file;
    const auto [begin, end] = any_case_.equal_range(lower_case(file));
    if (begin == end || std::next(begin) != end) return std::nullopt;
    return begin->second;
}

std::optional<ir::DType> LabelFiles::kind(const std::string& label) const {
    if (dialect_ != nnef1::Dialect::Tract) return std::nullopt;
    const auto file = find(label);
    const TractHeader header = file                ? read_tract_header(*model_.source, *file)
                               : many_->has(label) ? many_->header(label)
                                                   : TractHeader{.misfit = "none", .shape = {}};
    return header.misfit.empty() ? std::optional(header.kind) : std::nullopt;
}

Result<std::optional<tensor::Tensor>> LabelFiles::read(const nnef1::StoredVariable& variable,
                                                       const ir::Tensor& tensor,
                                                       const tensor::SourceLimits& limits) const {
    const std::string& label = variable.label;
    const auto file = find(label);
    const bool quantised = tensor.quantizer.has_value();
    if (dialect_ != nnef1::Dialect::Tract || (file && quantised)) {
        if (!file) return std::nullopt;
        return read_stored(*model_.source, *file, tensor, limits);
    }
    if (!file && !many_->has(label)) return std::nullopt;
    auto data = file ? read_tract_data(*model_.source, *file, variable.shape, limits)
                     : many_->read(*model_.source, label, limits);
    if (data) return tensor::convert(*data, tensor.dtype);
    return std::unexpected(
        Error{fmt::format("cannot read the data of `{}`: {}", label, data.error().message),
              ErrorKind::Unreadable});
}

// The header of the file, or of the tensor in a file of many.
DataHeader LabelFiles::header_of(const nnef1::StoredVariable& variable,
                                 const std::string& file) const {
    if (dialect_ != nnef1::Dialect::Tract) {
        return read_data_header(*model_.source, file, variable.dtype);
    }
    const TractHeader header =
        file.empty() ? many_->header(variable.label) : read_tract_header(*model_.source, file);
    return {
        .misfit = header.misfit, .shape = header.shape.value_or(variable.shape), .oddities = {}};
}

// Whether the header fits and the items need a check. `file` is empty for a tensor in a file of
// many; `tensor` is null if the model has no program.
bool LabelFiles::check_file(const nnef1::StoredVariable& variable,
                            const std::string& given,
                            const ir::Tensor* tensor,
                            Diagnostics& diag) const {
    const DataHeader header = header_of(variable, given);
    const std::string file = given.empty() ? many_->file(variable.label) : given;
    const std::string path = model_.source->path_of(file);
    const auto misfit = [&](std::string_view reason) {
        return diag.error(
            variable.span,
            DiagKind::BadData,
            fmt::format("`{}` cannot be the data of '{}': {}", path, variable.label, reason));
    };
    const size_t errors = diag.error_count();
    // Khronos' tools do not count singleton axes at the end.
    const bool same_shape =
        header.shape == variable.shape ||
        (dialect_ == nnef1::Dialect::Khronos &&
         without_trailing_ones(header.shape) == without_trailing_ones(variable.shape));
    if (!header.misfit.empty()) {
        misfit(header.misfit);
    } else if (!same_shape) {
        misfit(fmt::format("it has the shape {}, expected {}",
                           tensor::shape_text(header.shape),
                           tensor::shape_text(variable.shape)))
            .note("NNEF 1.0.4, 5.2: the extents must be equal to those of the network description");
    } else if (header.codes && tensor && !tensor->quantizer) {
        misfit("its items are quantised, and graph.quant does not say what they stand for")
            .note(
                fmt::format("write `\"{}\": …;` with the quantiser into graph.quant", tensor->name))
            .note("NNEF 1.0.4, 5.2.1: quantisation parameters are stored in the quantisation file");
    }
    if (diag.error_count() > errors) return false;
    for (const std::string& oddity : header.oddities) {
        if (oddity == tensor::kExtentsBeyondRank && dialect_ == nnef1::Dialect::Strict) {
            misfit(oddity).note("NNEF 1.0.4, 5.2: the rest must be filled with zeros");
            continue;
        }
        diag.warning(variable.span,
                     DiagKind::BadData,
                     fmt::format("`{}`, the data of '{}': {}", path, variable.label, oddity));
    }
    return diag.error_count() == errors && !header.any_item;
}

void LabelFiles::check_items(const nnef1::StoredVariable& variable,
                             const std::string& file,
                             const ir::Tensor& tensor,
                             const tensor::SourceLimits& limits,
                             Diagnostics& diag) const {
    const auto data = read_stored(*model_.source, file, tensor, limits);
    if (data) return;
    diag.error(variable.span,
               DiagKind::BadData,
               fmt::format("the data of '{}': {}", variable.label, data.error().message));
}

void LabelFiles::report_unused(const std::vector<nnef1::StoredVariable>& variables,
                               Diagnostics& diag) const {
    std::set<std::string> used;
    for (const nnef1::StoredVariable& variable : variables) {
        if (auto file = find(variable.label)) used.insert(std::move(*file));
    }
    for (const std::string& file : files_) {
        if (used.contains(file)) continue;
        diag.add({.severity = diag::Severity::Warning,
                  .kind = DiagKind::UnusedData,
                  .span = {},
                  .path = model_.source->path_of(file),
                  .message = "this data belongs to no variable",
                  .notes = {},
                  .fixes = {}});
    }
}

void LabelFiles::check(const nnef1::Imported& model,
                       const CheckOptions& options,
                       const std::optional<tensor::SourceLimits>& items,
                       Diagnostics& diag) {
    if (options.data == DataMode::Ignore) return;
    const std::vector<nnef1::StoredVariable>& variables = model.variables;
    std::vector<const nnef1::StoredVariable*> missing;
    for (const nnef1::StoredVariable& variable : variables) {
        const ir::Tensor* const tensor =
            model.program ? &model.program->tensors[variable.tensor] : nullptr;
        if (const auto file = find(variable.label)) {
            const bool look = check_file(variable, *file, tensor, diag);
            if (look && tensor && items) check_items(variable, *file, *tensor, *items, diag);
        } else if (many_ && many_->has(variable.label)) {
            check_file(variable, "", tensor, diag);
        } else {
            missing.push_back(&variable);
        }
    }
    // A file with another name shares its folder with other files.
    const bool whole = model_.name == "graph";
    if (whole && !trouble_) report_unused(variables, diag);
    const bool none = missing.size() == variables.size();
    if (options.data == DataMode::Auto && (none || !whole)) return;
    for (const nnef1::StoredVariable* variable : missing) {
        diag.error(variable->span,
                   DiagKind::MissingData,
                   fmt::format("no data for the variable '{}': no file `{}`",
                               variable->label,
                               model_.source->path_of(label_file(variable->label))));
    }
}

}  // namespace lemma::model
