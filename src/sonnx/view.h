// SPDX-License-Identifier: Apache-2.0
// sonnx/view.h — the main graph of a model with look-ups by name: the node that makes a tensor, its
// type, its constant elements. It also works for invalid models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "onnx/model.h"

namespace lemma::sonnx {

using Extents = std::vector<int64_t>;

struct TensorType {
    int64_t elem_type = 0;         // ONNX's code
    std::optional<Extents> shape;  // empty: not known, or not static
};
// The types found by composing, by name.
using InferredTypes = std::map<std::string, TensorType>;
InferredTypes inferred_types(const ir::Program& program);
// A node that changes nothing, such as a Clip without bounds, has no tensor of its own in the
// program. This adds its type, which is that of its input.
void add_unchanged_types(const onnx::Model& model, InferredTypes& types);

// The limit in the document of `concat`; its open issues ask for less.
inline constexpr int64_t kMaxConcatInputs = (int64_t{1} << 31) - 1;

// A model with the findings about the format.
struct Subject {
    const onnx::Model& model;
    const Diagnostics& base;
    InferredTypes inferred = {};  // empty if the model could not be composed
    bool composed = true;         // false: some requirements of ONNX were not checked
    bool relax_broadcast = false;
    int64_t max_concat_inputs = kMaxConcatInputs;
};

// Constants up to this size are looked at element by element.
inline constexpr int64_t kMaxConstant = int64_t{1} << 24;

class View {
public:
    explicit View(const Subject& subject);

    const onnx::Model& model() const { return subject_.model; }
    const onnx::Graph& graph() const { return graph_; }
    const Subject& subject() const { return subject_; }
    // The version of the default operator set; 0 if it is missing.
    int64_t opset() const { return opset_; }

    const onnx::TensorData* initializer(const std::string& name) const;
    const onnx::ValueInfo* declared(const std::string& name) const;
    // All declarations of the tensor: in inputs, outputs and value_info.
    const std::vector<const onnx::ValueInfo*>& declarations(const std::string& name) const;
    const onnx::Node* maker(const std::string& name) const;
    bool is_used(const std::string& name) const;  // by a node, a sub-graph or as an output

    // The type in the model, else the type found by composing.
    std::optional<TensorType> type(const std::string& name) const;
    std::optional<Extents> shape(const std::string& name) const;
    // The shape of an input or output of a node; also empty if it is omitted.
    std::optional<Extents> input_shape(const onnx::Node& node, size_t index) const;
    std::optional<Extents> output_shape(const onnx::Node& node, size_t index) const;

    // An initialiser, or the result of Constant.
    bool is_constant(const std::string& name) const;
    // The value of a constant of up to `max_items` elements; empty for other tensors.
    std::optional<tensor::Tensor> constant_tensor(const std::string& name,
                                                  int64_t max_items = kMaxConstant) const;
    // The elements of a constant integer tensor, up to a limit.
    std::optional<std::vector<int64_t>> constant_ints(const std::string& name,
                                                      int64_t max_items = 4096) const;
    // The data of an initialiser, or of the `value` of Constant; may be null.
    const onnx::TensorData* constant_data(const std::string& name) const;

private:
    void count_uses(const std::vector<onnx::Node>& nodes);

    const Subject& subject_;
    const onnx::Graph& graph_;
    int64_t opset_ = 0;
    std::unordered_map<std::string, const onnx::TensorData*> initializers_;
    std::unordered_map<std::string, std::vector<const onnx::ValueInfo*>> declared_;
    std::unordered_map<std::string, const onnx::Node*> makers_;
    std::unordered_map<std::string, int64_t> uses_;
};

bool has_input(const onnx::Node& node, size_t index);
// The value of an attribute; empty if it is missing or has another type.
std::optional<int64_t> int_attribute(const onnx::Node& node, std::string_view name);
std::optional<std::vector<int64_t>> ints_attribute(const onnx::Node& node, std::string_view name);
std::optional<std::string> text_attribute(const onnx::Node& node, std::string_view name);

std::optional<float> float_attribute(const onnx::Node& node, std::string_view name);

// "2×3×4", "scalar"
std::string shape_text(const Extents& shape);
// "[0, -1]", with an ellipsis for long lists
std::string list_text(const Extents& items);
// The product of all extents; empty on overflow.
std::optional<int64_t> element_count(const Extents& shape);

}  // namespace lemma::sonnx
