// Operators that move elements: padding, resizing, splitting.
#include <fmt/format.h>

#include <array>

#include "onnx/import/normalise.h"

namespace lemma::onnx {

namespace {

bool concat_axis(Importer&, NodeCall& call) {
    if (!call.attributes.has("axis")) call.attributes.set_int("axis", 1);
    return true;
}

// Pads and the value were attributes; in the first opset the pads had another name.
bool pad_value_to_input(Importer& importer, NodeCall& call) {
    call.attributes.rename("paddings", "pads");
    const auto value = call.attributes.real("value");
    call.attributes.erase("value");
    if (!value || !call.has_input(0)) return true;
    const DType dtype = importer.dtype(call.inputs[0]);
    const Scalar item =
        tensor::is_real(dtype) ? Scalar(*value) : Scalar(static_cast<int64_t>(*value));
    call.inputs = {call.inputs[0], ValueId{}, importer.constant({dtype, {}, {item}}, "value")};
    return true;
}

// The value may come as a list of one.
bool single_pad_value(Importer& importer, NodeCall& call) {
    if (!call.has_input(2) || importer.rank(call.inputs[2]) != 1) return true;
    Attributes attributes;
    attributes.set_ints("axes", {0});
    call.inputs[2] = importer.make(call, "Squeeze", {call.inputs[2]}, attributes);
    return true;
}

bool first_resize(Importer&, NodeCall& call) {
    call.attributes.set_text("coordinate_transformation_mode", "asymmetric");
    call.attributes.set_text("nearest_mode", "floor");
    if (call.inputs.size() == 2) call.inputs.insert(call.inputs.begin() + 1, ValueId{});
    return true;
}

// Upsample is what Resize was at first.
bool upsample(Importer& importer, NodeCall& call) {
    if (call.attributes.text("mode") == "bilinear") call.attributes.set_text("mode", "linear");
    const auto height = call.attributes.real("height_scale");
    const auto width = call.attributes.real("width_scale");
    call.attributes.erase("height_scale");
    call.attributes.erase("width_scale");
    if (height && width) call.attributes.set("scales", ir::Pack{{1.0, 1.0, *height, *width}});
    call.op = "Resize";
    return first_resize(importer, call);
}

bool scatter(Importer&, NodeCall& call) {
    call.op = "ScatterElements";
    return true;
}

// The number of results says how many parts there are.
bool split_parts(Importer&, NodeCall& call) {
    if (call.has_input(1) || call.attributes.has("split")) {
        call.attributes.erase("num_outputs");
        return true;
    }
    if (!call.attributes.has("num_outputs"))
        call.attributes.set_int("num_outputs", static_cast<int64_t>(call.outputs.size()));
    return true;
}

bool first_tile(Importer& importer, NodeCall& call) {
    return importer.not_supported(call, "`Tile` of an opset before 6 is not supported");
}

// The scale of a mode had another name.
bool grid_sample_mode(Importer&, NodeCall& call) {
    const auto mode = call.attributes.text("mode");
    if (!mode || mode == "bilinear") call.attributes.set_text("mode", "linear");
    if (mode == "bicubic") call.attributes.set_text("mode", "cubic");
    return true;
}

// Roots and the like of integers are computed in reals and rounded towards zero, as casts do.
// `count` inputs are operands, the others are axes.
template <size_t count>
bool whole_by_reals(Importer& importer, NodeCall& call) {
    if (call.has_input(0) && !tensor::is_real(importer.dtype(call.inputs[0])))
        compute_in(importer, DType::F64, count, call);
    return true;
}

bool dft_axis(Importer&, NodeCall& call) {
    if (!call.attributes.has("axis")) call.attributes.set_int("axis", 1);
    return true;
}

constexpr std::array kRows = {
    NormaliseRow{"Concat", 4, concat_axis},
    NormaliseRow{"Pad", 11, pad_value_to_input},
    NormaliseRow{"Pad", kAnyOpset, single_pad_value},
    NormaliseRow{"Resize", 11, first_resize},
    NormaliseRow{"Upsample", kAnyOpset, upsample},
    NormaliseRow{"Scatter", kAnyOpset, scatter},
    NormaliseRow{"Split", kAnyOpset, split_parts},
    NormaliseRow{"Tile", 6, first_tile},
    NormaliseRow{"GridSample", 20, grid_sample_mode},
    NormaliseRow{"DFT", 20, dft_axis},
    NormaliseRow{"ReduceL2", kAnyOpset, whole_by_reals<1>},
    NormaliseRow{"ReduceLogSum", kAnyOpset, whole_by_reals<1>},
    NormaliseRow{"ReduceLogSumExp", kAnyOpset, whole_by_reals<1>},
    NormaliseRow{"Erf", kAnyOpset, whole_by_reals<1>},
    NormaliseRow{"GridSample", kAnyOpset, whole_by_reals<2>},
};

}  // namespace

std::span<const NormaliseRow> shape_rows() { return kRows; }

}  // namespace lemma::onnx
