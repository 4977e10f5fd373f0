// SPDX-License-Identifier: Apache-2.0
// Makes inputs that decide shapes attributes, and gives types that do not follow from the inputs.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "onnx/import/importer.h"

namespace lemma::onnx {

bool Importer::steer_by(NodeCall& call, const Steering& steering) {
    const ValueId id = call.inputs[steering.input];
    const ConstantValue* const items = decided(id);
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
    if (steering.as != SteerAs::List) {
        if (items->size() != 1) {
            return fail(call,
                        DiagKind::BadArgument,
                        fmt::format("the input `{}` of `{}` has {} elements, expected one",
                                    steering.attribute,
                                    call.op,
                                    items->size()));
        }
        call.attributes.set(std::string(steering.attribute), items->items[0]);
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
    if (items->items.empty() && steering.empty_is_missing) return true;
    ir::Pack pack{.items = items->items};
    if (tensor::is_integer(items->dtype)) pack.type = ir::ScalarType::Int;
    if (tensor::is_real(items->dtype)) pack.type = ir::ScalarType::Real;
    call.attributes.set(std::string(steering.attribute), std::move(pack));
    return true;
}

bool Importer::steer(NodeCall& call) {
    const Operator* const row = find_operator(call.op);
    if (!row) return true;  // a helper of the library
    bool good = true;
    for (const Steering& steering : row->steering) {
        if (call.has_input(steering.input)) good = steer_by(call, steering) && good;
    }
    if (!good) return false;
    for (const Steering& steering : std::views::reverse(row->steering))
        call.drop_input(steering.input);
    while (!call.inputs.empty() && !call.inputs.back().valid()) call.inputs.pop_back();
    return call.op != "Reshape" || resolve_reshape(call);
}

bool Importer::choose_types(NodeCall& call) {
    if (call.op == "ConstantOfShape" && call.types.empty()) {
        const auto part = call.parts.find("value");
        ConstantValue value{.dtype = DType::F32, .shape = {}, .items = {0.0}};
        if (part != call.parts.end() && part->second->tensors.size() == 1) {
            const Result<ConstantValue> given = known_tensor(part->second->tensors[0]);
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
    const Operator* const row = find_operator(call.op);
    if (!row || !row->result_type || !call.types.empty()) return true;
    const ResultType& type = *row->result_type;
    const std::string attribute(type.attribute);
    const auto code = call.attributes.integer(attribute);
    call.attributes.erase(attribute);
    if (code && *code != 0) {
        const auto dtype = memory_type(*code);
        if (!dtype || tensor::dtype_of_onnx(*code) != dtype) {
            return not_supported(call,
                                 fmt::format("the attribute `{}` is {}, which is not supported",
                                             attribute,
                                             tensor::onnx_type_name(*code)));
        }
        call.types = {*dtype};
        return true;
    }
    if (code || call.op != "Cast") {
        const bool by_input = type.from_input && call.has_input(*type.from_input);
        call.types = {by_input ? dtype(call.inputs[*type.from_input]) : type.usual};
        return true;
    }
    return fail(call, DiagKind::MissingAttribute, "`Cast` needs the attribute `to`");
}

// ---- Reshape ------------------------------------------------------------------------------------

namespace {

// A product: a constant and other factors.
struct Factors {
    int64_t constant = 1;
    std::vector<ir::SymId> others;
};
// Splits products: `2*n` is the constant 2 and the factor `n`.
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

// Cancels equal factors first: less is known about an extent that is a quotient.
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
    if (!wanted || !call.has_input(0)) return true;  // the definition reports the missing part
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
