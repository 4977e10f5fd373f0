// SPDX-License-Identifier: Apache-2.0
#include "sonnx/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "onnx/import.h"

namespace lemma::sonnx {

namespace {

// Operators whose definitions can give their first input back.
bool may_change_nothing(std::string_view op) {
    constexpr std::array<std::string_view, 17> kOperators = {"Cast",
                                                             "Clip",
                                                             "Concat",
                                                             "Dropout",
                                                             "Expand",
                                                             "Flatten",
                                                             "Identity",
                                                             "Max",
                                                             "Min",
                                                             "Pad",
                                                             "Reshape",
                                                             "Slice",
                                                             "Squeeze",
                                                             "Sum",
                                                             "Tile",
                                                             "Transpose",
                                                             "Unsqueeze"};
    return std::ranges::find(kOperators, op) != kOperators.end();
}

}  // namespace

void add_unchanged_types(const onnx::Model& model, InferredTypes& types) {
    for (const onnx::Node& node : model.graphs[model.main].nodes) {
        if (!may_change_nothing(node.op) || !onnx::is_default_domain(node.domain)) continue;
        if (node.outputs.empty() || node.outputs[0].empty() || !has_input(node, 0)) continue;
        const auto from = types.find(node.inputs[0]);
        if (from != types.end()) types.emplace(node.outputs[0], TensorType(from->second));
    }
}

InferredTypes inferred_types(const ir::Program& program) {
    InferredTypes types;
    for (const ir::Tensor& tensor : program.tensors) {
        TensorType type{.elem_type = tensor::onnx_type_of(tensor.dtype), .shape = Extents()};
        for (const ir::SymId extent : tensor.shape) {
            const auto value = program.symbols.as_int(extent);
            if (!value) {
                type.shape.reset();
                break;
            }
            type.shape->push_back(*value);
        }
        types.emplace(tensor.name, std::move(type));
    }
    return types;
}

View::View(const Subject& subject)
    : subject_(subject), graph_(subject.model.graphs[subject.model.main]) {
    for (const onnx::OperatorSet& set : subject.model.opsets) {
        if (onnx::is_default_domain(set.domain)) opset_ = set.version;
    }
    for (const onnx::TensorData& data : graph_.initializers)
        initializers_.emplace(data.proto.name, &data);
    for (const auto* list : {&graph_.inputs, &graph_.outputs, &graph_.values}) {
        for (const onnx::ValueInfo& value : *list) declared_[value.name].push_back(&value);
    }
    for (const onnx::Node& node : graph_.nodes) {
        for (const std::string& output : node.outputs) {
            if (!output.empty()) makers_.emplace(output, &node);
        }
    }
    count_uses(graph_.nodes);
    for (const onnx::ValueInfo& output : graph_.outputs) ++uses_[output.name];
}

// Sub-graphs can use the names around them. The reader limits their depth.
void View::count_uses(const std::vector<onnx::Node>& nodes) {
    for (const onnx::Node& node : nodes) {
        for (const std::string& input : node.inputs) ++uses_[input];
        for (const onnx::Attribute& attribute : node.attributes) {
            for (const onnx::GraphId id : attribute.graphs) {
                const onnx::Graph& inner = subject_.model.graphs[id];
                count_uses(inner.nodes);
                for (const onnx::ValueInfo& output : inner.outputs) ++uses_[output.name];
            }
        }
    }
}

namespace {

template <class T>
const T* look_up(const std::unordered_map<std::string, const T*>& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? nullptr : found->second;
}

}  // namespace

const onnx::TensorData* View::initializer(const std::string& name) const {
    return look_up(initializers_, name);
}
const onnx::ValueInfo* View::declared(const std::string& name) const {
    const auto& all = declarations(name);
    return all.empty() ? nullptr : all.front();
}
const std::vector<const onnx::ValueInfo*>& View::declarations(const std::string& name) const {
    static const std::vector<const onnx::ValueInfo*> kNone;
    const auto found = declared_.find(name);
    return found == declared_.end() ? kNone : found->second;
}
const onnx::Node* View::maker(const std::string& name) const { return look_up(makers_, name); }
bool View::is_used(const std::string& name) const { return uses_.contains(name); }

std::optional<TensorType> View::type(const std::string& name) const {
    if (name.empty()) return std::nullopt;
    if (const auto* data = initializer(name))
        return TensorType{.elem_type = data->proto.data_type, .shape = data->proto.shape};
    TensorType type;
    const onnx::ValueInfo* value = declared(name);
    if (value && value->kind == onnx::TypeKind::Tensor) {
        type.elem_type = value->elem_type;
        const auto is_static = [](const onnx::Dimension& each) {
            return each.value && *each.value >= 0;
        };
        if (value->shape && std::ranges::all_of(*value->shape, is_static)) {
            type.shape.emplace();
            for (const onnx::Dimension& each : *value->shape) type.shape->push_back(*each.value);
        }
    }
    const auto inferred = subject_.inferred.find(name);
    if (inferred != subject_.inferred.end()) {
        if (type.elem_type == 0) type.elem_type = inferred->second.elem_type;
        if (!type.shape) type.shape = inferred->second.shape;
    }
    if (type.elem_type == 0 && !type.shape) return std::nullopt;
    return type;
}

std::optional<Extents> View::shape(const std::string& name) const {
    const auto known = type(name);
    return known ? known->shape : std::nullopt;
}
std::optional<Extents> View::input_shape(const onnx::Node& node, size_t index) const {
    return has_input(node, index) ? shape(node.inputs[index]) : std::nullopt;
}
std::optional<Extents> View::output_shape(const onnx::Node& node, size_t index) const {
    return index < node.outputs.size() ? shape(node.outputs[index]) : std::nullopt;
}

const onnx::TensorData* View::constant_data(const std::string& name) const {
    if (const auto* data = initializer(name)) return data;
    const onnx::Node* node = maker(name);
    if (!node || node->op != "Constant") return nullptr;
    const onnx::Attribute* value = onnx::find_attribute(*node, "value");
    return value && value->tensors.size() == 1 ? &value->tensors[0] : nullptr;
}

bool View::is_constant(const std::string& name) const {
    if (initializer(name)) return true;
    const onnx::Node* node = maker(name);
    return node && node->op == "Constant";
}

namespace {

// The value of a Constant in one of its short forms.
std::optional<tensor::Tensor> short_constant(const onnx::Node& node) {
    const auto make = [](tensor::DType dtype, const auto& items, bool is_list) {
        const auto count = static_cast<int64_t>(items.size());
        auto tensor = tensor::Tensor::zeros(dtype, is_list ? Extents{count} : Extents{});
        if (!tensor) return std::optional<tensor::Tensor>();
        for (int64_t i = 0; i < count; ++i) {
            const auto item = items[static_cast<size_t>(i)];
            tensor::is_real(dtype) ? tensor->set_real(i, static_cast<double>(item))
                                   : tensor->set_integer(i, static_cast<int64_t>(item));
        }
        return std::optional(std::move(*tensor));
    };
    for (const onnx::Attribute& attribute : node.attributes) {
        if (attribute.name == "value_int" && attribute.ints.size() == 1)
            return make(tensor::DType::I64, attribute.ints, false);
        if (attribute.name == "value_ints") return make(tensor::DType::I64, attribute.ints, true);
        if (attribute.name == "value_float" && attribute.floats.size() == 1)
            return make(tensor::DType::F32, attribute.floats, false);
        if (attribute.name == "value_floats")
            return make(tensor::DType::F32, attribute.floats, true);
    }
    return std::nullopt;
}

}  // namespace

std::optional<tensor::Tensor> View::constant_tensor(const std::string& name,
                                                    int64_t max_items) const {
    const onnx::TensorData* data = constant_data(name);
    if (!data) {
        const onnx::Node* node = maker(name);
        const bool constant = node && node->op == "Constant";
        return constant ? short_constant(*node) : std::nullopt;
    }
    const auto count = element_count(data->proto.shape);
    if (!count || *count < 0 || *count > max_items || data->proto.external) return std::nullopt;
    auto tensor = onnx::decode_tensor(*data, {});
    if (!tensor) return std::nullopt;
    return std::move(*tensor);
}

std::optional<std::vector<int64_t>> View::constant_ints(const std::string& name,
                                                        int64_t max_items) const {
    const auto tensor = constant_tensor(name, max_items);
    if (!tensor || !tensor::is_integer(tensor->dtype())) return std::nullopt;
    std::vector<int64_t> values;
    for (int64_t i = 0; i < tensor->size(); ++i) values.push_back(tensor->integer(i));
    return values;
}

bool has_input(const onnx::Node& node, size_t index) {
    return index < node.inputs.size() && !node.inputs[index].empty();
}

std::optional<int64_t> int_attribute(const onnx::Node& node, std::string_view name) {
    const onnx::Attribute* found = onnx::find_attribute(node, name);
    if (!found || found->type != onnx::AttributeType::Int || found->ints.empty())
        return std::nullopt;
    return found->ints.front();
}
std::optional<std::vector<int64_t>> ints_attribute(const onnx::Node& node, std::string_view name) {
    const onnx::Attribute* found = onnx::find_attribute(node, name);
    if (!found || found->type != onnx::AttributeType::Ints) return std::nullopt;
    return found->ints;
}
std::optional<std::string> text_attribute(const onnx::Node& node, std::string_view name) {
    const onnx::Attribute* found = onnx::find_attribute(node, name);
    if (!found || found->type != onnx::AttributeType::String || found->strings.empty())
        return std::nullopt;
    return found->strings.front();
}

std::optional<float> float_attribute(const onnx::Node& node, std::string_view name) {
    const onnx::Attribute* found = onnx::find_attribute(node, name);
    if (!found || found->type != onnx::AttributeType::Float || found->floats.empty())
        return std::nullopt;
    return found->floats.front();
}

std::string shape_text(const Extents& shape) {
    if (shape.empty()) return "scalar";
    constexpr size_t kMaxShown = 16;
    if (shape.size() <= kMaxShown) return fmt::format("{}", fmt::join(shape, "×"));
    return fmt::format(
        "{}×… (rank {})", fmt::join(shape.begin(), shape.begin() + kMaxShown, "×"), shape.size());
}

std::string list_text(const Extents& items) {
    constexpr size_t kMaxShown = 16;
    const size_t shown = std::min(items.size(), kMaxShown);
    return fmt::format("[{}{}]",
                       fmt::join(items.begin(), items.begin() + static_cast<int64_t>(shown), ", "),
                       shown < items.size() ? ", …" : "");
}

std::optional<int64_t> element_count(const Extents& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) {
        const auto product = checked_mul(count, extent);
        if (!product) return std::nullopt;
        count = *product;
    }
    return count;
}

}  // namespace lemma::sonnx
