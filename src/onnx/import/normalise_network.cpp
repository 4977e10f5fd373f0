// Layers of networks: normalisations, softmax, dropout, pooling.
#include <fmt/format.h>

#include <array>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

bool batch_normalization(Importer& importer, NodeCall& call) {
    if (call.attributes.integer("spatial").value_or(1) == 0) {
        return importer.not_supported(call,
                                      "`BatchNormalization` with `spatial` = 0 is not supported");
    }
    call.attributes.erase("spatial");
    call.attributes.erase("is_test");
    // Statistics come out in training only.
    bool training = false;
    for (size_t i = 1; i < call.outputs.size(); ++i) training |= !call.outputs[i].empty();
    if (training) call.attributes.set_int("training_mode", 1);
    if (call.outputs.size() > 3) call.outputs.resize(3);
    return true;
}

bool dropout(Importer&, NodeCall& call) {
    call.attributes.erase("is_test");
    return true;
}

// Before opset 13 the input was flattened to a matrix at `axis`, whose rows were normalised.
bool flat_softmax(Importer& importer, NodeCall& call) {
    if (!call.has_input(0)) return true;
    const std::vector<ir::SymId> shape = importer.shape(call.inputs[0]);
    const int64_t given = call.attributes.integer("axis").value_or(1);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis > rank) {
        return importer.fail(call,
                             DiagKind::BadArgument,
                             fmt::format("`axis` is {}, but the input has rank {}", given, rank));
    }
    call.attributes.set_int("axis", -1);
    if (axis == rank - 1) return true;
    Attributes flatten;
    flatten.set_int("axis", axis);
    const ValueId flat = importer.make(call, "Flatten", {call.inputs[0]}, flatten);
    Attributes rows;
    rows.set_int("axis", -1);
    const ValueId soft = importer.make(call, call.op, {flat}, rows);
    call.op = "Reshape";
    call.inputs = {soft};
    call.attributes = {};
    ir::Pack extents{.type = ir::ScalarType::Int};
    for (const ir::SymId extent : shape)
        extents.items.push_back(to_scalar(extent, importer.symbols()));
    call.attributes.set("shape", std::move(extents));
    call.attributes.set_int("allowzero", 1);
    return true;
}

// Scale and bias were given for each group, not for each channel.
bool group_normalization(Importer& importer, NodeCall& call) {
    const auto groups = call.attributes.integer("num_groups");
    if (call.inputs.size() != 3 || !groups || *groups < 1) return true;
    const std::vector<ir::SymId> shape = importer.shape(call.inputs[0]);
    const auto channels = shape.size() > 1 ? importer.symbols().as_int(shape[1]) : std::nullopt;
    if (!channels || *channels % *groups != 0) {
        return importer.not_supported(
            call, "`GroupNormalization` of opset 18 needs a known number of channels");
    }
    for (const size_t input : {1, 2}) {
        Attributes unsqueeze, expand, reshape;
        unsqueeze.set_ints("axes", {1});
        expand.set_ints("shape", {*groups, *channels / *groups});
        reshape.set_ints("shape", {*channels});
        ValueId value = importer.make(call, "Unsqueeze", {call.inputs[input]}, unsqueeze);
        value = importer.make(call, "Expand", {value}, expand);
        call.inputs[input] = importer.make(call, "Reshape", {value}, reshape);
    }
    return true;
}

// The result has the type of the scale, and is computed in the one of the input.
bool rms_normalization(Importer& importer, NodeCall& call) {
    if (!call.has_input(0) || !call.has_input(1)) return true;
    const DType own = importer.dtype(call.inputs[0]);
    const DType wanted = importer.dtype(call.inputs[1]);
    if (own == wanted) return true;
    compute_in(importer, own, call.inputs.size(), call);
    call.result_type = wanted;
    return true;
}

// All is computed in the type that `stash_type` names; mean and deviation keep it.
bool layer_normalization(Importer& importer, NodeCall& call) {
    const auto code = call.attributes.integer("stash_type").value_or(1);
    const auto wide = tensor::dtype_of_onnx(code);
    if (!wide || !tensor::is_real(*wide)) {
        return importer.fail(call,
                             DiagKind::BadArgument,
                             fmt::format("`stash_type` is {}, which is no type of reals", code));
    }
    if (call.has_input(0) && importer.dtype(call.inputs[0]) != *wide)
        compute_in(importer, *wide, call.inputs.size(), call);
    return true;
}

// The same, and the result has the type of the scale.
bool simplified_layer_normalization(Importer& importer, NodeCall& call) {
    if (!call.has_input(0) || !call.has_input(1)) return true;
    const DType own = importer.dtype(call.inputs[0]);
    const DType wanted = importer.dtype(call.inputs[1]);
    if (!layer_normalization(importer, call)) return false;
    if (own != wanted || call.result_type) call.result_type = wanted;
    return true;
}

// The exponent was a float.
bool whole_exponent(Importer&, NodeCall& call) {
    const auto p = call.attributes.real("p");
    if (p) call.attributes.set_int("p", static_cast<int64_t>(*p));
    return true;
}

bool roi_align(Importer&, NodeCall& call) {
    call.attributes.set_text("coordinate_transformation_mode", "output_half_pixel");
    return true;
}

bool recurrent(Importer&, NodeCall& call) {
    call.attributes.erase("output_sequence");
    return true;
}

constexpr std::array kRows = {
    NormaliseRow{"BatchNormalization", 14, batch_normalization},
    NormaliseRow{"Dropout", 12, dropout},
    NormaliseRow{"Softmax", 13, flat_softmax},
    NormaliseRow{"LogSoftmax", 13, flat_softmax},
    NormaliseRow{"Hardmax", 13, flat_softmax},
    NormaliseRow{"GroupNormalization", 21, group_normalization},
    NormaliseRow{"LayerNormalization", kAnyOpset, layer_normalization},
    NormaliseRow{"RMSNormalization", kAnyOpset, rms_normalization},
    NormaliseRow{"SimplifiedLayerNormalization", kAnyOpset, simplified_layer_normalization},
    NormaliseRow{"LpPool", 2, whole_exponent},
    NormaliseRow{"GlobalLpPool", 2, whole_exponent},
    NormaliseRow{"RoiAlign", 16, roi_align},
    NormaliseRow{"RNN", 7, recurrent},
    NormaliseRow{"GRU", 7, recurrent},
    NormaliseRow{"LSTM", 7, recurrent},
};

}  // namespace

std::span<const NormaliseRow> network_rows() { return kRows; }

}  // namespace lemma::onnx
