// SPDX-License-Identifier: Apache-2.0
// Scan, unrolled.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

// The inputs that a Scan iterates over, and the outputs that it collects.
struct Importer::ScanParts {
    const Graph* body = nullptr;
    std::vector<ValueId> states;
    std::vector<ValueId> scanned;
    std::vector<int64_t> input_axes, output_axes;
    std::vector<int64_t> input_directions, output_directions;
    int64_t steps = 0;
};

namespace {

// Optional list attributes.
std::vector<int64_t> list_or(const NodeCall& call, const char* name, size_t count, int64_t usual) {
    auto values = call.attributes.ints(name).value_or(std::vector<int64_t>());
    values.resize(std::max(values.size(), count), usual);
    return values;
}

}  // namespace

Importer::Results Importer::import_scan(const NodeCall& call, const Scope& scope) {
    ScanParts parts;
    parts.body = graph_attribute(call, "body");
    if (!parts.body) return std::nullopt;
    const int64_t count = call.attributes.integer("num_scan_inputs").value_or(0);
    if (count < 1 || count > static_cast<int64_t>(call.inputs.size())) {
        fail(call,
             DiagKind::BadArgument,
             fmt::format("`num_scan_inputs` is {}, expected 1 to {}", count, call.inputs.size()));
        return std::nullopt;
    }
    const auto split = call.inputs.end() - count;
    parts.states.assign(call.inputs.begin(), split);
    parts.scanned.assign(split, call.inputs.end());
    const size_t outputs =
        parts.body->outputs.size() - std::min(parts.body->outputs.size(), parts.states.size());
    parts.input_axes = list_or(call, "scan_input_axes", parts.scanned.size(), 0);
    parts.output_axes = list_or(call, "scan_output_axes", outputs, 0);
    parts.input_directions = list_or(call, "scan_input_directions", parts.scanned.size(), 0);
    parts.output_directions = list_or(call, "scan_output_directions", outputs, 0);
    return unroll_scan(call, scope, parts);
}

Importer::Results Importer::unroll_scan(const NodeCall& call,
                                        const Scope& scope,
                                        const ScanParts& given) {
    ScanParts parts = given;
    if (refuse_sequences(call, parts.scanned)) return std::nullopt;
    for (size_t i = 0; i < parts.scanned.size(); ++i) {
        const auto axis = front_axis(parts.input_axes[i], rank(parts.scanned[i]));
        if (!axis) {
            fail(call,
                 DiagKind::BadArgument,
                 fmt::format("`scan_input_axes` has an axis out of range"));
            return std::nullopt;
        }
        parts.input_axes[i] = static_cast<int64_t>(*axis);
        const auto extent = symbols().as_int(shape(parts.scanned[i])[*axis]);
        const int64_t nodes = static_cast<int64_t>(parts.body->nodes.size()) + 2;
        if (!extent || *extent > options_.limits.max_unrolled / nodes) {
            not_supported(call,
                          "a `Scan` needs a number of steps that is known before the run, and not "
                          "too large");
            return std::nullopt;
        }
        if (i > 0 && *extent != parts.steps) {
            fail(call,
                 DiagKind::ExtentMismatch,
                 fmt::format("the scanned inputs have {} and {} steps, expected as many",
                             parts.steps,
                             *extent));
            return std::nullopt;
        }
        parts.steps = *extent;
    }
    if (parts.body->outputs.size() < parts.states.size()) {
        fail(call, DiagKind::ResultCount, "the graph of `Scan` has too few outputs");
        return std::nullopt;
    }
    std::vector<ValueId> states = parts.states;
    const size_t scans = parts.body->outputs.size() - states.size();
    std::vector<std::vector<ValueId>> slices;
    for (size_t i = 0; i < parts.scanned.size(); ++i) {
        auto all = unstacked(call, parts.scanned[i], parts.input_axes[i], parts.steps);
        if (!all || any_broken(*all)) return std::nullopt;
        slices.push_back(std::move(*all));
    }
    std::vector<std::vector<ValueId>> collected(scans);
    for (int64_t step = 0; step < parts.steps; ++step) {
        std::vector<ValueId> inputs = states;
        for (size_t i = 0; i < parts.scanned.size(); ++i) {
            const int64_t at = parts.input_directions[i] != 0 ? parts.steps - 1 - step : step;
            inputs.push_back(slices[i][static_cast<size_t>(at)]);
        }
        const Results results = import_body(call, *parts.body, inputs, scope);
        if (!results) return std::nullopt;
        std::copy_n(results->begin(), states.size(), states.begin());
        for (size_t i = 0; i < scans; ++i) collected[i].push_back((*results)[states.size() + i]);
    }
    std::vector<ValueId> results = states;
    for (size_t i = 0; i < scans; ++i) {
        if (refuse_sequences(call, collected[i])) return std::nullopt;
        if (parts.output_directions[i] != 0) std::ranges::reverse(collected[i]);
        if (parts.steps == 0) {
            results.push_back(nothing_of(parts.body->outputs[states.size() + i]));
            continue;
        }
        int64_t axis = parts.output_axes[i];
        if (axis < 0) axis += static_cast<int64_t>(rank(collected[i][0])) + 1;
        results.push_back(stacked(call, collected[i], axis));
    }
    return results;
}

// Before opset 9, Scan had a batch axis first, and the lengths of the sequences as first input.
Importer::Results Importer::import_batched_scan(const NodeCall& call, const Scope& scope) {
    if (call.has_input(0)) {
        not_supported(call, "a `Scan` of opset 8 with lengths of sequences is not supported");
        return std::nullopt;
    }
    ScanParts parts;
    parts.body = graph_attribute(call, "body");
    const int64_t count = call.attributes.integer("num_scan_inputs").value_or(0);
    if (!parts.body || count < 1 || count >= static_cast<int64_t>(call.inputs.size())) {
        if (parts.body) fail(call, DiagKind::BadArgument, "`num_scan_inputs` does not fit");
        return std::nullopt;
    }
    const std::vector<ir::SymId> first = shape(call.inputs.back());
    const auto batch = first.empty() ? std::nullopt : symbols().as_int(first[0]);
    if (!batch || *batch < 1 || *batch > options_.limits.max_unrolled) {
        not_supported(call, "a `Scan` of opset 8 needs a batch that is known before the run");
        return std::nullopt;
    }
    const auto split = static_cast<int64_t>(call.inputs.size()) - count;
    std::vector<std::vector<ValueId>> collected(parts.body->outputs.size());
    for (int64_t b = 0; b < *batch; ++b) {
        parts.states.clear();
        parts.scanned.clear();
        for (int64_t i = 1; i < static_cast<int64_t>(call.inputs.size()); ++i) {
            auto& to = i < split ? parts.states : parts.scanned;
            to.push_back(sliced(call, call.inputs[static_cast<size_t>(i)], 0, b));
        }
        if (any_broken(parts.states) || any_broken(parts.scanned)) return std::nullopt;
        parts.input_axes.assign(parts.scanned.size(), 0);
        parts.input_directions = list_or(call, "directions", parts.scanned.size(), 0);
        parts.output_axes.assign(collected.size(), 0);
        parts.output_directions.assign(collected.size(), 0);
        const Results results = unroll_scan(call, scope, parts);
        if (!results || results->size() != collected.size()) return std::nullopt;
        for (size_t i = 0; i < results->size(); ++i) collected[i].push_back((*results)[i]);
    }
    std::vector<ValueId> results;
    for (const auto& items : collected) results.push_back(stacked(call, items, 0));
    return results;
}

}  // namespace lemma::onnx
