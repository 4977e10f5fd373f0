// SPDX-License-Identifier: Apache-2.0
#include "edit/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/unique_names.h"
#include "edit/evaluate.h"
#include "edit/uses.h"

namespace lemma::edit {

namespace {

// The operations of the formats with one port for weights and one for a bias of each channel.
struct Layer {
    const char* op;
    const char* bias;
    bool row;  // the bias is [1, c], as in NNEF 1.0
};
constexpr Layer kLayers[] = {{"onnx.conv.Conv", "b", false},
                             {"onnx.linear.Gemm", "c", false},
                             {"nn.conv", "bias", false},
                             {"nn.linear", "bias", false},
                             {"nnef1.conv", "bias", true},
                             {"nnef1.linear", "bias", true}};

const Layer* find_layer(const ir::Operation& op) {
    // NNEF 1.0 has several modules: `nnef1.window.conv`.
    std::string name = op.op;
    if (name.starts_with("nnef1.")) name = "nnef1" + name.substr(name.rfind('.'));
    const auto* const found =
        std::ranges::find_if(kLayers, [&](const Layer& layer) { return name == layer.op; });
    return found == std::end(kLayers) ? nullptr : found;
}

ir::TensorId input_of(const ir::Operation& op, std::string_view name) {
    for (const ir::Port& port : op.inputs) {
        if (port.name == name && !port.operand.packed && port.operand.items.size() == 1)
            return port.operand.items[0];
    }
    return {};
}

double real_attribute(const ir::Operation& op, std::string_view name, double otherwise) {
    for (const ir::Attribute& attribute : op.attributes) {
        const auto* const scalar = std::get_if<ir::Scalar>(&attribute.value);
        if (attribute.name != name || !scalar) continue;
        if (const auto* const real = std::get_if<double>(scalar)) return *real;
        if (const auto* const integer = std::get_if<int64_t>(scalar))
            return static_cast<double>(*integer);
    }
    return otherwise;
}

// A batch normalisation after a sum of products.
struct Match {
    ir::OpId layer, norm;
    const Layer* kind = nullptr;
    ir::TensorId between, result;  // the result of each
    ir::TensorId weights, bias;    // the bias may be missing
    ir::TensorId mean, variance, offset, scale;
    double epsilon = 0;
    size_t axis = 0;  // of the weights
};

class Finder {
public:
    explicit Finder(const ir::Program& program) : program_(program) {
        const ir::Graph& main = program.graphs[program.main];
        const auto read = [&](ir::TensorId id) { ++readers_[id]; };
        for (const ir::OpId id : main.operations) {
            const Uses uses = uses_of(program, id);
            std::ranges::for_each(uses.reads, read);
            for (const ir::TensorId made : uses.made) maker_[made] = id;
        }
        std::ranges::for_each(items_of(main.outputs), read);
        for (const ir::Update& update : program.updates) read(update.value);
    }

    std::optional<Match> find(ir::OpId id) const {
        Match match{.norm = id};
        if (!find_norm(match) || !find_layer_before(match)) return std::nullopt;
        return match;
    }

private:
    bool find_norm(Match& match) const {
        const std::vector<ir::TensorId> results = items_of(program_.operations[match.norm].outputs);
        if (results.empty()) return false;
        match.result = results[0];
        const ir::Operation* norm = nullptr;
        visit(program_, match.norm, [&](const ir::Operation& op) {
            const std::vector<ir::TensorId> made = items_of(op.outputs);
            if (op.op == "nn.batch_norm" && made.size() == 1 && made[0] == match.result) norm = &op;
        });
        if (!norm) return false;
        match.between = input_of(*norm, "input");
        match.mean = input_of(*norm, "mean");
        match.variance = input_of(*norm, "variance");
        match.offset = input_of(*norm, "bias");
        match.scale = input_of(*norm, "scale");
        match.epsilon = real_attribute(*norm, "epsilon", 1e-5);
        channel_ = static_cast<int64_t>(real_attribute(*norm, "channel_axis", 1));
        return match.between.valid() && match.mean.valid() && match.variance.valid();
    }

    bool find_layer_before(Match& match) const {
        const auto maker = maker_.find(match.between);
        const auto readers = readers_.find(match.between);
        if (maker == maker_.end() || readers == readers_.end() || readers->second != 1)
            return false;
        match.layer = maker->second;
        const ir::Operation& layer = program_.operations[match.layer];
        match.kind = find_layer(layer);
        const ir::Tensor& between = program_.tensors[match.between];
        if (!match.kind || between.quantizer || between.shape.size() < 2) return false;
        const std::vector<ir::TensorId> results = items_of(layer.outputs);
        if (results.size() != 1 || results[0] != match.between) return false;
        const ir::Operation* sum = nullptr;
        visit(program_, match.layer, [&](const ir::Operation& op) {
            const bool known = op.op == "nn.conv" || op.op == "nn.linear";
            const std::vector<ir::TensorId> made = items_of(op.outputs);
            if (known && made.size() == 1 && made[0] == match.between) sum = &op;
        });
        if (!sum) return false;
        match.weights = input_of(*sum, "filter");
        match.bias = input_of(*sum, "bias");
        const bool given = std::ranges::any_of(layer.inputs, [&](const ir::Port& port) {
            return port.operand.items == std::vector{match.weights};
        });
        return match.weights.valid() && given && !program_.tensors[match.weights].quantizer &&
               find_axis(*sum, match);
    }

    // The axis of the weights with the index of the result's channel axis.
    bool find_axis(const ir::Operation& sum, Match& match) const {
        const auto rank = static_cast<int64_t>(program_.tensors[match.between].shape.size());
        const int64_t channel = channel_ < 0 ? channel_ + rank : channel_;
        if (channel < 0 || channel >= rank) return false;
        for (const ir::Formula& formula : sum.formulas) {
            if (formula.op != ir::FormulaOp::Sum || formula.writes.size() != 1) continue;
            const ir::SymId index = formula.writes[0].indices[static_cast<size_t>(channel)].value;
            for (const ir::Access& access : formula.accesses) {
                if (access.tensor != match.weights) continue;
                const auto found = std::ranges::find(access.indices, index, &ir::IndexTerm::value);
                if (found == access.indices.end()) return false;
                match.axis = static_cast<size_t>(found - access.indices.begin());
                return true;
            }
        }
        return false;
    }

    const ir::Program& program_;
    std::unordered_map<ir::TensorId, int, IdHash> readers_;
    std::unordered_map<ir::TensorId, ir::OpId, IdHash> maker_;
    mutable int64_t channel_ = 1;
};

// New weights and bias; empty if the numbers of elements do not fit.
struct NewData {
    tensor::Tensor weights, bias;
};
Result<std::optional<NewData>> new_data(const model::LoadedModel& model, const Match& match) {
    std::vector<ir::TensorId> wanted = {match.weights, match.mean, match.variance};
    const auto add = [&](ir::TensorId id) -> std::optional<size_t> {
        if (!id.valid()) return std::nullopt;
        wanted.push_back(id);
        return wanted.size() - 1;
    };
    const auto offset = add(match.offset);
    const auto scale = add(match.scale);
    const auto bias = add(match.bias);
    const auto values = evaluate(model, wanted);
    if (!values) return std::nullopt;  // something depends on an input
    const tensor::Shape& shape = (*values)[0].shape();
    if (match.axis >= shape.size()) return std::nullopt;
    const int64_t channels = shape[match.axis];
    const auto at = [&](std::optional<size_t> which, int64_t c, double otherwise) {
        return which ? (*values)[*which].real((*values)[*which].size() == 1 ? 0 : c) : otherwise;
    };
    for (size_t i = 1; i < values->size(); ++i) {
        if ((*values)[i].size() != channels && (*values)[i].size() != 1) return std::nullopt;
    }
    NewData made{.weights = (*values)[0], .bias = {}};
    tensor::Shape bias_shape = {channels};
    if (match.kind->row) bias_shape = {1, channels};
    LEMMA_TRY(made.bias, tensor::Tensor::zeros(made.weights.dtype(), bias_shape));
    int64_t inner = 1;
    for (size_t i = match.axis + 1; i < shape.size(); ++i) inner *= shape[i];
    std::vector<double> factors;
    for (int64_t c = 0; c < channels; ++c) {
        const double factor = at(scale, c, 1.0) / std::sqrt(at(2, c, 0.0) + match.epsilon);
        factors.push_back(factor);
        made.bias.set_real(c, (at(bias, c, 0.0) - at(1, c, 0.0)) * factor + at(offset, c, 0.0));
    }
    for (int64_t i = 0; i < made.weights.size(); ++i) {
        const auto c = static_cast<size_t>(i / inner % channels);
        made.weights.set_real(i, made.weights.real(i) * factors[c]);
    }
    return std::optional(std::move(made));
}

ir::TensorId add_variable(ir::Program& program,
                          const std::string& name,
                          const tensor::Tensor& value) {
    ir::Tensor made;
    made.name = name;
    made.dtype = value.dtype();
    made.role = ir::TensorRole::Variable;
    for (const int64_t extent : value.shape())
        made.shape.push_back(program.symbols.integer(extent));
    made.identity = program.symbols.symbol(name, ir::ScalarType::Int);
    return program.tensors.add(std::move(made));
}

// Operators of a SkriptND model have layers and normalisations inside. They are opened, so that
// both become operations of the graph.
std::vector<ir::OpId> opened(const ir::Program& program, const std::vector<ir::OpId>& list) {
    std::vector<ir::OpId> result;
    for (const ir::OpId id : list) {
        const ir::Operation& op = program.operations[id];
        bool inside = false;
        visit(program, id, [&](const ir::Operation& part) {
            inside = inside || part.op == "nn.batch_norm" || part.op == "nn.conv" ||
                     part.op == "nn.linear";
        });
        if (!inside || !op.compound() || op.op == "nn.batch_norm") {
            result.push_back(id);
            continue;
        }
        const std::vector<ir::OpId> parts = opened(program, op.parts);
        result.insert(result.end(), parts.begin(), parts.end());
    }
    return result;
}

}  // namespace

Result<FoldedNorms> fold_batch_norms(model::LoadedModel& model) {
    ir::Program& program = model.program;
    if (model.file.format == model::Format::SkriptND) {
        ir::Graph& main = program.graphs[program.main];
        main.operations = opened(program, main.operations);
    }
    const Finder finder(program);
    UniqueNames names;
    for (const ir::Tensor& tensor : program.tensors) names.take(tensor.name);
    FoldedNorms folded;
    std::vector<ir::OpId>& operations = program.graphs[program.main].operations;
    const std::vector<ir::OpId> before = operations;
    for (const ir::OpId id : before) {
        const auto match = finder.find(id);
        if (!match) continue;
        LEMMA_TRY(auto data, new_data(model, *match));
        if (!data) continue;
        const std::string base = program.tensors[match->weights].name;
        const std::string weights_name = names.make(base + "_folded");
        const std::string bias_name = names.make(base + "_bias");
        const ir::TensorId weights = add_variable(program, weights_name, data->weights);
        const ir::TensorId bias = add_variable(program, bias_name, data->bias);
        folded.data.emplace(weights_name, std::move(data->weights));
        folded.data.emplace(bias_name, std::move(data->bias));
        ir::Operation& layer = program.operations[match->layer];
        bool has_port = false;
        for (ir::Port& port : layer.inputs) {
            if (port.operand.items == std::vector{match->weights})
                port.operand = ir::Operand::single(weights);
            if (port.name != match->kind->bias) continue;
            port.operand = ir::Operand::single(bias);
            has_port = true;
        }
        if (!has_port) layer.inputs.push_back({match->kind->bias, ir::Operand::single(bias)});
        layer.outputs[0].operand = ir::Operand::single(match->result);
        std::erase(operations, id);
        ++folded.count;
    }
    return folded;
}

}  // namespace lemma::edit
