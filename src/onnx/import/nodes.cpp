// SPDX-License-Identifier: Apache-2.0
// Imports node by node: names become values, and calls go to the builder.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

namespace {

// Items of all folded nodes together; beyond this bound, nodes are left to the run.
constexpr int64_t kMaxKnownTotal = int64_t{1} << 24;

// Operators of ONNX that the library lacks.
bool is_left_out(const Node& node) {
    const Operator* const row = find_operator(node.op);
    return !is_default_domain(node.domain) || (row && row->meaning == Meaning::None);
}

}  // namespace

ValueId Importer::find(const Scope& scope, const std::string& name) const {
    for (const Scope* at = &scope; at; at = at->outer) {
        const auto found = at->names.find(name);
        if (found != at->names.end()) return found->second;
    }
    return {};
}

bool Importer::is_there(const Scope& scope, const std::string& name) const {
    for (const Scope* at = &scope; at; at = at->outer) {
        if (at->names.contains(name)) return true;
    }
    return false;
}

int64_t Importer::opset_of(const Scope& scope, const std::string& domain) const {
    for (const OperatorSet& opset : *scope.opsets) {
        const bool same =
            is_default_domain(domain) ? is_default_domain(opset.domain) : opset.domain == domain;
        if (same) return opset.version;
    }
    return 0;
}

void Importer::import_nodes(const std::vector<Node>& nodes, Scope& scope) {
    for (const Node& node : nodes) {
        if (diag_.full()) failed_ = true;
        if (diag_.full()) break;
        import_node(node, scope);
    }
}

void Importer::import_node(const Node& node, Scope& scope) {
    Results results;
    auto call = resolve(node, scope);
    if (call && !any_broken(call->inputs)) {
        if (++calls_ > options_.limits.max_calls) {
            fail(*call,
                 DiagKind::TooLarge,
                 fmt::format("the model comes to more than {} calls", options_.limits.max_calls));
        } else {
            results = import_call(std::move(*call), scope);
        }
    }
    failed_ = failed_ || !results;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        const bool there = results && i < results->size() && (*results)[i].valid();
        scope.names[node.outputs[i]] = there ? (*results)[i] : broken_value(node.outputs[i]);
    }
}

void Importer::add_attribute(const Attribute& attribute, const Scope& scope, NodeCall& call) {
    const Attribute* actual = &attribute;
    if (!attribute.reference.empty()) {
        if (!scope.arguments) return;
        const auto found = scope.arguments->find(attribute.reference);
        if (found == scope.arguments->end()) return;  // missing in the call: its default applies
        actual = found->second;
    }
    if (auto value = plain_value(*actual)) {
        call.attributes.set(attribute.name, std::move(*value));
        return;
    }
    call.parts[attribute.name] = actual;
    // Small lists may come as tensors; an attribute `value` stays a tensor.
    if (actual->tensors.size() != 1 || attribute.name == "value") return;
    const TensorData& data = actual->tensors[0];
    if (data.proto.shape.size() != 1 || data.proto.shape[0] > kMaxKnownItems) return;
    const Result<ConstantValue> items = known_tensor(data);
    if (!items) {
        fail(call, DiagKind::BadData, items.error().message);
        return;
    }
    call.attributes.set(attribute.name, ir::Pack{.items = items->items});
}

std::optional<NodeCall> Importer::resolve(const Node& node, const Scope& scope) {
    NodeCall call;
    call.node = &node;
    call.op = operator_of(node);
    call.opset = opset_of(scope, node.domain);
    call.span = span(node.place);
    call.outputs = node.outputs;
    for (const Attribute& attribute : node.attributes) add_attribute(attribute, scope, call);
    for (const std::string& input : node.inputs) {
        const ValueId id = input.empty() ? ValueId{} : find(scope, input);
        if (!input.empty() && !id.valid() && !is_there(scope, input)) {  // validate reported it
            failed_ = true;
            return std::nullopt;
        }
        call.inputs.push_back(id);
    }
    while (!call.inputs.empty() && !call.inputs.back().valid()) call.inputs.pop_back();
    return call;
}

Importer::Results Importer::import_call(NodeCall call, const Scope& scope) {
    const Node& node = *call.node;
    if (const Function* const function = find_function(node))
        return import_function(call, *function, scope);
    const Operator* const row = find_operator(call.op);
    const Meaning meaning = row ? row->meaning : Meaning::Definition;
    if (node.domain == domain_name(Domain::Preview) && call.op == "FlexAttention")
        return import_flex_attention(call, scope);
    if (node.domain == domain_name(Domain::Training) && meaning == Meaning::Optimizer)
        return import_optimizer(call);
    // The few operators of other domains share the library.
    if (!is_default_domain(node.domain) && node.domain != domain_name(Domain::Ml) &&
        node.domain != kMicrosoftDomain) {
        not_supported(call,
                      fmt::format("operators of the domain `{}` are not supported", node.domain));
        return std::nullopt;
    }
    if (meaning == Meaning::Control) return import_control(call, scope);
    if (call.op == "Constant") return import_constant(call);
    if (meaning == Meaning::Sequence) return import_sequence(call);
    if (call.op == "Identity") return alias(call);
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    if (!normalise(*this, call) || any_broken(call.inputs)) return std::nullopt;
    if (!choose_types(call)) return std::nullopt;
    const auto shared = std::make_shared<const NodeCall>(std::move(call));
    Results results = fold_call(*shared);
    if (!results) results = call_operator(shared);
    if (results && shared->result_type) {
        results->front() = make(*shared, "Cast", {results->front()}, {}, {*shared->result_type});
    }
    return results;
}

Importer::Results Importer::alias(const NodeCall& call) {
    if (!call.has_input(0)) {
        fail(call, DiagKind::ArgumentCount, "`Identity` needs an input");
        return std::nullopt;
    }
    return std::vector{call.inputs[0]};
}

ValueId Importer::make(const NodeCall& like,
                       std::string op,
                       std::vector<ValueId> inputs,
                       Attributes attributes,
                       std::vector<DType> types) {
    auto call = std::make_shared<NodeCall>();
    call->node = like.node;
    call->op = std::move(op);
    call->opset = like.opset;
    call->attributes = std::move(attributes);
    call->inputs = std::move(inputs);
    call->types = std::move(types);
    call->span = like.span;
    call->outputs = {like.outputs.empty() ? "" : like.outputs[0] + "_" + call->op};
    if (any_broken(call->inputs)) return broken_value("");
    Results results = fold_call(*call);
    if (!results) results = call_operator(call);
    failed_ = failed_ || !results;
    return results ? (*results)[0] : broken_value("");
}

// ---- Constants ----------------------------------------------------------------------------------

Importer::Results Importer::import_constant(const NodeCall& call) {
    const std::string name = call.outputs.empty() ? "" : call.outputs[0];
    const auto part = call.parts.find("value");
    if (part != call.parts.end() && part->second->tensors.size() == 1) {
        const TensorData& data = part->second->tensors[0];
        if (data.proto.data_type == 0) return std::nullopt;  // reported when it was read
        if (!memory_type(data.proto.data_type)) {
            not_supported(call,
                          fmt::format("its elements have the type {}, which is not supported",
                                      tensor::onnx_type_name(data.proto.data_type)));
            return std::nullopt;
        }
        Value value{.name = name};
        value.data = &data;
        return std::vector{add_value(std::move(value))};
    }
    for (const auto& [key, given] : call.attributes.all()) {
        const bool real = key == "value_float" || key == "value_floats";
        const bool integer = key == "value_int" || key == "value_ints";
        const bool text = key == "value_string" || key == "value_strings";
        if (!real && !integer && !text) continue;
        ConstantValue known;
        known.dtype = real ? DType::F32 : integer ? DType::I64 : DType::Str;
        if (const auto* const pack = std::get_if<ir::Pack>(&given)) {
            known.shape = {static_cast<int64_t>(pack->items.size())};
            known.items = pack->items;
        } else {
            known.items = {std::get<Scalar>(given)};
        }
        return std::vector{known_value(std::move(known), name)};
    }
    if (call.parts.contains("sparse_value")) {
        not_supported(call, "sparse constants are not supported");
    } else {
        fail(call, DiagKind::MissingAttribute, "`Constant` has no value");
    }
    return std::nullopt;
}

// ---- Folding ------------------------------------------------------------------------------------

std::optional<std::vector<ConstantValue>> Importer::fold_known(const NodeCall& call,
                                                               bool with_inputs) {
    if ((call.op == "Shape" || call.op == "Size") && call.has_input(0)) {
        std::vector<Scalar> extents;
        for (const ir::SymId extent : shape(call.inputs[0]))
            extents.push_back(to_scalar(extent, symbols()));
        if (call.op == "Shape") {
            const auto rank = static_cast<int64_t>(extents.size());
            const auto at = [&](const char* name, int64_t usual) {
                int64_t index = call.attributes.integer(name).value_or(usual);
                if (index < 0) index += rank;
                return std::min(std::max(index, int64_t{0}), rank);
            };
            const int64_t begin = at("start", 0);
            const int64_t end = std::max(begin, at("end", rank));
            return std::vector{constant_ints({extents.begin() + begin, extents.begin() + end})};
        }
        ir::SymId size = symbols().integer(1);
        for (const Scalar& extent : extents) {
            const auto product =
                symbols().apply(ir::SymOp::Mul, size, to_symbol(extent, symbols()));
            if (!product) return std::nullopt;
            size = *product;
        }
        return std::vector{ConstantValue{DType::I64, {}, {to_scalar(size, symbols())}}};
    }
    if (!can_fold(call.op)) return std::nullopt;
    FoldCall fold_call{.op = call.op,
                       .attributes = call.attributes,
                       .inputs = {},
                       .outputs = call.outputs.size(),
                       .type = {},
                       .symbols = symbols()};
    if (!call.types.empty()) fold_call.type = call.types[0];
    for (const ValueId input : call.inputs) {
        const ConstantValue* items = nullptr;
        if (input.valid()) {
            items = with_inputs ? decided(input) : known(input);
            if (!items) return std::nullopt;
        }
        fold_call.inputs.push_back(items);
    }
    return fold(fold_call);
}

Importer::Results Importer::fold_call(const NodeCall& call) {
    if (known_items_ > kMaxKnownTotal) return std::nullopt;
    auto folded = fold_known(call, false);
    if (!folded) return std::nullopt;
    for (const ConstantValue& known : *folded) known_items_ += known.size();
    std::vector<ValueId> results;
    for (size_t i = 0; i < folded->size(); ++i) {
        const std::string name = i < call.outputs.size() ? call.outputs[i] : "";
        results.push_back(known_value(std::move((*folded)[i]), name));
    }
    return results;
}

// ---- Calls --------------------------------------------------------------------------------------

std::string Importer::label_of(const NodeCall& call) const {
    if (!call.node->name.empty()) return call.node->name;
    return fmt::format("{}_{}", call.op.substr(call.op.rfind('.') + 1), calls_);
}

// The library has separate definitions for integers, bools and other elements if the usual one
// covers reals or numbers only.
std::string Importer::definition_of(const NodeCall& call) {
    const std::string name = "onnx." + call.op;
    const auto first = std::ranges::find_if(call.inputs, [](ValueId id) { return id.valid(); });
    if (first == call.inputs.end()) return name;
    const DType type = dtype(*first);
    if (tensor::is_real(type)) return name;
    const bool whole = tensor::is_integer(type);
    for (const char* const kind : {whole ? "_int" : "_bool", whole ? "" : "_any"}) {
        if (*kind && builder_.has_operator(name + kind)) return name + kind;
    }
    return name;
}

std::optional<ir::Call> Importer::lowered_call(const NodeCall& call) {
    ir::Call result;
    result.op = definition_of(call);
    result.label = label_of(call);
    result.types = call.types;
    result.results = call.outputs;
    result.span = call.span;
    for (const auto& [name, value] : call.attributes.all())
        result.attributes.push_back({name, value});
    const Operator* const row = find_operator(call.op);
    const auto variadic = row ? row->variadic : std::nullopt;
    for (size_t i = 0; i < call.inputs.size() && (!variadic || i < variadic->first); ++i) {
        ir::Operand operand;
        if (call.inputs[i].valid()) operand = ir::Operand::single(tensor(call.inputs[i]));
        result.inputs.push_back(std::move(operand));
    }
    if (!variadic) return result;
    const size_t given = call.inputs.size() - std::min(call.inputs.size(), variadic->first);
    if (variadic->packs > 1 && (given == 0 || given % variadic->packs != 0)) {
        fail(call,
             DiagKind::ArgumentCount,
             fmt::format("`{}` has {} inputs, expected {} and {} for each part",
                         call.node->op,
                         call.inputs.size(),
                         variadic->first,
                         variadic->packs));
        return std::nullopt;
    }
    std::vector<ir::Operand> packs(variadic->packs);
    for (ir::Operand& pack : packs) pack.packed = true;
    for (size_t i = variadic->first; i < call.inputs.size(); ++i) {
        if (!call.inputs[i].valid()) {
            fail(call, DiagKind::ArgumentCount, fmt::format("input {} is left out", i));
            return std::nullopt;
        }
        packs[(i - variadic->first) % packs.size()].items.push_back(tensor(call.inputs[i]));
    }
    for (ir::Operand& pack : packs) result.inputs.push_back(std::move(pack));
    return result;
}

Importer::Results Importer::call_operator(std::shared_ptr<const NodeCall> call) {
    NodeCall steered = *call;
    const bool there = builder_.has_operator("onnx." + call->op);
    if (!there && is_left_out(*call->node)) {
        auto report = diag_.error(call->span,
                                  DiagKind::NotSupported,
                                  fmt::format("the operator `{}` is not supported", call->op));
        failed_ = true;
        if (call->op == "ImageDecoder") {
            report.note(
                "decode the image before the run, and make the pixels an input of the "
                "model (docs/decisions/image-decoder.md)");
        }
        return std::nullopt;
    }
    if (there && !steer(steered)) return std::nullopt;
    const auto lowered = lowered_call(steered);
    if (!lowered) return std::nullopt;
    const auto operands = builder_.call(*lowered);
    if (!operands) return std::nullopt;
    return bind_results(call, *operands);
}

Importer::Results Importer::bind_results(const std::shared_ptr<const NodeCall>& call,
                                         const std::vector<ir::Operand>& operands) {
    std::vector<ir::TensorId> tensors;
    for (const ir::Operand& operand : operands) {
        if (operand.null()) {
            tensors.emplace_back();
        } else {
            tensors.insert(tensors.end(), operand.items.begin(), operand.items.end());
        }
    }
    std::vector<ValueId> results;
    for (size_t i = 0; i < call->outputs.size(); ++i) {
        if (i >= tensors.size() || !tensors[i].valid()) {
            if (!call->outputs[i].empty()) {
                not_supported(*call,
                              fmt::format("output {} of `{}` is not supported", i, call->op));
                return std::nullopt;
            }
            results.emplace_back();
            continue;
        }
        const ValueId id = tensor_value(tensors[i], call->outputs[i]);
        values_[id].maker = call;
        values_[id].maker_output = i;
        results.push_back(id);
    }
    return results;
}

}  // namespace lemma::onnx
