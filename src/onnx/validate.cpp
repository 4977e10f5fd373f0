// SPDX-License-Identifier: Apache-2.0
#include "onnx/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "diag/utf8.h"

namespace lemma::onnx {

namespace {

using diag::printable;

// The names of a graph, and of the graphs around it.
struct Names {
    const Names* outer = nullptr;
    std::unordered_map<std::string, PathSpan> made;  // with the place

    const PathSpan* find(const std::string& name) const {
        for (const Names* at = this; at; at = at->outer) {
            const auto found = at->made.find(name);
            if (found != at->made.end()) return &found->second;
        }
        return nullptr;
    }
};

class Validator {
public:
    Validator(const Model& model, diag::FileId file, Diagnostics& diag)
        : model_(model), file_(file), diag_(diag) {
        for (const Function& function : model.functions)
            functions_.insert(function.domain + ":" + function.name);
    }

    void run();

private:
    void check_opsets();
    void check_ir_version();
    void check_reference(const Attribute& attribute);
    void check_graph(const Graph& graph, const Names* outer, bool main);
    void check_function(const Function& function);
    void check_function_names();
    void check_nodes(const std::vector<Node>& nodes, Names& names);
    void check_node(const Node& node, Names& names);
    void check_order(const std::vector<Node>& nodes, const Names& names);
    void report_cycle(const std::vector<Node>& nodes, const std::vector<size_t>& waiting);
    void define(const std::string& name, PathSpan place, Names& names);
    void report_unknown(const Node& node, const std::string& name, const Names& names);
    bool has_opset(const std::string& domain, const std::vector<OperatorSet>& opsets) const;
    bool is_function(const Node& node) const;
    Span span(PathSpan place) const { return {file_, place.begin, place.end}; }

    const Model& model_;
    diag::FileId file_;
    Diagnostics& diag_;
    const std::vector<OperatorSet>* opsets_ = nullptr;
    bool in_function_ = false;
    std::set<std::string> reported_domains_;
    std::unordered_set<std::string> functions_;
    std::unordered_map<std::string, size_t> makers_;  // the node of the current graph that makes it
};

void Validator::run() {
    for (const Fault& fault : model_.faults)
        diag_.error(span(fault.place), fault.kind, fault.message);
    check_ir_version();
    check_opsets();
    opsets_ = &model_.opsets;
    check_graph(model_.graphs[model_.main], nullptr, true);
    for (const Function& function : model_.functions) check_function(function);
    check_function_names();
}

void Validator::check_function_names() {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, PathSpan> made;
    for (const Function& function : model_.functions) {
        const auto [at, is_new] =
            made.try_emplace({function.domain, function.name, function.overload}, function.place);
        if (is_new) continue;
        diag_
            .error(span(function.place),
                   DiagKind::DuplicateName,
                   fmt::format("the function `{}` is defined twice", printable(function.name)))
            .note(span(at->second), "here as well");
    }
}

void Validator::check_opsets() {
    const Span place = span(model_.graphs[model_.main].place);
    for (const OperatorSet& opset : model_.opsets) {
        if (!is_default_domain(opset.domain)) continue;
        if (opset.version < 1) {
            diag_.error(place,
                        DiagKind::BadOpset,
                        fmt::format("the operator set has version {}, expected 1 to {}",
                                    opset.version,
                                    kNewestOpset));
        } else if (opset.version > kNewestOpset) {
            diag_.warning(place,
                          DiagKind::BadOpset,
                          fmt::format("the operator set has version {}, newer than {}, the newest "
                                      "that is known here",
                                      opset.version,
                                      kNewestOpset));
        }
    }
}

void Validator::check_ir_version() {
    if (model_.ir_version <= kNewestIrVersion) return;
    diag_.warning(span(model_.graphs[model_.main].place),
                  DiagKind::BadVersion,
                  fmt::format("the format has version {}, newer than {}, the newest that is known "
                              "here",
                              model_.ir_version,
                              kNewestIrVersion));
}

// `ref_attr_name` refers to an attribute of a call, and graphs are not called.
void Validator::check_reference(const Attribute& attribute) {
    if (attribute.reference.empty() || in_function_) return;
    diag_.error(span(attribute.place),
                DiagKind::UndeclaredName,
                fmt::format("the attribute `{}` refers to `{}`, an attribute of a function, and "
                            "stands in none",
                            printable(attribute.name),
                            printable(attribute.reference)));
}

bool Validator::has_opset(const std::string& domain, const std::vector<OperatorSet>& opsets) const {
    return std::ranges::any_of(opsets, [&](const OperatorSet& opset) {
        return opset.domain == domain ||
               (is_default_domain(opset.domain) && is_default_domain(domain));
    });
}

bool Validator::is_function(const Node& node) const {
    return functions_.contains(node.domain + ":" + node.op);
}

// ---- Names --------------------------------------------------------------------------------------

void Validator::define(const std::string& name, PathSpan place, Names& names) {
    if (name.empty()) return;
    const auto [at, is_new] = names.made.emplace(name, place);
    if (is_new) return;
    diag_
        .error(span(place),
               DiagKind::DuplicateName,
               fmt::format("`{}` is made twice", printable(name)))
        .note(span(at->second), "here as well");
}

void Validator::check_graph(const Graph& graph, const Names* outer, bool main) {
    Names names{.outer = outer, .made = {}};
    for (const ValueInfo& input : graph.inputs) {
        if (input.name.empty()) {
            diag_.error(span(input.place), DiagKind::UndeclaredName, "an input without a name");
        }
        define(input.name, input.place, names);
    }
    std::unordered_set<std::string> initializers;
    for (const TensorData& data : graph.initializers) {
        const std::string& name = data.proto.name;
        if (!initializers.insert(name).second) define(name, data.place, names);
        names.made.emplace(name, data.place);  // it may be the default of an input
    }
    check_nodes(graph.nodes, names);
    std::unordered_map<std::string, PathSpan> listed;
    for (const ValueInfo& output : graph.outputs) {
        const auto [first, fresh] = listed.emplace(output.name, output.place);
        // Outputs of a sub-graph have no names outside; their order identifies them.
        if (main && !fresh) {
            diag_
                .error(span(output.place),
                       DiagKind::DuplicateName,
                       fmt::format("the output `{}` is listed twice", printable(output.name)))
                .note(span(first->second), "here as well")
                .note("give it a second name by an `Identity` node");
        }
        if (names.find(output.name)) continue;
        diag_.error(span(output.place),
                    DiagKind::MissingOutput,
                    fmt::format("nothing makes the output `{}`", printable(output.name)));
    }
    if (main && graph.outputs.empty())
        diag_.error(span(graph.place), DiagKind::MissingOutput, "the graph has no outputs");
}

void Validator::check_function(const Function& function) {
    const auto* const before = opsets_;
    if (!function.opsets.empty()) opsets_ = &function.opsets;
    in_function_ = true;
    Names names;
    for (const std::string& input : function.inputs) define(input, function.place, names);
    check_nodes(function.nodes, names);
    for (const std::string& output : function.outputs) {
        if (names.find(output)) continue;
        diag_.error(span(function.place),
                    DiagKind::MissingOutput,
                    fmt::format("nothing makes the output `{}`", printable(output)));
    }
    opsets_ = before;
    in_function_ = false;
}

// ---- Nodes --------------------------------------------------------------------------------------

void Validator::check_nodes(const std::vector<Node>& nodes, Names& names) {
    auto makers = std::exchange(makers_, {});
    for (size_t i = 0; i < nodes.size(); ++i) {
        for (const std::string& output : nodes[i].outputs) {
            if (!output.empty()) makers_.emplace(output, i);  // an empty name is left out
        }
    }
    check_order(nodes, names);
    for (const Node& node : nodes) {
        if (diag_.full()) break;
        check_node(node, names);
    }
    makers_ = std::move(makers);
}

void Validator::report_unknown(const Node& node, const std::string& name, const Names& names) {
    if (makers_.contains(name)) return;  // check_order reports it
    std::vector<std::string_view> known;
    for (const Names* at = &names; at; at = at->outer) {
        for (const auto& [other, place] : at->made) known.push_back(other);
    }
    std::ranges::sort(known);
    constexpr size_t kMaxCandidates = 5000;
    const std::string nearest =
        known.size() > kMaxCandidates ? "" : std::string(diag::nearest_name(name, known));
    auto report = diag_.error(span(node.place),
                              DiagKind::UndeclaredName,
                              fmt::format("nothing makes the input `{}`", printable(name)));
    if (!nearest.empty()) report.note(fmt::format("did you mean `{}`?", printable(nearest)));
}

void Validator::check_node(const Node& node, Names& names) {
    if (node.op.empty())
        diag_.error(span(node.place), DiagKind::NoOperator, "a node without an operator");
    if (!has_opset(node.domain, *opsets_) && !is_function(node) &&
        reported_domains_.insert(node.domain).second) {
        diag_.error(
            span(node.place),
            DiagKind::BadOpset,
            fmt::format("the model does not say which version of the operator set `{}` it uses",
                        is_default_domain(node.domain) ? "ai.onnx" : printable(node.domain)));
    }
    std::unordered_set<std::string> told;
    for (const std::string& input : node.inputs) {
        if (input.empty() || names.find(input) || !told.insert(input).second) continue;
        report_unknown(node, input, names);
    }
    std::set<std::string_view> attributes;
    for (const Attribute& attribute : node.attributes) {
        if (!attributes.insert(attribute.name).second) {
            diag_.error(
                span(attribute.place),
                DiagKind::DuplicateAttribute,
                fmt::format("the attribute `{}` is given twice", printable(attribute.name)));
        }
        check_reference(attribute);
        for (const GraphId graph : attribute.graphs)
            check_graph(model_.graphs[graph], &names, false);
    }
    for (const std::string& output : node.outputs) define(output, node.place, names);
}

// Nodes must follow the nodes whose results they use. If no such order exists, there is a cycle.
void Validator::check_order(const std::vector<Node>& nodes, const Names& names) {
    std::vector<size_t> late;  // nodes that use the result of a later node
    for (size_t i = 0; i < nodes.size(); ++i) {
        const bool waits = std::ranges::any_of(nodes[i].inputs, [&](const std::string& input) {
            const auto maker = makers_.find(input);
            return maker != makers_.end() && maker->second >= i && !names.find(input);
        });
        if (waits) late.push_back(i);
    }
    if (late.empty()) return;
    // Kahn's algorithm. The remaining nodes are in a cycle or after one.
    std::vector<std::vector<size_t>> users(nodes.size());
    std::vector<size_t> missing(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
        for (const std::string& input : nodes[i].inputs) {
            const auto maker = makers_.find(input);
            if (maker == makers_.end() || names.find(input)) continue;
            users[maker->second].push_back(i);
            ++missing[i];
        }
    }
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (missing[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
        const size_t node = ready.back();
        ready.pop_back();
        for (const size_t user : users[node]) {
            if (--missing[user] == 0) ready.push_back(user);
        }
    }
    if (std::ranges::any_of(missing, [](size_t count) { return count > 0; }))
        return report_cycle(nodes, missing);
    for (const size_t i : late) {
        diag_
            .error(span(nodes[i].place),
                   DiagKind::UsedBeforeAssigned,
                   "it stands before a node whose result it uses")
            .note("nodes have to be in an order in which they can run");
    }
}

void Validator::report_cycle(const std::vector<Node>& nodes, const std::vector<size_t>& waiting) {
    // Follows dependencies back from a waiting node until a node repeats.
    size_t at = static_cast<size_t>(
        std::ranges::find_if(waiting, [](size_t count) { return count > 0; }) - waiting.begin());
    std::vector<bool> seen(nodes.size());
    std::vector<size_t> way;
    while (!seen[at]) {
        seen[at] = true;
        way.push_back(at);
        for (const std::string& input : nodes[at].inputs) {
            const auto maker = makers_.find(input);
            if (maker == makers_.end() || waiting[maker->second] == 0) continue;
            at = maker->second;
            break;
        }
    }
    const auto begin = std::ranges::find(way, at);
    const auto length = way.end() - begin;
    auto report =
        diag_.error(span(nodes[at].place),
                    DiagKind::CyclicGraph,
                    length == 1 ? "it needs its own result"
                                : fmt::format("it needs its own result, over {} nodes", length));
    constexpr std::ptrdiff_t kMaxNotes = 8;
    for (auto step = begin + 1; step != way.end() && step - begin <= kMaxNotes; ++step)
        report.note(span(nodes[*step].place), "over this node");
}

}  // namespace

void validate(const Model& model, diag::FileId file, Diagnostics& diag) {
    Validator(model, file, diag).run();
}

}  // namespace lemma::onnx
