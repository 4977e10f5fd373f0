// SPDX-License-Identifier: Apache-2.0
// Casts, means, parts and labels.
#include <fmt/format.h>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

// Older opsets name the type by a string.
bool normalise_cast(Importer& importer, NodeCall& call) {
    const auto name = call.attributes.text("to");
    if (!name) return true;
    constexpr int64_t kTypes = 17;
    for (int64_t code = 1; code < kTypes; ++code) {
        if (tensor::onnx_type_name(code) != *name) continue;
        call.attributes.set_int("to", code);
        return true;
    }
    return importer.fail(
        call, DiagKind::BadArgument, fmt::format("`to` is `{}`, which is no type", *name));
}

bool normalise_cast_like(Importer& importer, NodeCall& call) {
    if (call.inputs.size() != 2 || !call.has_input(1)) return true;
    call.types = {importer.dtype(call.inputs[1])};
    call.op = "Cast";
    call.inputs.pop_back();
    return true;
}

bool normalise_mean(Importer& importer, NodeCall& call) {
    const auto count = static_cast<int64_t>(call.inputs.size());
    two_by_two(importer, call, "Add");
    if (call.op == "Mean") return true;
    call.inputs = {importer.make(call, "Add", call.inputs)};
    call.op = "mean_of_sum";
    call.attributes.set_int("count", count);
    return true;
}

// The number of results is the number of parts.
bool normalise_split(Importer&, NodeCall& call) {
    if (call.has_input(1) || call.attributes.has("split")) {
        call.attributes.erase("num_outputs");
        return true;
    }
    if (!call.attributes.has("num_outputs"))
        call.attributes.set_int("num_outputs", static_cast<int64_t>(call.outputs.size()));
    return true;
}

// The first opset had a scale for each of the two axes of an image.
bool normalise_upsample(Importer&, NodeCall& call) {
    const auto height = call.attributes.real("height_scale");
    const auto width = call.attributes.real("width_scale");
    call.attributes.erase("height_scale");
    call.attributes.erase("width_scale");
    if (height && width) call.attributes.set("scales", ir::Pack{{1.0, 1.0, *height, *width}});
    return true;
}

// The results have the type of the values, which are a list or a tensor.
bool normalise_label_encoder(Importer& importer, NodeCall& call) {
    if (!call.has_input(0)) return true;
    DType values = DType::Str;
    if (call.attributes.has("values_floats")) values = DType::F32;
    if (call.attributes.has("values_int64s")) values = DType::I64;
    const auto given = call.parts.find("values_tensor");
    if (given != call.parts.end() && given->second->tensors.size() == 1)
        values = memory_type(given->second->tensors[0].proto.data_type).value_or(values);
    call.types = {importer.dtype(call.inputs[0]), values};
    const auto usual = call.attributes.list("default_tensor");
    if (usual && usual->size() == 1) call.attributes.set("default_tensor", (*usual)[0]);
    // A default of another type has no effect.
    if (values != DType::F32) call.attributes.erase("default_float");
    if (values != DType::I64) call.attributes.erase("default_int64");
    if (values != DType::Str) call.attributes.erase("default_string");
    return true;
}

}  // namespace lemma::onnx
