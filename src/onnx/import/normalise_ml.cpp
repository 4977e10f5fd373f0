// Operators of the domain ai.onnx.ml.
#include <array>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

// The type of the results is that of the values, which come as a list or as a tensor.
bool label_encoder(Importer& importer, NodeCall& call) {
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
    // Defaults of other types than the values are there for no reason.
    if (values != DType::F32) call.attributes.erase("default_float");
    if (values != DType::I64) call.attributes.erase("default_int64");
    if (values != DType::Str) call.attributes.erase("default_string");
    return true;
}

constexpr std::array kRows = {NormaliseRow{"LabelEncoder", kAnyOpset, label_encoder}};

}  // namespace

std::span<const NormaliseRow> ml_rows() { return kRows; }

}  // namespace lemma::onnx
