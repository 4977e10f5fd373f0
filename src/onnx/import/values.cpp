// SPDX-License-Identifier: Apache-2.0
// Values of names, and what is known about them.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"
#include "onnx/read.h"

namespace lemma::onnx {

namespace {

// More reals than this are weights, not scales of Resize.
constexpr int64_t kMaxKnownReals = 64;
// Larger constants are stored outside of the program, like variables.
constexpr int64_t kMaxConstantItems = 256;
// Depth of calls that lead to an input which decides a shape; deeper ones are left to the run.
constexpr int kMaxDecideDepth = 500;

// Whether all elements are the same integer, as the zero points of channels mostly are.
bool is_one_integer(const ConstantValue& known) {
    return std::ranges::all_of(known.items, [&](const Scalar& item) {
        return std::holds_alternative<int64_t>(item) && item == known.items[0];
    });
}

bool may_be_known(DType dtype, int64_t count) {
    return count <= (tensor::is_real(dtype) ? kMaxKnownReals : kMaxKnownItems);
}

}  // namespace

ValueId Importer::broken_value(const std::string& name) {
    Value value{.name = name};
    value.broken = true;
    return add_value(std::move(value));
}

ValueId Importer::tensor_value(ir::TensorId tensor, const std::string& name) {
    Value value{.name = name, .tensor = tensor};
    value.known = nullptr;
    return add_value(std::move(value));
}

ValueId Importer::known_value(ConstantValue known, const std::string& name) {
    Value value{.name = name};
    value.known = std::make_shared<const ConstantValue>(std::move(known));
    return add_value(std::move(value));
}

ValueId Importer::constant(ConstantValue known, std::string name) {
    return known_value(std::move(known), name.empty() ? "constant" : name);
}

bool Importer::any_broken(const std::vector<ValueId>& ids) const {
    return std::ranges::any_of(ids, [&](ValueId id) { return id.valid() && values_[id].broken; });
}

DType Importer::dtype(ValueId id) {
    if (!id.valid()) return DType::F32;
    const Value& value = values_[id];
    if (value.tensor.valid()) return builder_.program().tensors[value.tensor].dtype;
    if (value.known && *value.known) return (*value.known)->dtype;
    if (value.data) return memory_type(value.data->proto.data_type).value_or(DType::F32);
    return DType::F32;
}

std::vector<ir::SymId> Importer::shape(ValueId id) {
    if (!id.valid()) return {};
    const Value& value = values_[id];
    if (value.tensor.valid()) return builder_.program().tensors[value.tensor].shape;
    Shape extents;
    if (value.known && *value.known) {
        extents = (*value.known)->shape;
    } else if (value.data) {
        extents = value.data->proto.shape;
    }
    std::vector<ir::SymId> result;
    for (const int64_t extent : extents) result.push_back(symbols().integer(extent));
    return result;
}

Result<ConstantValue> Importer::known_tensor(const TensorData& data) {
    // The import depends on no large tensor, so these do not decide the program.
    static_assert(kMaxKnownItems * int64_t{sizeof(int64_t)} < kLargeElements);
    reads_files_ |= data.proto.external.has_value();
    LEMMA_TRY(const tensor::Tensor decoded, decode_tensor(data, options_.read_external));
    return constant_of(decoded);
}

const ConstantValue* Importer::known(ValueId id) {
    if (!id.valid()) return nullptr;
    Value& value = values_[id];
    if (value.known) return value.known->get();
    value.known = nullptr;
    const auto type = value.data ? memory_type(value.data->proto.data_type) : std::nullopt;
    const auto count = value.data ? tensor::volume(value.data->proto.shape) : std::nullopt;
    if (!type || !count || !may_be_known(*type, *count)) return nullptr;
    Result<ConstantValue> decoded = known_tensor(*value.data);
    if (!decoded) {
        diag_.error(span(value.data->place), DiagKind::BadData, decoded.error().message);
        failed_ = true;
        value.broken = true;
        return nullptr;
    }
    value.known = std::make_shared<const ConstantValue>(std::move(*decoded));
    return value.known->get();
}

const ConstantValue* Importer::decided(ValueId id) {
    if (!id.valid()) return nullptr;
    if (const ConstantValue* const always = known(id)) return always;
    if (values_[id].asked) return values_[id].given.get();
    values_[id].asked = true;
    std::shared_ptr<const ConstantValue> found;
    if (values_[id].graph_input) {
        const std::string& name = values_[id].name;
        const auto given = options_.inputs.find(name);
        if (given == options_.inputs.end()) {
            undecided_.insert(name);
            values_[id].undecided = true;
        } else if (given->second.size() <= kMaxKnownItems) {
            deciding_.insert(name);
            found = std::make_shared<const ConstantValue>(constant_of(given->second));
        }
    } else if (values_[id].maker && decide_depth_ < kMaxDecideDepth) {
        ++decide_depth_;
        const std::shared_ptr<const NodeCall> maker = values_[id].maker;
        const size_t output = values_[id].maker_output;
        auto results = fold_known(*maker, true);
        --decide_depth_;
        if (results && output < results->size())
            found = std::make_shared<const ConstantValue>(std::move((*results)[output]));
        values_[id].undecided = !found && std::ranges::any_of(maker->inputs, [&](ValueId input) {
            return input.valid() && values_[input].undecided;
        });
    }
    values_[id].given = found;
    return found.get();
}

// ---- Tensors ------------------------------------------------------------------------------------

ir::TensorId Importer::constant_tensor(const ConstantValue& known, const std::string& name) {
    ir::Tensor tensor;
    tensor.name = name;
    tensor.dtype = known.dtype;
    tensor.role = ir::TensorRole::Constant;
    for (const int64_t extent : known.shape) tensor.shape.push_back(symbols().integer(extent));
    tensor.items = known.items;
    if (known.size() > kMaxConstantItems && is_one_integer(known)) tensor.items.resize(1);
    return builder_.add_tensor(std::move(tensor));
}

ir::TensorId Importer::variable_tensor(const TensorData& data, const std::string& name) {
    ir::Tensor tensor;
    tensor.name = name;
    tensor.dtype = *memory_type(data.proto.data_type);
    tensor.role = ir::TensorRole::Variable;
    for (const int64_t extent : data.proto.shape) tensor.shape.push_back(symbols().integer(extent));
    const ir::TensorId id = builder_.add_tensor(std::move(tensor));
    data_.push_back({id, data});
    return id;
}

ir::TensorId Importer::tensor(ValueId id) {
    if (values_[id].tensor.valid()) return values_[id].tensor;
    const std::string name = values_[id].name;
    const ConstantValue* const items = known(id);
    const TensorData* const data = values_[id].data;
    const bool small = items && (items->size() <= 1 || !tensor::is_real(items->dtype)) &&
                       (items->size() <= kMaxConstantItems || is_one_integer(*items));
    ir::TensorId made;
    if (data && !small && !values_[id].broken) {
        made = variable_tensor(*data, name);
    } else if (items) {
        made = constant_tensor(*items, name);
    } else {
        made = constant_tensor({.dtype = DType::F32, .shape = {}, .items = {0.0}}, name);
    }
    values_[id].tensor = made;
    return made;
}

bool Importer::fail(const NodeCall& call, DiagKind kind, std::string message) {
    diag_.error(call.span, kind, std::move(message));
    failed_ = true;
    return false;
}

}  // namespace lemma::onnx
