// Inputs that steer shapes become attributes, and types that no input tells are given explicitly.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "onnx/import/importer.h"

namespace lemma::onnx {

namespace {

using Table = std::unordered_map<std::string, std::vector<Steering>>;

const Table& table() {
    constexpr SteerAs kOne = SteerAs::One;
    constexpr SteerAs kList = SteerAs::List;
    static const Table kTable = [] {
        Table rows = {
            {"Reshape", {{1, "shape", kList}}},
            {"Expand", {{1, "shape", kList}}},
            {"Tile", {{1, "repeats", kList}}},
            {"Slice",
             {{1, "starts", kList}, {2, "ends", kList}, {3, "axes", kList}, {4, "steps", kList}}},
            {"Pad", {{1, "pads", kList}, {3, "axes", kList}}},
            {"Squeeze", {{1, "axes", kList}}},
            {"Unsqueeze", {{1, "axes", kList}}},
            {"Split", {{1, "split", kList}}},
            {"Resize", {{1, "roi", kList}, {2, "scales", kList}, {3, "sizes", kList}}},
            {"Upsample", {{1, "scales", kList}}},
            {"TopK", {{1, "k", kOne}}},
            {"OneHot", {{1, "depth", kOne}}},
            {"Range", {{0, "start", kOne}, {1, "limit", kOne}, {2, "delta", kOne}}},
            {"ConstantOfShape", {{0, "shape", kList}}},
            {"CumSum", {{1, "axis", kOne}}},
            {"CumProd", {{1, "axis", kOne}}},
            {"Trilu", {{1, "k", kOne}}},
            {"DFT", {{1, "dft_length", kOne}, {2, "axis", kOne}}},
            {"STFT", {{1, "frame_step", kOne}, {3, "frame_length", kOne}}},
            {"HannWindow", {{0, "size", kOne}}},
            {"HammingWindow", {{0, "size", kOne}}},
            {"BlackmanWindow", {{0, "size", kOne}}},
            {"MelWeightMatrix",
             {{0, "num_mel_bins", kOne},
              {1, "dft_length", kOne},
              {2, "sample_rate", kOne},
              {3, "lower_edge_hertz", kOne},
              {4, "upper_edge_hertz", kOne}}},
            {"CenterCropPad", {{1, "shape", kList}}},
            {"Col2Im", {{1, "image_shape", kList}, {2, "block_shape", kList}}},
            {"AffineGrid", {{1, "size", kList}}},
            {"MaxUnpool", {{2, "output_shape_", kList}}},
            {"NonMaxSuppression",
             {{2, "max_output_boxes_per_class", kOne},
              {3, "iou_threshold", kOne},
              {4, "score_threshold", kOne}}},
            {"Dropout", {{1, "ratio", kOne}, {2, "training_mode", kOne}}},
            {"com.microsoft.GroupQueryAttention", {{6, "total_sequence_length", kOne}}},
        };
        for (const char* const op : {"ReduceL1",
                                     "ReduceL2",
                                     "ReduceLogSum",
                                     "ReduceLogSumExp",
                                     "ReduceMax",
                                     "ReduceMean",
                                     "ReduceMin",
                                     "ReduceProd",
                                     "ReduceSum",
                                     "ReduceSumSquare"}) {
            rows[op] = {{1, "axes", kList}};
        }
        return rows;
    }();
    return kTable;
}

// Where the type of a result comes from that no input tells.
struct TypeRow {
    const char* attribute;  // ONNX's code of the type
    int from_input;         // whose type it is without that attribute; -1: none
    DType usual;            // without either
};
const std::unordered_map<std::string, TypeRow>& type_rows() {
    static const std::unordered_map<std::string, TypeRow> kRows = {
        {"Cast", {"to", -1, DType::F32}},
        {"BitCast", {"to", -1, DType::F32}},
        {"EyeLike", {"dtype", 0, DType::F32}},
        {"RandomNormal", {"dtype", -1, DType::F32}},
        {"RandomUniform", {"dtype", -1, DType::F32}},
        {"RandomNormalLike", {"dtype", 0, DType::F32}},
        {"RandomUniformLike", {"dtype", 0, DType::F32}},
        {"Bernoulli", {"dtype", 0, DType::F32}},
        {"Multinomial", {"dtype", -1, DType::I32}},
        {"HannWindow", {"output_datatype", -1, DType::F32}},
        {"HammingWindow", {"output_datatype", -1, DType::F32}},
        {"BlackmanWindow", {"output_datatype", -1, DType::F32}},
        {"MelWeightMatrix", {"output_datatype", -1, DType::F32}},
        {"QuantizeLinear", {"output_dtype", 2, DType::U8}},
        {"DequantizeLinear", {"output_dtype", 1, DType::F32}},
        {"DynamicQuantizeLinear", {"", -1, DType::U8}},
        {"MatMulInteger", {"", -1, DType::I32}},
        {"ConvInteger", {"", -1, DType::I32}},
        {"Range", {"", 0, DType::F32}},
        {"com.microsoft.EmbedLayerNormalization", {"", -1, DType::I32}},
    };
    return kRows;
}

// An empty list means that these were left out.
bool empty_means_missing(const std::string& op) { return op == "Resize"; }

}  // namespace

const std::vector<Steering>& steering_of(const std::string& op) {
    static const std::vector<Steering> kNone;
    const auto found = table().find(op);
    return found == table().end() ? kNone : found->second;
}

std::optional<Variadic> variadic_of(const std::string& op) {
    static const std::unordered_map<std::string, Variadic> kRows = {
        {"Concat", {0, 1}},
        {"Sum", {0, 1}},
        {"Max", {0, 1}},
        {"Min", {0, 1}},
        {"Mean", {0, 1}},
        {"com.microsoft.QLinearConcat", {2, 3}},
    };
    const auto found = kRows.find(op);
    return found == kRows.end() ? std::nullopt : std::optional(found->second);
}

std::string type_attribute_of(const std::string& op) {
    const auto found = type_rows().find(op);
    return found == type_rows().end() ? "" : found->second.attribute;
}

bool Importer::steer_by(NodeCall& call, const Steering& steering) {
    const ValueId id = call.inputs[steering.input];
    const Known* const items = decided(id);
    if (!items) {
        failed_ = true;
        if (values_[id].broken || values_[id].undecided) return false;
        return not_supported(
            call,
            fmt::format("the input `{}` of `{}` has to be known before the run, but `{}` is "
                        "computed from data",
                        steering.attribute,
                        call.op,
                        values_[id].name));
    }
    if (steering.as == SteerAs::One) {
        if (items->size() != 1) {
            return fail(call,
                        DiagKind::BadArgument,
                        fmt::format("the input `{}` of `{}` has {} elements, expected one",
                                    steering.attribute,
                                    call.op,
                                    items->size()));
        }
        call.attributes.set(steering.attribute, items->items[0]);
        return true;
    }
    if (items->shape.size() > 1) {
        return fail(call,
                    DiagKind::BadArgument,
                    fmt::format("the input `{}` of `{}` has rank {}, expected 1",
                                steering.attribute,
                                call.op,
                                items->shape.size()));
    }
    if (items->items.empty() && empty_means_missing(call.op)) return true;
    ir::Pack pack{.items = items->items};
    if (tensor::is_integer(items->dtype)) pack.type = ir::ScalarType::Int;
    if (tensor::is_real(items->dtype)) pack.type = ir::ScalarType::Real;
    call.attributes.set(steering.attribute, std::move(pack));
    return true;
}

bool Importer::steer(NodeCall& call) {
    const std::vector<Steering>& rows = steering_of(call.op);
    bool good = true;
    for (const Steering& row : rows) {
        if (call.has_input(row.input)) good = steer_by(call, row) && good;
    }
    if (!good) return false;
    for (size_t i = rows.size(); i > 0; --i) call.drop_input(rows[i - 1].input);
    while (!call.inputs.empty() && !call.inputs.back().valid()) call.inputs.pop_back();
    return call.op != "Reshape" || resolve_reshape(call);
}

bool Importer::choose_types(NodeCall& call) {
    if (call.op == "ConstantOfShape" && call.types.empty()) {
        const auto part = call.parts.find("value");
        Known value{.dtype = DType::F32, .shape = {}, .items = {0.0}};
        if (part != call.parts.end() && part->second->tensors.size() == 1) {
            const Result<Known> given = known_tensor(part->second->tensors[0]);
            if (!given || given->size() != 1) {
                return fail(
                    call,
                    DiagKind::BadData,
                    given ? "the attribute `value` has not one element" : given.error().message);
            }
            value = *given;
        }
        call.types = {value.dtype};
        call.attributes.set("value", value.items[0]);
        return true;
    }
    const auto found = type_rows().find(call.op);
    if (found == type_rows().end() || !call.types.empty()) return true;
    const TypeRow& row = found->second;
    const auto code = call.attributes.integer(row.attribute);
    call.attributes.erase(row.attribute);
    if (code && *code != 0) {
        const auto dtype = memory_type(*code);
        if (!dtype || tensor::dtype_of_onnx(*code) != dtype) {
            return not_supported(call,
                                 fmt::format("the attribute `{}` is {}, which is not supported",
                                             row.attribute,
                                             tensor::onnx_type_name(*code)));
        }
        call.types = {*dtype};
        return true;
    }
    if (code || call.op != "Cast") {
        const auto input = static_cast<size_t>(std::max(row.from_input, 0));
        const bool by_input = row.from_input >= 0 && call.has_input(input);
        call.types = {by_input ? dtype(call.inputs[input]) : row.usual};
        return true;
    }
    return fail(call, DiagKind::MissingAttribute, "`Cast` needs the attribute `to`");
}

// ---- Reshape
// -------------------------------------------------------------------------------------

namespace {

// A product as constant and other factors.
struct Factors {
    int64_t constant = 1;
    std::vector<ir::SymId> others;
};
// Takes products apart: `2*n` is the constant 2 and the factor `n`.
std::optional<Factors> factors_of(const std::vector<ir::SymId>& extents, ir::SymbolPool& symbols) {
    Factors factors;
    const auto scale = [&](int64_t by) {
        return !__builtin_mul_overflow(factors.constant, by, &factors.constant);
    };
    for (const ir::SymId extent : extents) {
        if (const auto value = symbols.as_int(extent)) {
            if (!scale(*value)) return std::nullopt;
            continue;
        }
        const ir::SymNode node = symbols.node(extent);
        if (node.kind != ir::SymKind::Polynomial || node.terms.size() != 1) {
            factors.others.push_back(extent);
            continue;
        }
        if (!scale(node.terms[0].coefficient)) return std::nullopt;
        for (const ir::SymFactor& factor : node.terms[0].factors)
            factors.others.insert(factors.others.end(), factor.power, factor.atom);
    }
    return factors;
}

std::optional<ir::SymId> product(const Factors& factors, ir::SymbolPool& symbols) {
    std::optional<ir::SymId> result = symbols.integer(factors.constant);
    for (const ir::SymId factor : factors.others) {
        if (result) result = symbols.apply(ir::SymOp::Mul, *result, factor);
    }
    return result;
}

}  // namespace

// Equal factors are struck out first, for a division by an extent says less than no division.
std::optional<ir::SymId> Importer::remaining_extent(const std::vector<ir::SymId>& from,
                                                    const std::vector<ir::SymId>& taken) {
    auto whole = factors_of(from, symbols());
    auto part = factors_of(taken, symbols());
    if (!whole || !part) return std::nullopt;
    for (auto factor = part->others.begin(); factor != part->others.end();) {
        const auto same = std::ranges::find(whole->others, *factor);
        if (same == whole->others.end()) {
            ++factor;
            continue;
        }
        whole->others.erase(same);
        factor = part->others.erase(factor);
    }
    if (part->constant != 0 && whole->constant % part->constant == 0) {
        whole->constant /= part->constant;
        part->constant = 1;
    }
    const auto above = product(*whole, symbols());
    const auto below = product(*part, symbols());
    if (!above || !below) return std::nullopt;
    if (symbols().as_int(*below) == 1) return above;
    return symbols().apply(ir::SymOp::Div, *above, *below);
}

bool Importer::resolve_reshape(NodeCall& call) {
    const auto wanted = call.attributes.list("shape");
    if (!wanted || !call.has_input(0)) return true;  // the definition tells what is missing
    const std::vector<ir::SymId> from = shape(call.inputs[0]);
    const bool zero_is_zero = call.attributes.integer("allowzero").value_or(0) != 0;
    call.attributes.erase("allowzero");
    std::vector<ir::SymId> extents;
    std::optional<size_t> open;
    for (size_t i = 0; i < wanted->size(); ++i) {
        const auto value = as_int((*wanted)[i]);
        if (value == 0 && !zero_is_zero) {
            if (i >= from.size()) {
                return fail(
                    call,
                    DiagKind::BadArgument,
                    fmt::format("`shape` copies axis {} of an input of rank {}", i, from.size()));
            }
            extents.push_back(from[i]);
            continue;
        }
        if (value == -1) {
            if (open) return fail(call, DiagKind::BadArgument, "`shape` has two extents -1");
            open = i;
            extents.push_back(symbols().integer(1));
            continue;
        }
        if (value && *value < -1) {
            return fail(call,
                        DiagKind::BadArgument,
                        fmt::format("`shape` has the negative extent {}", *value));
        }
        extents.push_back(to_symbol((*wanted)[i], symbols()));
    }
    if (open) {
        const auto rest = remaining_extent(from, extents);
        if (!rest) {
            return fail(call,
                        DiagKind::BadArgument,
                        "`shape` leaves an extent open that cannot be worked out");
        }
        extents[*open] = *rest;
    }
    ir::Pack pack{.type = ir::ScalarType::Int};
    for (const ir::SymId extent : extents) pack.items.push_back(to_scalar(extent, symbols()));
    call.attributes.set("shape", std::move(pack));
    return true;
}

}  // namespace lemma::onnx
