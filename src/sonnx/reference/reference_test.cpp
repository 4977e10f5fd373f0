// Models that the generator refuses, and hostile models that must not damage its text. tests/sonnx
// compiles and compares the text, and `./dev prove` proves it.
#include "sonnx/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diag/source.h"
#include "sonnx/reference/c_tensor.h"
#include "sonnx/reference/weights.h"
#include "sonnx/test_models.h"

namespace lemma::sonnx {

namespace {

using namespace test;
using onnx::test::ints_attribute;
using onnx::test::model_bytes;

struct Written {
    std::vector<SourceFile> files;
    std::vector<std::string> errors;

    std::string text(std::string_view name) const {
        for (const SourceFile& file : files) {
            if (file.name == name) return file.text;
        }
        return "";
    }
};

Written reference_of(const onnx::Model& model) {
    diag::SourceMap sources;
    const diag::FileId file = sources.add_paths("test.onnx", model.paths);
    const Diagnostics base;
    const Subject subject{.model = model, .base = base};
    Diagnostics diag;
    Written written;
    const auto files = write_reference(
        {.subject = subject, .file = file, .read_external = {}, .origin = "*/ none /*"}, diag);
    if (files) written.files = *files;
    for (const diag::Diagnostic& item : diag.items()) written.errors.push_back(item.message);
    EXPECT_EQ(files.has_value(), written.errors.empty());
    return written;
}

onnx::Model add_model(const std::string& a, const std::string& b) {
    TestGraph graph;
    graph.inputs = {{a, {2}}, {b, {2}}};
    graph.outputs = {{"y", {2}}};
    graph.nodes = {{"Add", {a, b}, {"y"}}};
    return read(model_bytes(graph));
}

onnx::Model conv_model(const std::vector<onnx::test::TestAttribute>& attributes,
                       const std::vector<int64_t>& output = {1, 1, 3, 3}) {
    TestGraph graph;
    graph.inputs = {{"x", {1, 1, 3, 3}}};
    graph.outputs = {{"y", output}};
    graph.nodes = {{"Conv", {"x", "w"}, {"y"}, attributes}};
    graph.initializers = {weights("w", {1, 1, 1, 1})};
    return read(model_bytes(graph));
}

TEST(ReferenceText, NamesStayNames) {
    onnx::Model model = add_model("a*/\nint evil;", "a*/\nint_evil;");
    node_of(model, "y").name = "*/ int evil; /*\?\?/";
    const Written written = reference_of(model);
    EXPECT_TRUE(written.errors.empty());
    for (const SourceFile& file : written.files) {
        EXPECT_EQ(file.text.find("int evil;"), std::string::npos) << file.text;
        EXPECT_EQ(file.text.find("\?\?"), std::string::npos) << file.text;
    }
    // Both names become the same letters, and get different suffixes.
    EXPECT_NE(written.text("model.h").find("t_a___int_evil_[2];"), std::string::npos);
    EXPECT_NE(written.text("model.h").find("t_a___int_evil__2[2];"), std::string::npos);
}

TEST(ReferenceText, SaysWhyThereIsNone) {
    const auto only_error = [](const onnx::Model& model) {
        const Written written = reference_of(model);
        return written.errors.size() == 1 ? written.errors[0] : "";
    };
    onnx::Model model = add_model("a", "b");
    node_of(model, "y").op = "Relu";
    EXPECT_EQ(only_error(model), "there is no reference of the operator `Relu`");
    model = add_model("a", "b");
    (*value_of(model, "a").shape)[0] = {.value = {}, .param = "n"};
    EXPECT_EQ(only_error(model), "the shape of `a` is not static, but C needs its extents");
    model = add_model("a", "b");
    value_of(model, "a").elem_type = 10;
    EXPECT_EQ(only_error(model), "the elements of `a` have a type that C99 does not have");
    model = add_model("a", "b");
    for (const char* name : {"a", "b", "y"}) value_of(model, name).elem_type = 6;
    EXPECT_EQ(only_error(model),
              "this `Add` has no reference: there is arithmetic for float and double only");
    model = add_model("a", "b");
    set_shape(model, "y", {3});
    EXPECT_EQ(only_error(model),
              "this `Add` has no reference: its output is declared as 3, but is 2");
    EXPECT_EQ(only_error(conv_model({}, {1, 1, 4, 4})),
              "this `Conv` has no reference: its output is declared as 1×1×4×4, but is 1×1×3×3");
    EXPECT_EQ(only_error(conv_model({ints_attribute("pads", {0, 0, int64_t{1} << 40, 0})})),
              "this `Conv` has no reference: its kernel does not fit, or the padded input is too "
              "large");
}

TEST(ReferenceText, DilationOfOneTapIsNothing) {
    const Written written =
        reference_of(conv_model({ints_attribute("dilations", {int64_t{1} << 50, 7})}));
    EXPECT_TRUE(written.errors.empty());
    EXPECT_NE(written.text("model.c").find("const int ih = oh + kh;"), std::string::npos);
    // No tap can leave the input, so there is no guard.
    EXPECT_EQ(written.text("model.c").find("if ("), std::string::npos);
}

TEST(ReferenceText, ConstantsKeepEveryBit) {
    const auto literal = [](int64_t onnx_type, tensor::DType dtype, const auto& set) {
        auto data = tensor::Tensor::zeros(dtype, {});
        set(*data);
        return reference::constant_definition({"t", reference::c_type(onnx_type), {}}, *data)
            .value_or("none");
    };
    const auto real = [](double value) {
        return [value](tensor::Tensor& data) { data.set_real(0, value); };
    };
    const auto integer = [](int64_t value) {
        return [value](tensor::Tensor& data) { data.set_integer(0, value); };
    };
    using tensor::DType;
    EXPECT_EQ(literal(1, DType::F32, real(0.1)), "const float t = 0x1.99999ap-4F;\n");
    EXPECT_EQ(literal(1, DType::F32, real(-0.0)), "const float t = -0x0p+0F;\n");
    EXPECT_EQ(literal(1, DType::F32, real(-INFINITY)), "const float t = -INFINITY;\n");
    EXPECT_EQ(literal(1, DType::F32, real(NAN)), "none");
    EXPECT_EQ(literal(11, DType::F64, real(1e-310)), "const double t = 0x0.012688b70e62bp-1022;\n");
    EXPECT_EQ(literal(7, DType::I64, integer(INT64_MIN)),
              "const int64_t t = (-9223372036854775807LL - 1);\n");
    EXPECT_EQ(literal(13, DType::U64, integer(-1)),
              "const uint64_t t = 18446744073709551615ULL;\n");
}

}  // namespace

}  // namespace lemma::sonnx
