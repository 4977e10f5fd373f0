// SPDX-License-Identifier: Apache-2.0
#include "sknd/compose/calls.h"

#include <gtest/gtest.h>

#include "ir/verify/verify.h"

namespace lemma::sknd {
namespace {

// Represents a model: its first definition; the calls go to the standard modules that it imports.
constexpr std::string_view kLibrary =
    "import math; import nn; operator model { @input {} @output {} "
    "@compose {} }\n";

class Calls : public testing::Test {
protected:
    Calls() {
        const diag::FileId file = sources_.add("library", std::string(kLibrary));
        library_ = load_package(sources_, file, "", no_reader(), {.library = true}, diag_);
        place_ = {sources_.add_paths("net.onnx", "graph/node[0]:Conv\n"), 0, 18};
        builder_ = make_call_builder(library_, {}, diag_);
    }

    ir::TensorId input(std::string name, ir::DType dtype, std::vector<int64_t> extents) {
        ir::Tensor tensor;
        tensor.name = std::move(name);
        tensor.dtype = dtype;
        tensor.role = ir::TensorRole::Input;
        for (const int64_t extent : extents) {
            tensor.shape.push_back(builder_->symbols().integer(extent));
        }
        return builder_->add_tensor(std::move(tensor));
    }

    ir::Call call(std::string op, std::vector<ir::TensorId> inputs) {
        ir::Call result{.op = std::move(op), .results = {"y"}, .span = place_};
        for (const ir::TensorId id : inputs) result.inputs.push_back(ir::Operand::single(id));
        return result;
    }

    std::string only_error() {
        EXPECT_EQ(diag_.items().size(), 1u);
        return diag_.items().empty() ? "" : diag_.items()[0].message;
    }

    diag::SourceMap sources_;
    Diagnostics diag_;
    Package library_;
    Span place_;
    std::unique_ptr<ir::CallBuilder> builder_;
};

TEST_F(Calls, ComposeToAProgram) {
    const ir::TensorId x = input("x", ir::DType::F32, {1, 3, 8, 8});
    const ir::TensorId w = input("w", ir::DType::F32, {4, 3, 3, 3});
    ir::Call conv = call("nn.conv", {x, w});
    conv.attributes = {{"padding", ir::Pack{{int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}}}}};
    const auto outputs = builder_->call(conv);
    ASSERT_TRUE(outputs);
    const ir::Operand y = outputs->at(0);
    auto program =
        builder_->finish({.name = "net",
                          .inputs = {{"x", ir::Operand::single(x)}, {"w", ir::Operand::single(w)}},
                          .outputs = {{"y", y}}},
                         {});
    ASSERT_TRUE(program);
    EXPECT_EQ(program->tensors[y.items[0]].name, "y");
    EXPECT_EQ(program->symbols.as_int(program->tensors[y.items[0]].shape[1]), 4);
    EXPECT_TRUE(ir::verify(*program).empty());
}

TEST_F(Calls, KeepTheWidthOfReals) {
    const ir::TensorId x = input("x", ir::DType::F64, {2});
    ir::Tensor number;
    number.role = ir::TensorRole::Constant;
    number.dtype = ir::DType::F32;
    number.items = {2.0};
    const ir::TensorId two = builder_->add_tensor(number);
    const auto y = builder_->call(call("math.add", {two, x}));
    ASSERT_TRUE(y);
    EXPECT_EQ(builder_->program().tensors[y->at(0).items[0]].dtype, ir::DType::F64);
    const auto z = builder_->call(call("nn.sigmoid", {y->at(0).items[0]}));
    ASSERT_TRUE(z);
    EXPECT_EQ(builder_->program().tensors[z->at(0).items[0]].dtype, ir::DType::F64);
}

TEST_F(Calls, NameTheInputOfAnotherType) {
    const ir::TensorId x = input("x", ir::DType::Bool, {2});
    EXPECT_FALSE(builder_->call(call("nn.sigmoid", {x})));
    EXPECT_EQ(only_error(), "the input `x` of `sigmoid` is a tensor of bool, expected real");
    EXPECT_FALSE(builder_->finish({}, {}));
}

TEST_F(Calls, NameTheMissingInput) {
    EXPECT_FALSE(builder_->call(call("math.add", {input("x", ir::DType::F32, {2})})));
    EXPECT_EQ(only_error(), "`add` needs the input `y`");
}

TEST_F(Calls, SuggestTheOperator) {
    EXPECT_FALSE(builder_->call(call("nn.sigmod", {})));
    EXPECT_EQ(only_error(), "no operator `nn.sigmod`");
    ASSERT_FALSE(diag_.items()[0].notes.empty());
    EXPECT_EQ(diag_.items()[0].notes[0].message, "did you mean `nn.sigmoid`?");
}

TEST_F(Calls, ReportAWrongAttribute) {
    const ir::TensorId x = input("x", ir::DType::F32, {1, 3, 8, 8});
    ir::Call conv = call("nn.conv", {x, x});
    conv.attributes = {{"pads", ir::Value(ir::Scalar(int64_t{1}))}};
    EXPECT_FALSE(builder_->call(conv));
    EXPECT_EQ(only_error(), "`conv` has no attribute `pads`");
}

TEST_F(Calls, BreakTheRulesOfTheDefinition) {
    const ir::TensorId x = input("x", ir::DType::F32, {1, 3, 8, 8});
    const ir::TensorId w = input("w", ir::DType::F32, {4, 5, 3, 3});
    EXPECT_FALSE(builder_->call(call("nn.conv", {x, w})));
    EXPECT_EQ(only_error(),
              "input channels must equal filter channels times groups; got 3, 5 and 1");
    EXPECT_EQ(diag_.items()[0].span, place_);
}

}  // namespace
}  // namespace lemma::sknd
