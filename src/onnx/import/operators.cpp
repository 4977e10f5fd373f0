// Which operators of the library a model can come to.
#include <algorithm>
#include <map>
#include <set>

#include "onnx/import.h"

namespace lemma::onnx {

namespace {

using Names = std::vector<const char*>;

// What normalising, branches and sequences make of a node besides the operator of its name.
const std::map<std::string_view, Names>& made_of() {
    static const Names kAligned = {"Unsqueeze"};
    static const Names kFlat = {"Flatten", "Reshape"};
    static const Names kCasts = {"Cast"};
    static const Names kItems = {"Concat", "Slice", "Squeeze", "Unsqueeze"};
    static const std::map<std::string_view, Names> kMade = {
        {"Sum", {"Add"}},
        {"Mean", {"Add", "mean_of_sum"}},
        {"Max", {"max_of_two"}},
        {"Min", {"min_of_two"}},
        {"Add", kAligned},
        {"Sub", kAligned},
        {"Mul", kAligned},
        {"Div", kAligned},
        {"Pow", kAligned},
        {"And", kAligned},
        {"Or", kAligned},
        {"Xor", kAligned},
        {"Equal", kAligned},
        {"Greater", kAligned},
        {"Less", kAligned},
        {"PRelu", kAligned},
        {"CastLike", {"Cast"}},
        {"Softmax", kFlat},
        {"LogSoftmax", kFlat},
        {"Hardmax", kFlat},
        {"GroupNormalization", {"Unsqueeze", "Expand", "Reshape"}},
        {"Pad", {"Squeeze"}},
        {"Upsample", {"Resize"}},
        {"Scatter", {"ScatterElements"}},
        {"ReduceL2", kCasts},
        {"ReduceLogSum", kCasts},
        {"ReduceLogSumExp", kCasts},
        {"Erf", kCasts},
        {"GridSample", kCasts},
        {"QuantizeLinear", kCasts},
        {"LayerNormalization", kCasts},
        {"RMSNormalization", kCasts},
        {"SimplifiedLayerNormalization", kCasts},
        {"ConcatFromSequence", kItems},
        {"SplitToSequence", kItems},
        {"FlexAttention", {"attention_scores", "Softmax", "attention_mix"}},
        {"QLinearConcat", {"Squeeze"}},
        {"QGemm", {"QGemm_real"}},
        {"MatMulNBits", {"Reshape"}},
        {"Attention", {"Attention_present"}},
        {"MultiHeadAttention", {"Slice", "Squeeze", "Reshape"}},
        {"GroupQueryAttention", {"Squeeze"}},
        {"Adagrad", {"adagrad_step"}},
        {"Adam", {"adam_step"}},
        {"Momentum", {"momentum_step"}},
    };
    return kMade;
}

void add_nodes(const std::vector<Node>& nodes, std::set<std::string>& names) {
    for (const Node& node : nodes) {
        for (const char* const kind : {"", "_int", "_bool", "_any"}) names.insert(node.op + kind);
        const auto made = made_of().find(node.op);
        if (made != made_of().end()) names.insert(made->second.begin(), made->second.end());
    }
}

}  // namespace

std::vector<std::string> called_operators(const Model& model) {
    std::set<std::string> names;
    for (const Graph& graph : model.graphs) add_nodes(graph.nodes, names);
    for (const Function& function : model.functions) add_nodes(function.nodes, names);
    // These stack and unstack with operators of another module.
    if (names.contains("Loop") || names.contains("Scan")) return {};
    return {names.begin(), names.end()};
}

}  // namespace lemma::onnx
