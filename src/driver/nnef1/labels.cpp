#include "driver/nnef1/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "driver/formats/stored_data.h"
#include "tensor/convert.h"

namespace lemma::driver {

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
        Error{fmt::format("cannot read the data of '{}': {}", label, data.error().message)});
}

// What the file says, or what is in the place of one.
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

// `file` is empty for a tensor among many.
void LabelFiles::check_file(const nnef1::StoredVariable& variable,
                            const std::string& given,
                            Diagnostics& diag) const {
    DataHeader header = header_of(variable, given);
    const std::string file = given.empty() ? many_->file(variable.label) : given;
    if (header.misfit.empty() && header.shape != variable.shape) {
        // Khronos' tools do not count singleton axes at the end.
        const bool same =
            dialect_ == nnef1::Dialect::Khronos &&
            without_trailing_ones(header.shape) == without_trailing_ones(variable.shape);
        if (!same) {
            header.misfit = fmt::format("it has the shape {}, expected {}",
                                        tensor::shape_text(header.shape),
                                        tensor::shape_text(variable.shape));
        }
    }
    const std::string path = model_.source->path_of(file);
    if (!header.misfit.empty()) {
        diag.error(variable.span,
                   DiagKind::BadData,
                   fmt::format(
                       "`{}` cannot be the data of '{}': {}", path, variable.label, header.misfit))
            .note("NNEF 1.0.4, 5.2: the extents must be equal to those of the network description");
        return;
    }
    for (const std::string& oddity : header.oddities) {
        diag.warning(variable.span,
                     DiagKind::BadData,
                     fmt::format("`{}`, the data of '{}': {}", path, variable.label, oddity));
    }
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

void LabelFiles::check(const std::vector<nnef1::StoredVariable>& variables,
                       const CheckOptions& options,
                       Diagnostics& diag) {
    if (options.data == DataMode::Ignore) return;
    std::vector<const nnef1::StoredVariable*> missing;
    for (const nnef1::StoredVariable& variable : variables) {
        if (const auto file = find(variable.label)) {
            check_file(variable, *file, diag);
        } else if (many_ && many_->has(variable.label)) {
            check_file(variable, "", diag);
        } else {
            missing.push_back(&variable);
        }
    }
    // A file of any name shares its folder with others.
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

}  // namespace lemma::driver
