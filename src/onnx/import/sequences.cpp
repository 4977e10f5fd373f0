// SPDX-License-Identifier: Apache-2.0
// Sequences and optional values exist at compile time only: lists of values with known lengths and
// positions.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

ValueId Importer::sequence_value(std::vector<ValueId> items, const std::string& name) {
    Value value{.name = name};
    value.items = std::make_shared<const std::vector<ValueId>>(std::move(items));
    value.known = nullptr;
    return add_value(std::move(value));
}

bool Importer::refuse_sequences(const NodeCall& call, const std::vector<ValueId>& values) {
    for (const ValueId input : values) {
        if (!input.valid() || !values_[input].items) continue;
        fail(call,
             DiagKind::TypeMismatch,
             fmt::format("`{}` is given the sequence `{}`, expected a tensor",
                         call.op,
                         values_[input].name));
        return true;
    }
    return false;
}

bool Importer::refuse_missing(const NodeCall& call, size_t first) {
    for (size_t i = first; i < call.inputs.size(); ++i) {
        if (call.inputs[i].valid()) continue;
        fail(
            call, DiagKind::ArgumentCount, fmt::format("input {} of `{}` is left out", i, call.op));
        return true;
    }
    return false;
}

const std::vector<ValueId>* Importer::items_of(const NodeCall& call, size_t input) {
    if (call.has_input(input) && values_[call.inputs[input]].items)
        return values_[call.inputs[input]].items.get();
    fail(call, DiagKind::TypeMismatch, fmt::format("`{}` needs a sequence", call.op));
    return nullptr;
}

std::optional<size_t> Importer::position(const NodeCall& call,
                                         size_t input,
                                         size_t end,
                                         size_t count) {
    if (!call.has_input(input)) return end;
    const ConstantValue* const place = decided(call.inputs[input]);
    const auto value = place && place->size() == 1 ? as_int(place->items[0]) : std::nullopt;
    if (!value) {
        failed_ = true;
        if (!values_[call.inputs[input]].undecided)
            not_supported(call, "the place in a sequence has to be known before the run");
        return std::nullopt;
    }
    const auto size = static_cast<int64_t>(count);
    const int64_t at = *value < 0 ? *value + size : *value;
    if (at >= 0 && at <= static_cast<int64_t>(end)) return static_cast<size_t>(at);
    fail(call,
         DiagKind::IndexRange,
         fmt::format("place {} of a sequence of {} items", *value, count));
    return std::nullopt;
}

Importer::Results Importer::import_sequence(const NodeCall& call) {
    const std::string name = call.outputs.empty() ? "" : call.outputs[0];
    if (call.op == "SequenceEmpty") return std::vector{sequence_value({}, name)};
    if (call.op == "SequenceConstruct") {
        if (refuse_missing(call, 0)) return std::nullopt;
        return std::vector{sequence_value(call.inputs, name)};
    }
    if (call.op == "SplitToSequence") return split_to_sequence(call);
    const auto* const items = items_of(call, 0);
    if (!items) return std::nullopt;
    const size_t count = items->size();
    if (call.op == "SequenceLength") {
        return std::vector{known_value({DType::I64, {}, {static_cast<int64_t>(count)}}, name)};
    }
    if (call.op == "ConcatFromSequence") {
        if (refuse_sequences(call, *items)) return std::nullopt;
        const int64_t axis = call.attributes.integer("axis").value_or(0);
        if (count == 0) {
            not_supported(call, "`ConcatFromSequence` of an empty sequence is not supported");
            return std::nullopt;
        }
        if (call.attributes.integer("new_axis").value_or(0) != 0) {
            const auto rank = static_cast<int64_t>(this->rank((*items)[0]));
            return std::vector{stacked(call, *items, axis < 0 ? axis + rank + 1 : axis)};
        }
        Attributes attributes;
        attributes.set_int("axis", axis);
        return std::vector{make(call, "Concat", *items, attributes)};
    }
    if (call.op == "SequenceInsert") {
        if (!call.has_input(1)) {
            fail(call, DiagKind::ArgumentCount, "`SequenceInsert` needs a tensor");
            return std::nullopt;
        }
        const auto at = position(call, 2, count, count);
        if (!at) return std::nullopt;
        std::vector<ValueId> longer = *items;
        longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(*at), call.inputs[1]);
        return std::vector{sequence_value(std::move(longer), name)};
    }
    if (count == 0) {
        fail(call, DiagKind::IndexRange, fmt::format("`{}` of an empty sequence", call.op));
        return std::nullopt;
    }
    const auto at = position(call, 1, count - 1, count);
    if (!at) return std::nullopt;
    if (call.op == "SequenceAt") return std::vector{(*items)[*at]};
    std::vector<ValueId> shorter = *items;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(*at));
    return std::vector{sequence_value(std::move(shorter), name)};
}

// Parts of equal size, of given sizes, or of one element each.
Importer::Results Importer::split_to_sequence(const NodeCall& call) {
    if (!call.has_input(0)) {
        fail(call, DiagKind::ArgumentCount, "`SplitToSequence` needs a tensor");
        return std::nullopt;
    }
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    const ValueId from = call.inputs[0];
    const auto axis = front_axis(call.attributes.integer("axis").value_or(0), rank(from));
    if (!axis) {
        fail(call, DiagKind::BadArgument, "`axis` is out of range");
        return std::nullopt;
    }
    const auto extent = symbols().as_int(shape(from)[*axis]);
    const ConstantValue* const given = decided(call.input(1));
    const auto sizes = given ? as_ints(given->items) : std::nullopt;
    const bool even = !given || given->shape.empty();
    if ((call.has_input(1) && !sizes) || (even && !extent)) {
        failed_ = true;
        if (!call.has_input(1) || !values_[call.inputs[1]].undecided)
            not_supported(call, "the parts of a sequence have to be known before the run");
        return std::nullopt;
    }
    std::vector<int64_t> parts = sizes.value_or(std::vector<int64_t>());
    if (even) {
        const int64_t size = parts.empty() ? 1 : std::max<int64_t>(parts[0], 1);
        parts.clear();
        for (int64_t at = 0; at < *extent && at < kMaxKnownItems * size; at += size)
            parts.push_back(std::min(size, *extent - at));
    }
    const bool keep = call.has_input(1) || call.attributes.integer("keepdims").value_or(1) != 0;
    std::vector<ValueId> items;
    int64_t begin = 0;
    for (const int64_t part : parts) {
        const auto at = static_cast<int64_t>(*axis);
        if (keep) {
            Attributes slice;
            slice.set_ints("starts", {begin});
            slice.set_ints("ends", {begin + part});
            slice.set_ints("axes", {at});
            items.push_back(make(call, "Slice", {from}, slice));
        } else {
            items.push_back(sliced(call, from, at, begin));
        }
        begin += part;
    }
    if (any_broken(items)) return std::nullopt;
    return std::vector{
        sequence_value(std::move(items), call.outputs.empty() ? "" : call.outputs[0])};
}

}  // namespace lemma::onnx
