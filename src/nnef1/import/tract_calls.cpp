// SPDX-License-Identifier: Apache-2.0
// Operations of tract whose string attributes describe a computation, and arguments whose form
// differs between tract and the specification.
#include <fmt/format.h>

#include <algorithm>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

ir::Pack pack_of(const std::vector<int64_t>& numbers) {
    ir::Pack pack{.items = {}, .uniform = {}, .type = ir::ScalarType::Int};
    for (const int64_t number : numbers) pack.items.emplace_back(number);
    return pack;
}

}  // namespace

// ---- Item types ---------------------------------------------------------------------------------

// Only the kind of a tract type counts; the program computes in its own widths.
std::optional<ir::DType> Expander::datum_type(const Call& call, size_t param, const Frame& frame) {
    std::string name = std::get<std::string>(call.arguments[param].node);
    std::ranges::transform(name, name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (name == "tdim") return options_.integer;
    if (name == "string") return ir::DType::Str;
    if (const auto dtype = tensor::dtype_from_name(name)) {
        if (tensor::is_real(*dtype)) return options_.scalar;
        return tensor::is_integer(*dtype) ? options_.integer : *dtype;
    }
    report(call.spans[param],
           DiagKind::NotSupported,
           fmt::format("the item type '{}' is not supported", name),
           frame);
    return std::nullopt;
}

Value Expander::call_cast(const Call& call, const Frame& frame) {
    const auto input = std::get<ir::TensorId>(call.arguments[0].node);
    // Without a type, graph.quant gives the type of the result, and the values stay the same.
    const bool told = !std::get<std::string>(call.arguments[1].node).empty();
    const auto dtype =
        told ? datum_type(call, 1, frame) : std::optional(builder_.program().tensors[input].dtype);
    if (!dtype) return {};
    const auto outputs = builder_.call({.op = "nnef1.tract_core_cast",
                                        .label = call.label,
                                        .types = {*dtype},
                                        .attributes = {},
                                        .inputs = {ir::Operand::single(input)},
                                        .results = names_of_results(call, frame),
                                        .span = call.span});
    if (!calls_.items().empty()) hand_on_reports(call, frame);
    if (!outputs) return {};
    Value result{outputs->at(0).items.at(0)};
    learn_values(call, result);
    return result;
}

// ---- Sums of products ---------------------------------------------------------------------------

namespace {

// `mk,kn->mn`: each axis has a letter, which may be any character.
struct Einsum {
    std::vector<std::vector<int64_t>> inputs;  // the letter number of each axis
    std::vector<int64_t> output;
};

// The first character, which may take several bytes.
std::string_view take_character(std::string_view& text) {
    size_t length = 1;
    while (length < text.size() && (static_cast<uint8_t>(text[length]) & 0xC0U) == 0x80U) ++length;
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    return character;
}

std::optional<Einsum> parse_einsum(std::string_view text) {
    const size_t arrow = text.find("->");
    if (arrow == std::string_view::npos) return std::nullopt;
    Einsum result;
    std::map<std::string_view, int64_t> numbers;
    result.inputs.emplace_back();
    std::string_view left = text.substr(0, arrow);
    while (!left.empty()) {
        const std::string_view letter = take_character(left);
        if (letter == " ") continue;
        if (letter == ",") {
            result.inputs.emplace_back();
            continue;
        }
        if (letter == ".") return std::nullopt;
        const auto [place, added] = numbers.emplace(letter, numbers.size());
        result.inputs.back().push_back(place->second);
    }
    std::string_view right = text.substr(arrow + 2);
    while (!right.empty()) {
        const std::string_view letter = take_character(right);
        if (letter == " ") continue;
        const auto found = numbers.find(letter);
        if (found == numbers.end()) return std::nullopt;
        if (std::ranges::find(result.output, found->second) != result.output.end()) {
            return std::nullopt;
        }
        result.output.push_back(found->second);
    }
    return result;
}

// The letters of the first two operands that other operands or the result use.
std::vector<int64_t> kept_letters(std::span<const EinsumOperand> operands,
                                  const std::vector<int64_t>& output) {
    std::vector<int64_t> needed = output;
    for (const EinsumOperand& operand : operands.subspan(2))
        needed.insert(needed.end(), operand.letters.begin(), operand.letters.end());
    std::vector<int64_t> kept;
    for (const EinsumOperand& operand : operands.first(2)) {
        for (const int64_t letter : operand.letters) {
            const bool is_new = std::ranges::find(kept, letter) == kept.end();
            if (is_new && std::ranges::find(needed, letter) != needed.end()) kept.push_back(letter);
        }
    }
    return kept;
}

}  // namespace

// Contracts one or two operands to the axes of `output`.
ir::TensorId Expander::contract(const Call& call,
                                std::span<const EinsumOperand> operands,
                                const std::vector<int64_t>& output,
                                std::vector<std::string> results) {
    ir::Call built{.op = operands.size() == 1 ? "nnef1.tract_einsum_one" : "nnef1.tract_einsum_two",
                   .label = call.label,
                   .types = {},
                   .attributes = {},
                   .inputs = {},
                   .results = std::move(results),
                   .span = call.span};
    int64_t letters = 0;
    for (const EinsumOperand& operand : operands) {
        for (const int64_t letter : operand.letters) letters = std::max(letters, letter + 1);
    }
    std::vector<ir::Scalar> extents(static_cast<size_t>(letters), int64_t{1});
    for (const EinsumOperand& operand : operands) {
        // Axes of extent 1 are broadcast; the definition checks the others.
        const auto& shape = builder_.program().tensors[operand.tensor].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const auto number = builder_.program().symbols.as_int(shape[axis]);
            if (number == 1) continue;
            auto& extent = extents[static_cast<size_t>(operand.letters[axis])];
            if (number) {
                extent = *number;
            } else {
                extent = shape[axis];
            }
        }
        built.attributes.push_back(
            {built.inputs.empty() ? "x_axes" : "y_axes", pack_of(operand.letters)});
        built.inputs.push_back(ir::Operand::single(operand.tensor));
    }
    built.attributes.push_back({"z_axes", pack_of(output)});
    ir::Pack pack{.items = std::move(extents), .uniform = {}, .type = ir::ScalarType::Int};
    built.attributes.push_back({"extents", std::move(pack)});
    const auto outputs = builder_.call(built);
    return outputs ? outputs->at(0).items.at(0) : ir::TensorId{};
}

// Contracts more than two operands from the left, keeping the axes needed later.
Value Expander::call_einsum(const Call& call, const Frame& frame) {
    const auto refuse = [&](size_t argument, std::string message) {
        report(call.spans[argument], DiagKind::NotSupported, std::move(message), frame);
        return Value{};
    };
    const std::string& text = std::get<std::string>(call.arguments[1].node);
    const auto einsum = parse_einsum(text);
    if (!einsum) return refuse(1, fmt::format("the expression '{}' is not understood", text));
    const Values& inputs = *call.arguments[0].items();
    if (inputs.size() != einsum->inputs.size() || inputs.empty()) {
        return refuse(0,
                      fmt::format("the expression '{}' is given {} tensors, expected {}",
                                  text,
                                  inputs.size(),
                                  einsum->inputs.size()));
    }
    std::vector<EinsumOperand> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
        operands.push_back({std::get<ir::TensorId>(inputs[i].node), einsum->inputs[i]});
        const auto& shape = builder_.program().tensors[operands[i].tensor].shape;
        if (shape.size() == einsum->inputs[i].size()) continue;
        return refuse(0,
                      fmt::format("tensor {} of '{}' has shape {}, expected rank {}",
                                  i + 1,
                                  text,
                                  shape_text(shape),
                                  einsum->inputs[i].size()));
    }
    ir::TensorId result;
    while (!operands.empty()) {
        const bool last = operands.size() <= 2;
        const auto first = std::span(operands).first(std::min<size_t>(operands.size(), 2));
        const std::vector<int64_t> kept =
            last ? einsum->output : kept_letters(operands, einsum->output);
        auto names = last ? names_of_results(call, frame) : std::vector<std::string>{""};
        result = contract(call, first, kept, std::move(names));
        if (last || !result.valid()) break;
        operands[1] = {result, kept};
        operands.erase(operands.begin());
    }
    if (!calls_.items().empty()) hand_on_reports(call, frame);
    return result.valid() ? Value{result} : Value{};
}

std::optional<Value> Expander::call_tract(const Call& call, const Frame& frame) {
    if (options_.dialect != Dialect::Tract) return std::nullopt;
    const std::string_view name = call.signature.name();
    if (name == "tract_core_cast") return call_cast(call, frame);
    if (name == "tract_core_einsum") return call_einsum(call, frame);
    return std::nullopt;
}

// The operator for masks of numbers or logicals, or for rounding integers; otherwise null.
const char* Expander::tract_operator(const Call& call) const {
    if (options_.dialect != Dialect::Tract) return nullptr;
    const auto dtype_at = [&](size_t i) -> std::optional<ir::DType> {
        if (i >= call.arguments.size()) return std::nullopt;
        const auto* id = std::get_if<ir::TensorId>(&call.arguments[i].node);
        return id ? std::optional(builder_.program().tensors[*id].dtype) : std::nullopt;
    };
    const std::string_view name = call.signature.name();
    const bool softmax = name == "tract_transformers_scaled_masked_softmax";
    if (softmax && dtype_at(1) == ir::DType::Bool) return "nnef1.tract_scaled_selected_softmax";
    const auto dtype = dtype_at(0);
    return rounds(name) && dtype && tensor::is_integer(*dtype) ? "nnef1.copy" : nullptr;
}

// ---- Arguments in another form ------------------------------------------------------------------

std::optional<ir::TensorId> Expander::call_one(const Call& call,
                                               const ir::Call& made,
                                               const Frame& frame) {
    const auto outputs = builder_.call(made);
    if (!calls_.items().empty()) hand_on_reports(call, frame);
    if (!outputs) return std::nullopt;
    return outputs->at(0).items.at(0);
}

std::optional<ir::TensorId> Expander::call_one(const Call& call,
                                               std::string op,
                                               std::vector<ir::Attribute> attributes,
                                               ir::TensorId input,
                                               const Frame& frame) {
    return call_one(call,
                    {.op = "nnef1." + op,
                     .label = fmt::format("{}.{}", call.label, op),
                     .types = {},
                     .attributes = std::move(attributes),
                     .inputs = {ir::Operand::single(input)},
                     .results = {},
                     .span = call.span},
                    frame);
}

// Filters of `deconv` have the output channels first in tract: [g * o, i, …] instead of [g * i, o,
// …].
bool Expander::swap_filter(Call& call, const Frame& frame) {
    const auto groups = call.signature.find_param("groups");
    const auto* count = groups ? std::get_if<int64_t>(&call.arguments[*groups].node) : nullptr;
    const auto* filter = std::get_if<ir::TensorId>(&call.arguments[1].node);
    if (!count || !filter || *count <= 0) return true;  // depthwise: one channel each
    std::vector<int64_t> shape;
    for (const ir::SymId extent : builder_.program().tensors[*filter].shape) {
        shape.push_back(builder_.program().symbols.as_int(extent).value_or(0));
    }
    if (shape.size() < 2 || shape[0] <= 0 || shape[0] % *count != 0) return true;  // reported later
    std::vector<int64_t> parted = {*count, shape[0] / *count};
    parted.insert(parted.end(), shape.begin() + 1, shape.end());
    std::vector<int64_t> order(parted.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::swap(order[1], order[2]);
    std::vector<int64_t> joined = {*count * parted[2], parted[1]};
    joined.insert(joined.end(), parted.begin() + 3, parted.end());
    auto id = call_one(call, "reshape", {{"shape", pack_of(parted)}}, *filter, frame);
    if (id) id = call_one(call, "transpose", {{"axes", pack_of(order)}}, *id, frame);
    if (id) id = call_one(call, "reshape", {{"shape", pack_of(joined)}}, *id, frame);
    if (!id) return false;
    call.arguments[1] = Value{*id};
    // `output_shape` has the spatial extents only.
    const auto extents = call.signature.find_param("output_shape");
    const Values* const given = extents ? call.arguments[*extents].items() : nullptr;
    const auto* input = std::get_if<ir::TensorId>(&call.arguments[0].node);
    if (given && input && given->size() + 2 == shape.size()) {
        const auto& of_input = builder_.program().tensors[*input].shape;
        Values whole = {of_input.empty() ? Value{int64_t{1}} : extent_value(of_input[0]),
                        Value{shape[0]}};
        whole.insert(whole.end(), given->begin(), given->end());
        call.arguments[*extents] = Value::array(std::move(whole));
    }
    return true;
}

// Ignores axes of extent 1: [C, 1, 1] is [1, C].
bool Expander::fit_bias(Call& call, size_t param, const Frame& frame) {
    const auto* id = std::get_if<ir::TensorId>(&call.arguments[param].node);
    if (!id) return true;
    std::vector<int64_t> extents;
    for (const ir::SymId extent : builder_.program().tensors[*id].shape) {
        extents.push_back(builder_.program().symbols.as_int(extent).value_or(0));
    }
    const auto longer = std::ranges::count_if(extents, [](int64_t n) { return n != 1; });
    const bool usual = extents.size() <= 1 || (extents.size() == 2 && extents[0] == 1);
    if (usual || longer > 1) return true;
    const auto channels = std::ranges::find_if(extents, [](int64_t n) { return n != 1; });
    const int64_t count = channels == extents.end() ? 1 : *channels;
    const auto fitted = call_one(call, "reshape", {{"shape", pack_of({1, count})}}, *id, frame);
    if (!fitted) return false;
    call.arguments[param] = Value{*fitted};
    return true;
}

// The same values in another item type.
std::optional<ir::TensorId> Expander::as_dtype(const Call& call,
                                               ir::TensorId input,
                                               ir::DType dtype,
                                               const Frame& frame) {
    return call_one(call,
                    {.op = "nnef1.tract_core_cast",
                     .label = fmt::format("{}.cast", call.label),
                     .types = {dtype},
                     .attributes = {},
                     .inputs = {ir::Operand::single(input)},
                     .results = {},
                     .span = call.span},
                    frame);
}

// Documents use `tensor<scalar>` for all items: indices may be reals, and constants may be integers
// among reals.
bool Expander::fit_item_types(Call& call, const Frame& frame) {
    const auto dtype_of_argument = [&](size_t i) -> std::optional<ir::DType> {
        const auto* id = std::get_if<ir::TensorId>(&call.arguments[i].node);
        if (!id || !call.signature.params[i].tensor()) return std::nullopt;
        return builder_.program().tensors[*id].dtype;
    };
    bool reals = false;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const auto dtype = dtype_of_argument(i);
        reals = reals || (dtype && tensor::is_real(*dtype));
    }
    const bool extension = call.signature.name().starts_with("tract_");
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const auto dtype = dtype_of_argument(i);
        if (!dtype) continue;
        const auto id = std::get<ir::TensorId>(call.arguments[i].node);
        const auto wanted = call.signature.params[i].name;
        const bool constant = builder_.program().tensors[id].role == ir::TensorRole::Constant;
        const bool index = extension && wanted == TypeName::Integer && tensor::is_real(*dtype);
        const bool number =
            reals && wanted == TypeName::Scalar && constant && tensor::is_integer(*dtype);
        if (!index && !number) continue;
        const auto cast = as_dtype(call, id, index ? options_.integer : options_.scalar, frame);
        if (!cast) return false;
        call.arguments[i] = Value{*cast};
    }
    return true;
}

// Adds axes one after the other, from the first on: [0, 0] adds two in front.
void Expander::spread_axes(Call& call) const {
    const auto axes = call.signature.find_param("axes");
    const Values* const given = axes ? call.arguments[*axes].items() : nullptr;
    if (!given) return;
    std::vector<int64_t> sorted;
    for (const Value& item : *given) {
        const auto* axis = std::get_if<int64_t>(&item.node);
        if (!axis || *axis < 0 || *axis > static_cast<int64_t>(kMaxRank)) return;  // reported later
        sorted.push_back(*axis);
    }
    std::ranges::sort(sorted);
    std::vector<int64_t> places;
    for (const int64_t axis : sorted) {
        for (int64_t& place : places) place += place >= axis ? 1 : 0;
        places.push_back(axis);
    }
    std::ranges::sort(places);
    Values spread;
    for (const int64_t place : places) spread.push_back({place});
    call.arguments[*axes] = Value::array(std::move(spread));
}

bool Expander::adapt_to_tract(Call& call, const Frame& frame) {
    if (options_.dialect != Dialect::Tract) return true;
    if (!fit_item_types(call, frame)) return false;
    const std::string_view name = call.signature.name();
    if (name == "unsqueeze") spread_axes(call);
    const auto border = call.signature.find_param("border");
    auto* mode = border ? std::get_if<std::string>(&call.arguments[*border].node) : nullptr;
    // Padding is never the maximum, so the border is ignored.
    if (mode && name.starts_with("max_pool") && *mode == "constant") *mode = "ignore";
    if (mode && name == "pad" && *mode == "replicated") *mode = "replicate";
    if (name == "deconv" && !swap_filter(call, frame)) return false;
    if (name != "conv" && name != "deconv") return true;
    const auto bias = call.signature.find_param("bias");
    return !bias || fit_bias(call, *bias, frame);
}

}  // namespace lemma::nnef1
