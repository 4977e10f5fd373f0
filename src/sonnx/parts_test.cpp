// SPDX-License-Identifier: Apache-2.0
// Tests of the parts that rules use: hashes, windows, broadcasting; and of the explicit form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "diag/source.h"
#include "onnx/validate.h"
#include "onnx/write.h"
#include "sonnx/broadcast.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
#include "sonnx/matmul.h"
#include "sonnx/test_models.h"
#include "sonnx/test_operators.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

using namespace test;

TEST(Window, SizesFollowTheNotes) {
    // X=3, k=2, s=1, d=1 gives 2; the draft's formula gives 3 (note 8).
    EXPECT_EQ(output_extent({.input = 3, .kernel = 2}), 2);
    EXPECT_EQ(output_extent({.input = 7, .kernel = 3, .stride = 2, .dilation = 2}), 2);
    // The kernel exceeds the input: no size, where truncation would give 1 (note 11).
    EXPECT_EQ(output_extent({.input = 1, .kernel = 2, .stride = 2}), std::nullopt);
    EXPECT_EQ(output_extent({.input = 1, .kernel = 2, .stride = 2, .pad_end = 1}), 1);
    EXPECT_EQ(output_extent({.input = 5, .kernel = 2, .stride = 2}, true), 3);
    EXPECT_EQ(output_extent({.input = 1, .kernel = INT64_MAX, .dilation = 2}), std::nullopt);
}

TEST(Window, AutoPadTreatsEachAxisOnItsOwn) {
    // total = (4-1)*2 + 3 - 7 = 2, and (4-1)*2 + 2 - 7 = 1.
    WindowAxis even{.input = 7, .kernel = 3, .stride = 2};
    ASSERT_TRUE(resolve_auto_pad("SAME_UPPER", even));
    EXPECT_EQ(even.pad_begin, 1);
    EXPECT_EQ(even.pad_end, 1);
    WindowAxis odd{.input = 7, .kernel = 2, .stride = 2};
    ASSERT_TRUE(resolve_auto_pad("SAME_UPPER", odd));
    EXPECT_EQ(odd.pad_begin, 0);
    EXPECT_EQ(odd.pad_end, 1);
    ASSERT_TRUE(resolve_auto_pad("SAME_LOWER", odd));
    EXPECT_EQ(odd.pad_begin, 1);
    EXPECT_EQ(odd.pad_end, 0);
    EXPECT_FALSE(resolve_auto_pad("same", odd));
}

TEST(Window, PadsTheEndInsteadOfRoundingUp) {
    for (int64_t input = 1; input < 12; ++input) {
        for (const int64_t stride : {1, 2, 3, 4}) {
            WindowAxis axis{.input = input, .kernel = 3, .stride = stride, .pad_begin = 1};
            const auto wanted = output_extent(axis, true);
            const auto pad = end_pad_without_ceil(axis);
            ASSERT_EQ(wanted.has_value(), pad.has_value());
            if (!pad) continue;
            axis.pad_end = *pad;
            EXPECT_EQ(output_extent(axis), wanted) << input << ", " << stride;
            EXPECT_TRUE(every_window_hits(axis, *wanted));
        }
    }
    EXPECT_EQ(end_pad_without_ceil({.input = 4, .kernel = 1, .stride = 2}), 0);
}

TEST(Window, FindsWindowsOfPaddingOnly) {
    // pad = kernel satisfies the draft's R4 and still leaves the first window empty.
    EXPECT_FALSE(every_window_hits({.input = 4, .kernel = 2, .pad_begin = 2}, 5));
    EXPECT_TRUE(every_window_hits({.input = 4, .kernel = 2, .pad_begin = 1}, 4));
    // Dilation 2 over one element: taps at -1 and 1.
    EXPECT_FALSE(every_window_hits({.input = 1, .kernel = 2, .dilation = 2, .pad_begin = 1}, 1));
}

TEST(Broadcast, CommonShapes) {
    EXPECT_EQ(common_shape({{2, 1, 4, 5}, {3, 1, 5}}), (Extents{2, 3, 4, 5}));
    EXPECT_EQ(common_shape({{}, {3}}), Extents{3});
    EXPECT_EQ(common_shape({{0}, {1}}), Extents{0});  // note 66: not the maximum
    EXPECT_EQ(common_shape({{2}, {3}}), std::nullopt);
    EXPECT_EQ(common_shape({{2}, {1}, {3}}), std::nullopt);
}

// "axis=1 mode=constant " for a node without attributes.
std::string missing_text(const std::string& op, int64_t opset) {
    onnx::Model model = conforming_model();
    model.opsets = {{"", opset}};
    const Diagnostics base;
    const Subject subject{.model = model, .base = base};
    std::string text;
    for (const MissingAttribute& each :
         missing_attributes(make_node(op, {"r", "s"}, {"y"}), View(subject)))
        text += fmt::format("{}={} ", each.name, value_text(*each.value));
    return text;
}

TEST(Defaults, FollowTheOperatorSet) {
    EXPECT_EQ(missing_text("Add", 6), "broadcast=0 ");
    EXPECT_EQ(missing_text("Add", 7), "");
    EXPECT_EQ(missing_text("Clip", 10), "max=3.4028235e+38 min=-3.4028235e+38 ");
    EXPECT_EQ(missing_text("Clip", 11), "");
    EXPECT_EQ(missing_text("Softmax", 12), "axis=1 ");
    EXPECT_EQ(missing_text("Softmax", 13), "axis=-1 ");
    EXPECT_EQ(missing_text("BatchNormalization", 8), "epsilon=1e-05 momentum=0.9 spatial=1 ");
    EXPECT_EQ(missing_text("BatchNormalization", 14),
              "epsilon=1e-05 momentum=0.9 training_mode=0 ");
}

// New defaults of operator sets 18 to 26 for the operators of the profile, from the documentation.
TEST(Defaults, OfRecentOperatorSets) {
    struct Change {
        const char* op;
        int64_t opset;  // the first with these, up to the next row of the operator
        const char* defaults;
    };
    constexpr Change kChanges[] = {
        {"ArgMax", 17, "axis=0 keepdims=1 select_last_index=0 "},
        {"Cast", 17, ""},
        {"Cast", 19, "saturate=1 "},
        {"Cast", 24, "saturate=1 round_mode=up "},
        {"DequantizeLinear", 17, "axis=1 "},
        {"DequantizeLinear", 21, "axis=1 block_size=0 "},
        {"DequantizeLinear", 23, "axis=1 block_size=0 output_dtype=0 "},
        {"Flatten", 17, "axis=1 "},
        {"GRU", 17, "direction=forward layout=0 linear_before_reset=0 "},
        {"Gather", 17, "axis=0 "},
        {"LSTM", 17, "direction=forward input_forget=0 layout=0 "},
        {"LeakyRelu", 17, "alpha=0.01 "},
        {"Mod", 17, "fmod=0 "},
        {"Pad", 17, "mode=constant "},
        {"QuantizeLinear", 17, "axis=1 "},
        {"QuantizeLinear", 19, "axis=1 saturate=1 "},
        {"QuantizeLinear", 21, "axis=1 block_size=0 output_dtype=0 saturate=1 "},
        {"QuantizeLinear", 23, "axis=1 block_size=0 output_dtype=0 precision=0 saturate=1 "},
        {"ReduceMean", 17, "keepdims=1 "},
        {"ReduceMean", 18, "keepdims=1 noop_with_empty_axes=0 "},
        {"ReduceSum", 17, "keepdims=1 noop_with_empty_axes=0 "},
        {"Reshape", 17, "allowzero=0 "},
        {"Resize",
         17,
         "coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 exclude_outside=0 "
         "extrapolation_value=0 mode=nearest nearest_mode=round_prefer_floor "},
        {"Resize",
         18,
         "antialias=0 coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 "
         "exclude_outside=0 extrapolation_value=0 keep_aspect_ratio_policy=stretch mode=nearest "
         "nearest_mode=round_prefer_floor "},
        {"ScatterND", 17, "reduction=none "},
        {"Shape", 17, "start=0 "},
        {"Softmax", 17, "axis=-1 "},
        {"Split", 17, "axis=0 "},
        // No operator set added defaults to these.
        {"Add", 17, ""},
        {"Equal", 17, ""},
        {"Expand", 17, ""},
        {"Squeeze", 17, ""},
        {"Unsqueeze", 17, ""},
    };
    constexpr int64_t kNewest = 26;
    for (size_t i = 0; i < std::size(kChanges); ++i) {
        const bool last =
            i + 1 == std::size(kChanges) || std::string_view(kChanges[i + 1].op) != kChanges[i].op;
        const int64_t end = last ? kNewest : kChanges[i + 1].opset - 1;
        for (int64_t opset = kChanges[i].opset; opset <= end; ++opset) {
            EXPECT_EQ(missing_text(kChanges[i].op, opset), kChanges[i].defaults)
                << kChanges[i].op << " in operator set " << opset;
        }
    }
}

TEST(Write, ModelsComeBackAsTheyWere) {
    const onnx::Model model = conforming_model();
    const std::string bytes = onnx::write_model(model);
    const onnx::Model again = read(bytes);
    EXPECT_EQ(onnx::write_model(again), bytes);
    EXPECT_EQ(again.metadata.size(), 4U);
    EXPECT_EQ(again.version, 1);
    EXPECT_EQ(again.graphs[again.main].inputs[0].doc, "an image");
    EXPECT_EQ(again.graphs[again.main].nodes.size(), 7U);
    EXPECT_EQ(again.graphs[again.main].values.size(), 6U);
}

TEST(Write, KeepsFieldsThatNobodyKnows) {
    onnx::Model model = conforming_model();
    tensor::WireWriter unknown;
    unknown.put_int(999, 7);
    unknown.put_double(998, 0.5);
    unknown.put_bytes(997, "kept");
    model.rest = main_graph(model).rest = node_of(model, "c1").rest = unknown.bytes();
    value_of(model, "x").rest = unknown.bytes();
    onnx::Model again = read(onnx::write_model(model));
    EXPECT_EQ(again.rest, unknown.bytes());
    EXPECT_EQ(main_graph(again).rest, unknown.bytes());
    EXPECT_EQ(node_of(again, "c1").rest, unknown.bytes());
    EXPECT_EQ(value_of(again, "x").rest, unknown.bytes());
}

TEST(Fix, WritesTheExplicitForm) {
    const onnx::Model model = implicit_model();
    // The result of composing.
    InferredTypes inferred;
    for (const std::string name : {"a", "b", "c", "d", "e", "g"})
        inferred[name] = {.elem_type = 1, .shape = Extents{1, 4, 4, 4}};
    inferred["f"] = {.elem_type = 1, .shape = Extents{1, 4, 4, 1}};
    const Diagnostics base;
    const Subject subject{.model = model, .base = base, .inferred = inferred};
    EXPECT_FALSE(conforms(check(subject)));

    const Fixed fixed = make_explicit(subject);
    onnx::Model again = read(onnx::write_model(fixed.model));
    diag::SourceMap sources;
    Diagnostics fixed_base;
    onnx::validate(again, sources.add_paths("fixed.onnx", again.paths), fixed_base);
    EXPECT_FALSE(fixed_base.has_errors());
    const auto results = check({.model = again, .base = fixed_base});
    EXPECT_TRUE(conforms(results));
    for (const RuleResult& result : results) {
        if (result.severity == Severity::Advisory) continue;
        for (const Finding& finding : result.findings)
            ADD_FAILURE() << result.rule->id << ": " << finding.message;
    }
    EXPECT_EQ(onnx::find_attribute(node_of(again, "a"), "pads")->ints,
              (std::vector<int64_t>{1, 0, 1, 1}));
    EXPECT_EQ(onnx::find_attribute(node_of(again, "b"), "pads")->ints,
              (std::vector<int64_t>{1, 0, 0, 0}));
    EXPECT_EQ(onnx::find_attribute(node_of(again, "y"), "axis")->ints[0], 1);
    EXPECT_EQ(node_of(again, "c").inputs[1], "scale_expanded");
    EXPECT_FALSE(fixed.changes.empty());
}

TEST(Fix, LeavesConformingModelsAlone) {
    const onnx::Model model = conforming_model();
    const Diagnostics base;
    const Fixed fixed = make_explicit({.model = model, .base = base});
    EXPECT_TRUE(fixed.changes.empty());
    EXPECT_EQ(onnx::write_model(fixed.model), onnx::write_model(model));
}

// The model in explicit form, read back.
onnx::Model explicit_form(const onnx::Model& model, const InferredTypes& inferred = {}) {
    const Diagnostics base;
    const Fixed fixed = make_explicit({.model = model, .base = base, .inferred = inferred});
    return read(onnx::write_model(fixed.model));
}

Extents list_of(const onnx::Model& model, const std::string& name) {
    const Diagnostics base;
    const Subject subject{.model = model, .base = base};
    return View(subject).constant_ints(name).value_or(Extents{INT64_MIN});
}

TEST(Fix, GivesOptionalInputs) {
    onnx::Model model = operator_model();
    for (const char* name : {"Clip", "LSTM", "Gemm"}) node_of(model, name).inputs.resize(3);
    node_of(model, "Clip").inputs = {"a"};
    node_of(model, "Gemm").inputs.pop_back();
    node_of(model, "c1").inputs.pop_back();
    const onnx::Model fixed = explicit_form(model);
    onnx::Model again = fixed;
    const Diagnostics base;
    const Subject subject{.model = fixed, .base = base};
    EXPECT_TRUE(conforms(check(subject)));
    const View view(subject);
    const auto number = [&](const char* node, size_t input) {
        return view.constant_tensor(node_of(again, node).inputs[input])->real(0);
    };
    EXPECT_EQ(number("Clip", 1), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(number("Clip", 2), std::numeric_limits<double>::infinity());
    EXPECT_EQ(number("Gemm", 2), 0);
    EXPECT_EQ(list_of(fixed, node_of(again, "LSTM").inputs[4]), Extents{2});
    EXPECT_EQ(view.shape(node_of(again, "LSTM").inputs[3]), (Extents{1, 16}));
    EXPECT_EQ(view.shape(node_of(again, "c1").inputs[2]), Extents{4});
}

TEST(Fix, WritesTheListsOfSlices) {
    onnx::Model model = operator_model();
    set_shape(model, "Slice", {2, 2});
    ints(model, "starts", {1}, {-1});
    ints(model, "ends", {1}, {-9e18});
    ints(model, "axes", {1}, {-1});
    ints(model, "steps_of", {1}, {-2});
    onnx::Model fixed = explicit_form(model);
    const onnx::Node& node = node_of(fixed, "Slice");
    EXPECT_EQ(list_of(fixed, node.inputs[1]), (Extents{0, 2}));
    EXPECT_EQ(list_of(fixed, node.inputs[2]), (Extents{2, -4}));
    EXPECT_EQ(list_of(fixed, node.inputs[3]), (Extents{0, 1}));
    EXPECT_EQ(list_of(fixed, node.inputs[4]), (Extents{1, -2}));
}

TEST(Fix, TransposesMatricesOfGemm) {
    onnx::Model model = operator_model();
    set_attribute(node_of(model, "Gemm"), make_int("transA", 1));
    set_attribute(node_of(model, "Gemm"), make_int("transB", 1));
    node_of(model, "Gemm").inputs = {"at", "bt", "term"};
    main_graph(model).inputs.push_back(declaration("at", {3, 2}));
    constant(model, "bt", numbers(tensor::DType::F32, {4, 3}, {1, 2, 3, 4, 5, 6}));
    onnx::Model fixed = explicit_form(model);
    const onnx::Node& node = node_of(fixed, "Gemm");
    EXPECT_EQ(node_of(fixed, node.inputs[0]).op, "Transpose");
    const Diagnostics base;
    const Subject subject{.model = fixed, .base = base};
    const auto turned = View(subject).constant_tensor(node.inputs[1]);
    ASSERT_TRUE(turned.has_value());
    EXPECT_EQ(turned->shape(), (Extents{3, 4}));
    EXPECT_EQ(turned->real(1), 4);
    EXPECT_EQ(turned->real(4), 2);
    EXPECT_TRUE(conforms(check(subject)));
}

TEST(Fix, MakesConstantsInitialisers) {
    onnx::Model model = conforming_model();
    main_graph(model).initializers.pop_back();  // `flat`
    onnx::Node shape = make_node("Shape", {"j"}, {"shape"});
    onnx::Node constant_node = make_node("Constant", {}, {"k"});
    constant_node.attributes = {make_ints("value_ints", {0, -1})};
    onnx::Node join = make_node("Concat", {"shape", "k"}, {"lost"});
    join.attributes = {make_int("axis", 0)};
    auto& nodes = main_graph(model).nodes;
    nodes.insert(nodes.begin() + 4, {shape, constant_node, join});
    node_of(model, "r").inputs[1] = "k";
    const onnx::Model fixed = explicit_form(
        model, {{"shape", {.elem_type = 7, .shape = Extents{4}}}, {"k", {.elem_type = 7}}});
    EXPECT_EQ(fixed.graphs[fixed.main].nodes.size(), 7U);
    onnx::Model again = fixed;
    EXPECT_EQ(list_of(fixed, node_of(again, "r").inputs[1]), (Extents{1, 128}));
}

TEST(Fix, FoldsShapes) {
    onnx::Model model = operator_model();
    node_of(model, "Unsqueeze").inputs[1] = "axes_of";
    onnx::Node shape = make_node("Shape", {"x"}, {"axes_of"});
    shape.attributes = {make_int("start", -4), make_int("end", -3)};
    main_graph(model).nodes.insert(main_graph(model).nodes.begin(), shape);
    set_shape(model, "Unsqueeze", {2, 1, 3});
    const onnx::Model fixed = explicit_form(model);
    EXPECT_EQ(list_of(fixed, "axes_of"), Extents{1});
}

TEST(Fix, KeepsWhatItCannotKnow) {
    onnx::Model model = operator_model();
    value_of(model, "a").shape.reset();
    node_of(model, "Slice").inputs.resize(3);
    node_of(model, "Clip").inputs = {"a"};
    const Diagnostics base;
    const Fixed fixed = make_explicit({.model = model, .base = base});
    EXPECT_FALSE(conforms(check({.model = fixed.model, .base = base})));
}

TEST(Fix, AddsNoHugeConstants) {
    onnx::Model model = operator_model();
    constexpr int64_t kLarge = int64_t{1} << 20;
    node_of(model, "Gemm").inputs = {"a", "wide"};
    set_shape(model, "a", {kLarge, 3});
    main_graph(model).inputs.push_back(declaration("wide", {3, kLarge}));
    set_shape(model, "Gemm", {kLarge, kLarge});
    const onnx::Model fixed = explicit_form(model);
    onnx::Model again = fixed;
    EXPECT_EQ(node_of(again, "Gemm").inputs.size(), 2U);
}

TEST(View, ShortensLongLists) {
    EXPECT_EQ(list_text({}), "[]");
    EXPECT_EQ(list_text({0, -1}), "[0, -1]");
    const std::string text = list_text(Extents(4000, 7));
    EXPECT_TRUE(text.ends_with("7, 7, …]")) << text;
    EXPECT_LT(text.size(), 80U);
}

TEST(MatMul, BecomesAProductOfMatrices) {
    onnx::Model model = operator_model();
    const auto plan = [&](const Extents& a, const Extents& b, const Extents& y) {
        set_shape(model, "a", a);
        set_weights(model, "matrix", b);
        set_shape(model, "MatMul", y);
        const Diagnostics base;
        const Subject subject{.model = model, .base = base};
        return plan_matmul_2d(node_of(model, "MatMul"), View(subject));
    };
    EXPECT_FALSE(plan({2, 3}, {3, 4}, {2, 4}));
    EXPECT_EQ(plan({5, 2, 3}, {3, 4}, {5, 2, 4})->a, (Extents{10, 3}));
    EXPECT_EQ(plan({3}, {3, 4}, {4})->a, (Extents{1, 3}));
    EXPECT_EQ(plan({5, 2, 3}, {3}, {5, 2})->b, (Extents{3, 1}));
    EXPECT_EQ(plan({5, 2, 3}, {1, 3, 4}, {5, 2, 4})->y, (Extents{10, 4}));
    EXPECT_FALSE(plan({5, 2, 3}, {5, 3, 4}, {5, 2, 4}));  // each batch has its own
    EXPECT_FALSE(plan({}, {3, 4}, {4}));
}

}  // namespace

}  // namespace lemma::sonnx
