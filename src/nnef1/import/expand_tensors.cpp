// SPDX-License-Identifier: Apache-2.0
// Operations without an operator: they are part of the program itself (4.1 and 4.8).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "nnef1/import/expander.h"
#include "tensor/shape.h"

namespace lemma::nnef1 {

std::optional<Value> Expander::make_tensor(const Call& call, const Frame& frame) {
    const std::string_view name = call.signature.name();
    if (name == "external" || name == "tract_core_external") return make_external(call, frame);
    if (name == "constant") return make_constant(call, frame);
    if (name == "variable") return make_variable(call, frame);
    if (name == "update") return make_update(call, frame);
    return std::nullopt;
}

std::string Expander::shape_text(const std::vector<ir::SymId>& shape) const {
    std::vector<std::string> extents;
    for (const ir::SymId extent : shape) {
        extents.push_back(builder_.program().symbols.text(extent));
    }
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

// A tensor whose shape is the first argument.
std::optional<ir::Tensor> Expander::shaped_tensor(const Call& call, const Frame& frame) {
    const bool symbols = call.signature.name().ends_with("external");
    const std::string_view name = call.signature.name();
    const Values& extents = *call.arguments[0].items();
    const auto refuse = [&](DiagKind kind, std::string message) {
        return report(call.spans[0], kind, std::move(message), frame);
    };
    if (extents.size() > kMaxRank) {
        refuse(DiagKind::TooLarge,
               fmt::format("`{}` of rank {}, expected at most {}", name, extents.size(), kMaxRank));
        return std::nullopt;
    }
    ir::Tensor tensor{.name = names_of_results(call, frame)[0],
                      .dtype = dtype_of(call.generic.value_or(TypeName::Scalar), options_)};
    if (tensor.name.empty()) tensor.name = call.label;
    std::optional<int64_t> bytes = 8;  // size of the largest item
    for (const Value& item : extents) {
        if (const auto* symbol = std::get_if<ir::SymId>(&item.node); symbol && symbols) {
            tensor.shape.push_back(*symbol);
            continue;
        }
        const auto number = integer_of(item, call.spans[0], frame);
        if (!number) return std::nullopt;
        const int64_t extent = *number;
        if (extent <= 0) {
            refuse(DiagKind::AssertFailed,
                   fmt::format("an extent of `{}` is {}, expected a positive number", name, extent))
                .note("NNEF 1.0.4, 4.1: items in `shape` must be strictly positive");
            return std::nullopt;
        }
        if (bytes) bytes = checked_mul(*bytes, extent);
        tensor.shape.push_back(builder_.symbols().integer(extent));
    }
    if (bytes) return tensor;
    refuse(DiagKind::TooLarge, fmt::format("`{}` has more bytes than 64 bits can count", name));
    return std::nullopt;
}

Value Expander::make_external(const Call& call, const Frame& frame) {
    auto tensor = shaped_tensor(call, frame);
    if (!tensor) return {};
    if (call.signature.name() != "external") {
        const auto dtype = datum_type(call, 1, frame);
        if (!dtype) return {};
        tensor->dtype = *dtype;
    }
    tensor->role = ir::TensorRole::Input;
    return {builder_.add_tensor(std::move(*tensor))};
}

Value Expander::make_constant(const Call& call, const Frame& frame) {
    auto tensor = shaped_tensor(call, frame);
    if (!tensor) return {};
    const Values& values = *call.arguments[1].items();
    tensor::Shape shape;
    for (const ir::SymId extent : tensor->shape) {
        shape.push_back(builder_.symbols().as_int(extent).value_or(1));
    }
    const auto volume = tensor::volume(shape);
    if (values.size() != 1 && static_cast<int64_t>(values.size()) != volume) {
        report(call.spans[1],
               DiagKind::LengthMismatch,
               fmt::format("`constant` of shape {} has {} values, expected {} or one",
                           shape_text(tensor->shape),
                           values.size(),
                           volume ? std::to_string(*volume) : "very many"),
               frame)
            .note("NNEF 1.0.4, 4.1.2: the length of `value` must equal the volume or be 1");
        return {};
    }
    for (const Value& value : values) {
        if (const auto* integer = std::get_if<int64_t>(&value.node)) {
            tensor->items.emplace_back(*integer);
        } else if (const auto* scalar = std::get_if<double>(&value.node)) {
            tensor->items.emplace_back(*scalar);
        } else if (const auto* flag = std::get_if<bool>(&value.node)) {
            tensor->items.emplace_back(*flag);
        } else {
            tensor->items.emplace_back(std::get<std::string>(value.node));
        }
    }
    tensor->role = ir::TensorRole::Constant;
    return {builder_.add_tensor(std::move(*tensor))};
}

// ---- Variables ----------------------------------------------------------------------------------

namespace {

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

bool is_label_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./\\").find(c) != std::string_view::npos;
}

// Whether a part of the path is empty, `.` or `..`.
bool leaves_folder(std::string label) {
    std::ranges::replace(label, '\\', '/');
    size_t begin = 0;
    while (begin <= label.size()) {
        const size_t end = std::min(label.find('/', begin), label.size());
        const std::string_view part = std::string_view(label).substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..") return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

bool Expander::label_is_good(const Call& call, const std::string& label, const Frame& frame) {
    const auto refuse = [&](std::string message) {
        report(call.spans[1], DiagKind::AssertFailed, std::move(message), frame)
            .note(
                "NNEF 1.0.4, 4.1.3: labels must not be empty and consist of letters, digits and "
                "`_ - . / \\`");
        return false;
    };
    if (label.empty()) return refuse("the label of the variable is empty");
    // torch-to-nnef keeps PyTorch names.
    const auto bad = std::ranges::find_if_not(label, is_label_character);
    if (bad != label.end() && options_.dialect != Dialect::Tract) {
        return refuse(fmt::format("the label '{}' contains '{}'", label, *bad));
    }
    if (leaves_folder(label)) {
        return refuse(fmt::format("the label '{}' is no path inside of the model", label));
    }
    return true;
}

// Variables with the same label, ignoring case, share their data.
Value Expander::share_variable(const Call& call,
                               const ir::Tensor& tensor,
                               size_t first,
                               const Frame& frame) {
    const StoredVariable& other = imported_.variables[first];
    const ir::Tensor& known = builder_.program().tensors[other.tensor];
    const bool same_shape = known.shape == tensor.shape;
    if (same_shape && known.dtype == tensor.dtype) return {other.tensor};
    report(call.spans[same_shape ? 1 : 0],
           DiagKind::ExtentMismatch,
           same_shape
               ? fmt::format("variables with the label '{}' have different types", other.label)
               : fmt::format("the variable has shape {}, and another with the label '{}' {}",
                             shape_text(tensor.shape),
                             other.label,
                             shape_text(known.shape)),
           frame)
        .note(other.span, "the other is here")
        .note(
            "NNEF 1.0.4, 4.1.3: variables with the same label, without regard to case, must have "
            "the same shape");
    return {};
}

Value Expander::make_variable(const Call& call, const Frame& frame) {
    const std::string& label = std::get<std::string>(call.arguments[1].node);
    auto tensor = shaped_tensor(call, frame);
    if (!label_is_good(call, label, frame) || !tensor) return {};
    if (const auto kind = options_.stored_kind ? options_.stored_kind(label) : std::nullopt) {
        tensor->dtype = tensor::is_real(*kind)      ? options_.scalar
                        : tensor::is_integer(*kind) ? options_.integer
                                                    : *kind;
    }
    if (call.target.valid()) {
        const auto* name = std::get_if<Identifier>(&expr(call.target).node);
        if (name) variable_names_.insert(name->name);
    }
    const auto [place, added] =
        variable_by_label_.emplace(lower_case(label), imported_.variables.size());
    if (!added) return share_variable(call, *tensor, place->second, frame);
    tensor->role = ir::TensorRole::Variable;
    StoredVariable variable{
        .tensor = {}, .label = label, .dtype = tensor->dtype, .shape = {}, .span = call.span};
    for (const Value& extent : *call.arguments[0].items()) {
        variable.shape.push_back(std::get<int64_t>(extent.node));
    }
    variable.tensor = builder_.add_tensor(std::move(*tensor));
    imported_.variables.push_back(std::move(variable));
    return {imported_.variables.back().tensor};
}

Value Expander::make_update(const Call& call, const Frame& frame) {
    const auto variable = std::get<ir::TensorId>(call.arguments[0].node);
    const auto value = std::get<ir::TensorId>(call.arguments[1].node);
    const auto& tensors = builder_.program().tensors;
    const auto refuse = [&](size_t argument, std::string message) {
        return report(call.spans[argument], DiagKind::AssertFailed, std::move(message), frame);
    };
    if (tensors[variable].role != ir::TensorRole::Variable) {
        refuse(0, "`update` of a tensor that is no variable")
            .note("NNEF 1.0.4, 4.8: only the result of `variable` can be updated");
        return {};
    }
    if (tensors[variable].shape != tensors[value].shape) {
        refuse(1,
               fmt::format("the new value has shape {}, expected {}",
                           shape_text(tensors[value].shape),
                           shape_text(tensors[variable].shape)))
            .note("NNEF 1.0.4, 4.8: the shape of `value` must equal that of `variable`");
        return {};
    }
    const auto [first, added] = updates_by_variable_.emplace(variable.value, call.span);
    if (!added) {
        refuse(0, "the variable is updated a second time")
            .note(first->second, "the first update is here")
            .note("NNEF 1.0.4, 4.8: each variable can only be updated once in a cycle");
        return {};
    }
    updates_.push_back({variable, value});
    return {value};
}

}  // namespace lemma::nnef1
