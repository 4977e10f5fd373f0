// SPDX-License-Identifier: Apache-2.0
// sonnx/test_operators.h — a model with every operator that has a document, which keeps all rules
// about these, and changes that break each one.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>

#include "onnx/write.h"
#include "sonnx/test_models.h"

namespace lemma::sonnx::test {

constexpr int64_t kFloat = 1;
constexpr int64_t kInt64 = 7;
constexpr int64_t kBool = 9;

inline tensor::Tensor numbers(tensor::DType dtype,
                              const Extents& shape,
                              std::initializer_list<double> items) {
    auto made = tensor::Tensor::zeros(dtype, shape);
    LEMMA_CHECK(made.has_value());
    int64_t at = 0;
    for (const double item : items) {
        tensor::is_real(dtype) ? made->set_real(at++, item)
                               : made->set_integer(at++, static_cast<int64_t>(item));
    }
    return std::move(*made);
}

// Sets the initialiser, or adds it.
inline std::string constant(onnx::Model& model, const std::string& name, tensor::Tensor tensor) {
    auto& list = main_graph(model).initializers;
    std::erase_if(list, [&](const onnx::TensorData& each) { return each.proto.name == name; });
    list.push_back(onnx::add_tensor({name, std::move(tensor)}, model));
    return name;
}
inline std::string floats(onnx::Model& model, const std::string& name, const Extents& shape) {
    auto tensor = numbers(tensor::DType::F32, shape, {});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_real(i, 0.5 + static_cast<double>(i));
    return constant(model, name, std::move(tensor));
}
inline std::string ints(onnx::Model& model,
                        const std::string& name,
                        const Extents& shape,
                        std::initializer_list<double> items) {
    return constant(model, name, numbers(tensor::DType::I64, shape, items));
}

// Adds a node whose result is an output of the graph.
inline onnx::Node& add_result(onnx::Model& model,
                              const std::string& op,
                              std::vector<std::string> inputs,
                              const std::string& output,
                              const Extents& shape,
                              int64_t type = kFloat) {
    main_graph(model).nodes.push_back(make_node(op, std::move(inputs), {output}));
    onnx::ValueInfo value = declaration(output, shape, type);
    value.doc = "a result";
    main_graph(model).outputs.push_back(std::move(value));
    return main_graph(model).nodes.back();
}

inline void add_elementwise(onnx::Model& model) {
    for (const char* op : {"Abs", "Neg", "Exp", "Log", "Sqrt", "Sigmoid", "Tanh", "Relu", "Sin"})
        add_result(model, op, {"a"}, op, {2, 3});
    add_result(model, "Acos", {"a"}, "Acos", {2, 3});
    for (const char* op : {"Sub", "Mul", "Max"}) add_result(model, op, {"a", "b"}, op, {2, 3});
    add_result(model, "Less", {"a", "b"}, "Less", {2, 3}, kBool);
    add_result(model, "Where", {"flags", "a", "b"}, "Where", {2, 3});
    ints(model, "divisor", {2, 3}, {1, 2, 3, 4, 5, 6});
    add_result(model, "Div", {"n", "divisor"}, "Div", {2, 3}, kInt64);
    ints(model, "exponent", {2, 3}, {0, 1, 2, 0, 1, 2});
    add_result(model, "Pow", {"n", "exponent"}, "Pow", {2, 3}, kInt64);
    set_attribute(add_result(model, "LeakyRelu", {"a"}, "LeakyRelu", {2, 3}),
                  make_float("alpha", 0.01F));
    constant(model, "low", numbers(tensor::DType::F32, {}, {0}));
    constant(model, "high", numbers(tensor::DType::F32, {}, {6}));
    add_result(model, "Clip", {"a", "low", "high"}, "Clip", {2, 3});
}

inline void add_matrices(onnx::Model& model) {
    floats(model, "matrix", {3, 4});
    floats(model, "term", {2, 4});
    add_result(model, "MatMul", {"a", "matrix"}, "MatMul", {2, 4});
    add_result(model, "Gemm", {"a", "matrix", "term"}, "Gemm", {2, 4}).attributes = {
        make_float("alpha", 1),
        make_float("beta", 1),
        make_int("transA", 0),
        make_int("transB", 0)};
    for (const char* name : {"scale", "shift", "mean", "variance"}) floats(model, name, {2});
    add_result(model,
               "BatchNormalization",
               {"image", "scale", "shift", "mean", "variance"},
               "BatchNormalization",
               {1, 2, 4, 4})
        .attributes = {
        make_float("epsilon", 1e-5F), make_float("momentum", 0.9F), make_int("training_mode", 0)};
    floats(model, "W", {1, 8, 3});
    floats(model, "R", {1, 8, 2});
    floats(model, "B", {1, 16});
    constant(model, "lengths", numbers(tensor::DType::I32, {1}, {2}));
    floats(model, "state", {1, 1, 2});
    floats(model, "P", {1, 6});
    onnx::Attribute activations = make_text("activations", "");
    activations.type = onnx::AttributeType::Strings;
    activations.strings = {"Sigmoid", "Tanh", "Tanh"};
    add_result(model,
               "LSTM",
               {"steps", "W", "R", "B", "lengths", "state", "state", "P"},
               "LSTM",
               {2, 1, 1, 2})
        .attributes = {activations,
                       make_text("direction", "forward"),
                       make_int("hidden_size", 2),
                       make_int("input_forget", 0),
                       make_int("layout", 0)};
}

inline void add_layouts(onnx::Model& model) {
    set_attribute(add_result(model, "Flatten", {"image"}, "Flatten", {1, 32}), make_int("axis", 1));
    ints(model, "new_axis", {1}, {0});
    add_result(model, "Unsqueeze", {"a", "new_axis"}, "Unsqueeze", {1, 2, 3});
    ints(model, "starts", {2}, {0, 2});
    ints(model, "ends", {2}, {2, -4});
    ints(model, "axes", {2}, {0, 1});
    ints(model, "steps_of", {2}, {1, -1});
    add_result(model, "Slice", {"a", "starts", "ends", "axes", "steps_of"}, "Slice", {2, 3});
    for (const char* name : {"first", "limit", "delta"})
        constant(model, name, numbers(tensor::DType::F32, {}, {name[0] == 'l' ? 3.0 : 1.0}));
    add_result(model, "Range", {"first", "limit", "delta"}, "Range", {2});
    add_result(model, "Shape", {"a"}, "Shape", {2}, kInt64).attributes = {make_int("start", 0),
                                                                          make_int("end", 2)};
    add_result(model, "ArgMax", {"a"}, "ArgMax", {2}, kInt64).attributes = {
        make_int("axis", 1), make_int("keepdims", 0), make_int("select_last_index", 0)};
    onnx::Attribute value;
    value.name = "value";
    value.type = onnx::AttributeType::Tensor;
    value.tensors = {onnx::add_tensor({"", numbers(tensor::DType::F32, {1}, {2})}, model)};
    add_result(model, "Constant", {}, "Constant", {1}).attributes = {value};
}

// Conv, MaxPool, Concat, Reshape, Softmax and Add are in `conforming_model`. Each node is named
// after its operator. Constant, and operators that are drafts only, give advisories.
inline onnx::Model operator_model() {
    onnx::Model model = conforming_model();
    const auto input = [&](const char* name, const Extents& shape, int64_t type = kFloat) {
        onnx::ValueInfo value = declaration(name, shape, type);
        value.doc = "an input";
        main_graph(model).inputs.push_back(std::move(value));
    };
    input("a", {2, 3});
    input("b", {2, 3});
    input("n", {2, 3}, kInt64);
    input("flags", {2, 3}, kBool);
    input("image", {1, 2, 4, 4});
    input("steps", {2, 1, 3});
    add_elementwise(model);
    add_matrices(model);
    add_layouts(model);
    return model;
}

// The change to `operator_model` that breaks a rule. Other rules may be broken, too.
inline const std::map<std::string_view, std::function<void(onnx::Model&)>>& operator_breakers() {
    using onnx::Model;
    using tensor::DType;
    static const std::map<std::string_view, std::function<void(Model&)>> kBreakers = {
        {"GR3", [](Model& m) { node_of(m, "Pow").inputs[0] = "a"; }},
        {"S026", [](Model& m) { node_of(m, "Exp").inputs[0] = "n"; }},
        {"S027", [](Model& m) { m.opsets[0].version = 12; }},
        {"S028", [](Model& m) { node_of(m, "Exp").op = "Erf"; }},
        {"EW-1", [](Model& m) { set_shape(m, "Exp", {2, 4}); }},
        {"EW-2", [](Model& m) { value_of(m, "Less").elem_type = kFloat; }},
        {"DIV-1", [](Model& m) { ints(m, "divisor", {2, 3}, {1, 2, 3, 4, 0, 6}); }},
        {"POW-1", [](Model& m) { ints(m, "exponent", {2, 3}, {0, 1, 2, 0, -1, 2}); }},
        {"LEAKY-1",
         [](Model& m) {
             set_attribute(node_of(m, "LeakyRelu"), make_float("alpha", std::nanf("")));
         }},
        {"CLIP-1", [](Model& m) { constant(m, "low", numbers(DType::F32, {1}, {0})); }},
        {"CLIP-2", [](Model& m) { constant(m, "low", numbers(DType::F32, {}, {7})); }},
        {"MATMUL-1",
         [](Model& m) {
             node_of(m, "MatMul").inputs[0] = "steps";
             set_shape(m, "MatMul", {2, 1, 4});
         }},
        {"MATMUL-2", [](Model& m) { set_shape(m, "MatMul", {4, 2}); }},
        {"GEMM-1", [](Model& m) { floats(m, "matrix", {4, 3}); }},
        {"GEMM-2", [](Model& m) { set_attribute(node_of(m, "Gemm"), make_int("transB", 1)); }},
        {"AXIS-1", [](Model& m) { set_attribute(node_of(m, "ArgMax"), make_int("axis", 2)); }},
        {"ARGMAX-1",
         [](Model& m) { set_attribute(node_of(m, "ArgMax"), make_int("keepdims", 2)); }},
        {"BN-1",
         [](Model& m) {
             set_attribute(node_of(m, "BatchNormalization"), make_float("epsilon", 0));
         }},
        {"BN-2", [](Model& m) { floats(m, "mean", {3}); }},
        {"BN-3", [](Model& m) { constant(m, "variance", numbers(DType::F32, {2}, {1, -1})); }},
        {"FLATTEN-1", [](Model& m) { set_shape(m, "Flatten", {2, 16}); }},
        {"RESHAPE-1", [](Model& m) { ints(m, "flat", {2}, {1, -1}); }},
        {"RESHAPE-2", [](Model& m) { set_shape(m, "r", {1, 127}); }},
        {"UNSQUEEZE-1", [](Model& m) { ints(m, "new_axis", {1}, {3}); }},
        {"SLICE-1",
         [](Model& m) {
             for (const char* name : {"starts", "ends", "axes", "steps_of"})
                 ints(m, name, {1}, {1});
         }},
        {"SLICE-2", [](Model& m) { ints(m, "ends", {2}, {9, -4}); }},
        {"SLICE-3", [](Model& m) { ints(m, "steps_of", {2}, {0, -1}); }},
        {"CONST-1",
         [](Model& m) { node_of(m, "Constant").attributes = {make_float("value_float", 1)}; }},
        {"SHAPE-1", [](Model& m) { drop_attribute(node_of(m, "Shape"), "end"); }},
        {"RANGE-1", [](Model& m) { constant(m, "delta", numbers(DType::F32, {}, {0})); }},
        {"LSTM-1", [](Model& m) { node_of(m, "LSTM").inputs[2] = "image"; }},
        {"LSTM-2", [](Model& m) { set_attribute(node_of(m, "LSTM"), make_int("layout", 1)); }},
        {"LSTM-3", [](Model& m) { drop_attribute(node_of(m, "LSTM"), "activations"); }},
        {"LSTM-4", [](Model& m) { floats(m, "B", {1, 15}); }},
    };
    return kBreakers;
}

}  // namespace lemma::sonnx::test
