// SPDX-License-Identifier: Apache-2.0
#include "diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "diff/align.h"
#include "diff/expr_hash.h"

namespace lemma::diff {

namespace {

class Comparer {
public:
    Comparer(Side& a, Side& b, const CompareOptions& options, Level level)
        : options_(options),
          a_(a),
          b_(b),
          weights_a_(a, level == Level::Formula),
          weights_b_(b, level == Level::Formula) {
        found_.level = level;
    }

    Result<Comparison> run() {
        found_.a = make_graph(a_, found_.level);
        found_.b = make_graph(b_, found_.level);
        matching_ = match_terminals(found_.a, found_.b);
        if (formulas()) find_meanings();
        match_nodes({found_.a, weights_a_, formulas() ? &meanings_a_ : nullptr},
                    {found_.b, weights_b_, formulas() ? &meanings_b_ : nullptr},
                    matching_);
        if (const auto& trouble = weights_a_.trouble()) return std::unexpected(*trouble);
        if (const auto& trouble = weights_b_.trouble()) return std::unexpected(*trouble);
        collect_pairs();
        pair_extents();
        compare_terminals();
        for (const auto& [a, b] : found_.pairs) compare_nodes(a, b);
        if (!found_.equal() && !trouble_) explain();
        for (size_t i = 0; i < found_.a.outputs.size(); ++i) {
            if (matching_.outputs_to_b[i] == kNone) continue;
            found_.tensors.push_back(
                {found_.a.outputs[i].tensor, found_.b.outputs[matching_.outputs_to_b[i]].tensor});
        }
        find_moved();
        if (trouble_) return std::unexpected(*trouble_);
        if (uncompared_ > 0) {
            found_.remarks.push_back(
                fmt::format("{} weight{} {} data in one of the models only, and {} not compared",
                            uncompared_,
                            uncompared_ == 1 ? "" : "s",
                            uncompared_ == 1 ? "has" : "have",
                            uncompared_ == 1 ? "was" : "were"));
        }
        return std::move(found_);
    }

private:
    bool formulas() const { return found_.level == Level::Formula; }
    Alignment alignment() { return {found_.a, found_.b, matching_}; }
    const ir::Tensor& tensor_a(ir::TensorId id) const { return a_.program.tensors[id]; }
    const ir::Tensor& tensor_b(ir::TensorId id) const { return b_.program.tensors[id]; }

    void collect_pairs() {
        for (size_t n = 0; n < matching_.a_to_b.size(); ++n) {
            if (matching_.a_to_b[n] == kNone) {
                found_.only_a.push_back(n);
            } else {
                found_.pairs.emplace_back(n, matching_.a_to_b[n]);
            }
        }
        for (size_t n = 0; n < matching_.b_to_a.size(); ++n)
            if (matching_.b_to_a[n] == kNone) found_.only_b.push_back(n);
    }

    // ---- Meaning --------------------------------------------------------------------------------

    void find_meanings() {
        MeaningOptions of_a{.inputs = {}, .weights = !options_.weights.ignore}, of_b = of_a;
        for (size_t i = 0; i < found_.a.inputs.size(); ++i) {
            const size_t partner = matching_.inputs_to_b[i];
            of_a.inputs.push_back(found_.a.inputs[i].tensor);
            of_b.inputs.push_back(partner == kNone ? ir::TensorId{}
                                                   : found_.b.inputs[partner].tensor);
        }
        Weights squeezed_a(a_, true), squeezed_b(b_, true);
        meanings_a_ = diff::find_meanings(a_.program, formulas() ? weights_a_ : squeezed_a, of_a);
        meanings_b_ = diff::find_meanings(b_.program, formulas() ? weights_b_ : squeezed_b, of_b);
    }
    bool same_results(size_t a, size_t b) const {
        const auto& left = found_.a.nodes[a].outputs;
        const auto& right = found_.b.nodes[b].outputs;
        return std::ranges::equal(left, right, [&](const Edge& x, const Edge& y) {
            return meanings_a_[x.tensor] == meanings_b_[y.tensor];
        });
    }
    // Drops differences that do not change what is computed: all of them at the level Formula, and
    // those of definitions at other levels.
    void explain() {
        if (!formulas()) find_meanings();
        const bool outputs = same_outputs();
        std::erase_if(found_.changes, [&](const Change& change) {
            const bool form =
                change.what == What::Definition ||
                (formulas() && (change.what == What::Input || change.what == What::Attribute));
            if (!form) return false;
            return change.a == kNone ? outputs : same_results(change.a, change.b);
        });
        if (formulas()) {
            drop_explained(found_.a, found_.only_a, matching_.a_to_b);
            drop_explained(found_.b, found_.only_b, matching_.b_to_a);
        } else if (!found_.equal() && found_.terminals_a.empty() && found_.terminals_b.empty() &&
                   outputs && !options_.weights.ignore) {
            found_.remarks.emplace_back("both models compute the same outputs");
        }
    }
    bool same_outputs() const {
        for (size_t i = 0; i < found_.a.outputs.size(); ++i) {
            const size_t partner = matching_.outputs_to_b[i];
            if (partner == kNone || meanings_a_[found_.a.outputs[i].tensor] !=
                                        meanings_b_[found_.b.outputs[partner].tensor])
                return false;
        }
        return true;
    }
    // An operation without a partner does not count if all that reads it is the same in both
    // models: it is a part of an operation there.
    void drop_explained(const Graph& graph,
                        std::vector<size_t>& only,
                        const std::vector<size_t>& partners) {
        const bool of_a = &graph == &found_.a, outputs = same_outputs();
        std::vector<bool> good(graph.nodes.size());
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            const size_t partner = partners[n];
            if (partner != kNone) {
                good[n] = of_a ? same_results(n, partner) : same_results(partner, n);
                continue;
            }
            good[n] = std::ranges::all_of(graph.nodes[n].outputs, [&](const Edge& edge) {
                return (!graph.output_numbers[edge.tensor] || outputs) &&
                       std::ranges::all_of(graph.uses[edge.tensor],
                                           [&](const Use& use) { return good[use.node]; });
            });
        }
        std::erase_if(only, [&](size_t n) { return good[n]; });
    }

    // ---- Inputs and outputs of the models -------------------------------------------------------

    void compare_terminals() {
        compare_terminals("input",
                          found_.a.inputs,
                          found_.b.inputs,
                          matching_.inputs_to_b,
                          matching_.inputs_to_a);
        compare_terminals("output",
                          found_.a.outputs,
                          found_.b.outputs,
                          matching_.outputs_to_b,
                          matching_.outputs_to_a);
        for (size_t i = 0; i < found_.a.outputs.size(); ++i) {
            if (matching_.outputs_to_b[i] == kNone) continue;
            const Terminal& a = found_.a.outputs[i];
            const Terminal& b = found_.b.outputs[matching_.outputs_to_b[i]];
            compare_source({.name = "output " + a.name}, a.tensor, b.tensor);
        }
        for (size_t i = 0; i < found_.a.inputs.size(); ++i)
            if (matching_.inputs_to_b[i] != kNone)
                found_.inputs.emplace_back(i, matching_.inputs_to_b[i]);
    }
    void compare_terminals(const char* role,
                           const std::vector<Terminal>& a,
                           const std::vector<Terminal>& b,
                           const std::vector<size_t>& to_b,
                           const std::vector<size_t>& to_a) {
        for (size_t i = 0; i < a.size(); ++i) {
            if (to_b[i] == kNone) {
                found_.terminals_a.push_back(fmt::format("{} {}", role, a[i].name));
                continue;
            }
            const Terminal& other = b[to_b[i]];
            rename(role, a[i].name, other.name);
            compare_types(
                {.name = fmt::format("{} {}", role, a[i].name)}, a[i].tensor, other.tensor, true);
        }
        for (size_t i = 0; i < b.size(); ++i)
            if (to_a[i] == kNone)
                found_.terminals_b.push_back(fmt::format("{} {}", role, b[i].name));
    }

    // ---- Tensors --------------------------------------------------------------------------------

    // Extents are equal if they are the same numbers, or expressions of the same extents of inputs.
    bool same_extent(ir::SymId a, ir::SymId b) {
        const auto x = a_.program.symbols.as_int(a), y = b_.program.symbols.as_int(b);
        if (x || y) return x == y;
        return extents_a().hash(a) == extents_b().hash(b);
    }
    using Symbols = std::unordered_set<ir::SymId, IdHash>;
    ExprHasher& extents_a() {
        return extents(extents_a_, a_.program, found_.a.inputs, bound_a_, false);
    }
    ExprHasher& extents_b() {
        return extents(extents_b_, b_.program, found_.b.inputs, bound_b_, true);
    }
    // Symbols are numbered along the inputs, in the order of A.
    ExprHasher& extents(std::optional<ExprHasher>& made,
                        const ir::Program& program,
                        const std::vector<Terminal>& inputs,
                        Symbols& seen,
                        bool of_b) {
        if (made) return *made;
        made.emplace(program.symbols);
        for (size_t i = 0; i < found_.a.inputs.size(); ++i) {
            const size_t at = of_b ? matching_.inputs_to_b[i] : i;
            if (at == kNone) continue;
            for (const ir::SymId extent : program.tensors[inputs[at].tensor].shape) {
                for (const ir::SymId symbol : program.symbols.symbols_of(extent)) {
                    if (!seen.insert(symbol).second) continue;
                    made->bind_outer(symbol, Hasher("extent").add(seen.size()).hash());
                }
            }
        }
        made->begin();
        return *made;
    }
    // Runtime extents of the results of partners are the same.
    void pair_extents() {
        ExprHasher& of_a = extents_a();
        ExprHasher& of_b = extents_b();
        const auto is_new = [](const ir::Program& program, ir::SymId id, auto& bound) {
            return !program.symbols.is_constant(id) &&
                   program.symbols.node(id).kind == ir::SymKind::Symbol && !bound.contains(id);
        };
        for (const auto& [a, b] : found_.pairs) {
            const auto& left = found_.a.nodes[a].outputs;
            const auto& right = found_.b.nodes[b].outputs;
            for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
                const auto& p = tensor_a(left[i].tensor).shape;
                const auto& q = tensor_b(right[i].tensor).shape;
                for (size_t k = 0; k < std::min(p.size(), q.size()); ++k) {
                    if (!is_new(a_.program, p[k], bound_a_) || !is_new(b_.program, q[k], bound_b_))
                        continue;
                    bound_a_.insert(p[k]);
                    bound_b_.insert(q[k]);
                    const Hash hash = Hasher("made").add(bound_a_.size()).hash();
                    of_a.bind_outer(p[k], hash);
                    of_b.bind_outer(q[k], hash);
                }
            }
        }
    }
    std::vector<ir::SymId> counted(const ir::Program& program,
                                   const std::vector<ir::SymId>& shape,
                                   bool whole) const {
        std::vector<ir::SymId> kept;
        for (const ir::SymId extent : shape)
            if (whole || program.symbols.as_int(extent) != 1) kept.push_back(extent);
        return kept;
    }
    // `whole`: axes of extent 1 count, too.
    bool compare_types(Change change, ir::TensorId a, ir::TensorId b, bool whole) {
        const ir::Tensor& x = tensor_a(a);
        const ir::Tensor& y = tensor_b(b);
        bool same = true;
        if (x.dtype != y.dtype) {
            same = false;
            report(change,
                   What::Dtype,
                   std::string(tensor::dtype_name(x.dtype)),
                   std::string(tensor::dtype_name(y.dtype)));
        }
        const auto p = counted(a_.program, x.shape, whole || !formulas());
        const auto q = counted(b_.program, y.shape, whole || !formulas());
        const bool same_shape =
            std::ranges::equal(p, q, [&](ir::SymId m, ir::SymId n) { return same_extent(m, n); });
        if (!same_shape) {
            same = false;
            report(change, What::Shape, shape_text(a_.program, a), shape_text(b_.program, b));
        }
        const auto quantizer = [](const ir::Tensor& tensor) {
            return tensor.quantizer ? tensor.quantizer->op : "none";
        };
        if (!formulas() && quantizer(x) != quantizer(y))
            report(change, What::Quantizer, quantizer(x), quantizer(y));
        return same;
    }
    void report(Change change, What what, std::string before, std::string after) {
        change.what = what;
        change.before = std::move(before);
        change.after = std::move(after);
        found_.changes.push_back(std::move(change));
    }

    // Where an input comes from. A new or removed operation in between is listed by itself.
    void compare_source(Change change, ir::TensorId a, ir::TensorId b) {
        const auto& left = found_.a.producers[a];
        const auto& right = found_.b.producers[b];
        const bool loose = (left && matching_.a_to_b[left->node] == kNone) ||
                           (right && matching_.b_to_a[right->node] == kNone);
        if (loose || same_source(alignment(), a, b)) return;
        report(std::move(change), What::Input, tensor_a(a).name, tensor_b(b).name);
    }

    void compare_weights(Change change, ir::TensorId a, ir::TensorId b) {
        if (!compared_weights_.emplace(a.value, b.value).second) return;
        const ir::Tensor& x = tensor_a(a);
        const ir::Tensor& y = tensor_b(b);
        if (x.role == ir::TensorRole::Variable && y.role == ir::TensorRole::Variable &&
            !one_to_one(a, b))
            return report(std::move(change), What::Input, x.name, y.name);
        if (x.role == ir::TensorRole::Variable && y.role == ir::TensorRole::Variable)
            rename("weight", x.name, y.name);
        if (!compare_types(change, a, b, false)) return;
        if (options_.weights.ignore) return;
        const auto left = weights_a_.values(a), right = weights_b_.values(b);
        if (!left || !right) {
            if (!trouble_) trouble_ = left ? right.error() : left.error();
            return;
        }
        if (!*left || !*right) return compare_missing(std::move(change), a, b, left->has_value());
        auto amount = compare_values(**left, **right, options_.weights.tolerance);
        if (!amount) return;
        change.before = amount->before;
        change.after = amount->after;
        change.what = What::Weight;
        change.amount = std::move(amount);
        found_.changes.push_back(std::move(change));
    }
    // A variable is known by its data. One without data, or that a run updates, has one partner.
    bool one_to_one(ir::TensorId a, ir::TensorId b) {
        const auto known = [](const Side& side, ir::TensorId id) {
            const auto& updates = side.program.updates;
            if (std::ranges::find(updates, id, &ir::Update::variable) != updates.end())
                return false;
            if (!side.data) return false;
            const auto data = side.data(side.program.tensors[id]);
            return data && data->has_value();
        };
        if (known(a_, a) && known(b_, b)) return true;
        return variables_to_b_.emplace(a.value, b.value).first->second == b.value &&
               variables_to_a_.emplace(b.value, a.value).first->second == a.value;
    }
    // One of them has no data, or both.
    void compare_missing(Change change, ir::TensorId a, ir::TensorId b, bool has_a) {
        const bool both_constant = tensor_a(a).role == ir::TensorRole::Constant &&
                                   tensor_b(b).role == ir::TensorRole::Constant;
        if (both_constant) {
            if (weights_a_.content(a) != weights_b_.content(b))
                report(std::move(change), What::Weight, "a constant", "another constant");
            return;
        }
        const auto has = [](const Weights& weights, ir::TensorId id) {
            const auto values = weights.values(id);
            return values && values->has_value();
        };
        const bool has_b = has(weights_b_, b);
        if (has_a == has_b) return;
        if (!weights_a_.has_data() || !weights_b_.has_data()) {
            ++uncompared_;
            return;
        }
        report(std::move(change),
               What::Weight,
               has_a ? "data" : "no data",
               has_b ? "data" : "no data");
    }

    // ---- Operations -----------------------------------------------------------------------------

    void compare_nodes(size_t a, size_t b) {
        const Node& left = found_.a.nodes[a];
        const Node& right = found_.b.nodes[b];
        const Change change{.a = a, .b = b};
        const size_t before = found_.changes.size();
        rename("operation", left.name, right.name);
        if (!formulas() && left.kind != right.kind)
            report(change, What::Operator, left.kind, right.kind);
        if (!formulas() && (left.signature != right.signature || has_symbols(left)))
            compare_attributes(a, b);
        for (size_t i = 0; i < std::min(left.outputs.size(), right.outputs.size()); ++i) {
            const Edge& x = left.outputs[i];
            const Edge& y = right.outputs[i];
            Change named = change;
            named.name = x.port;
            compare_types(named, x.tensor, y.tensor, false);
            found_.tensors.push_back({x.tensor, y.tensor});
        }
        compare_inputs(a, b);
        if (found_.changes.size() > before || left.full == right.full) return;
        if (formulas()) {
            compare_attributes(a, b);
            if (found_.changes.size() > before) return;
        }
        report(change, What::Definition, left.kind, right.kind);
    }
    bool has_symbols(const Node& node) const {
        return std::ranges::any_of(node.attributes, &NamedText::symbolic);
    }
    // The hash of an attribute in which runtime extents are those of the partner.
    static Hash attribute_hash(const ir::Program& program,
                               const Node& node,
                               const NamedText& attribute,
                               ExprHasher& extents) {
        if (!attribute.symbolic) return attribute.hash;
        const auto& list = program.operations[node.op].attributes;
        const auto found = std::ranges::find(list, attribute.name, &ir::Attribute::name);
        extents.begin();
        return found == list.end() ? attribute.hash : extents.hash(found->value);
    }
    void compare_attributes(size_t a, size_t b) {
        const Node& left = found_.a.nodes[a];
        const Node& right = found_.b.nodes[b];
        if (left.kind != right.kind) return;
        const auto find = [](const Node& node, const std::string& name) {
            const auto found = std::ranges::find(node.attributes, name, &NamedText::name);
            return found == node.attributes.end() ? nullptr : &*found;
        };
        for (const NamedText& x : left.attributes) {
            const NamedText* y = find(right, x.name);
            if (y != nullptr && attribute_hash(a_.program, left, x, extents_a()) ==
                                    attribute_hash(b_.program, right, *y, extents_b()))
                continue;
            report({.a = a, .b = b, .name = x.name},
                   What::Attribute,
                   x.text,
                   y != nullptr ? y->text : "none");
        }
        for (const NamedText& y : right.attributes) {
            if (find(left, y.name) == nullptr)
                report({.a = a, .b = b, .name = y.name}, What::Attribute, "none", y.text);
        }
    }
    void compare_inputs(size_t a, size_t b) {
        const Node& left = found_.a.nodes[a];
        const Node& right = found_.b.nodes[b];
        const bool other_operator = left.kind != right.kind;
        const size_t both = std::min(left.inputs.size(), right.inputs.size());
        for (size_t i = 0; i < both; ++i) {
            const Edge& x = left.inputs[i];
            const Edge& y = right.inputs[i];
            if (!x.tensor.valid() || !y.tensor.valid()) continue;
            const Change change{.a = a, .b = b, .name = x.port};
            const bool weight_a = is_weight(found_.a, x.tensor);
            const bool weight_b = is_weight(found_.b, y.tensor);
            if (weight_a && weight_b) {
                compare_weights(change, x.tensor, y.tensor);
            } else if (weight_a != weight_b && !is_loose(x.tensor, y.tensor)) {
                report(change, What::Input, tensor_a(x.tensor).name, tensor_b(y.tensor).name);
            } else {
                compare_source(change, x.tensor, y.tensor);
            }
        }
        if (other_operator) return;
        for (size_t i = both; i < left.inputs.size(); ++i)
            report({.a = a, .b = b, .name = left.inputs[i].port},
                   What::Input,
                   tensor_a(left.inputs[i].tensor).name,
                   "none");
        for (size_t i = both; i < right.inputs.size(); ++i)
            report({.a = a, .b = b, .name = right.inputs[i].port},
                   What::Input,
                   "none",
                   tensor_b(right.inputs[i].tensor).name);
    }
    static bool is_weight(const Graph& graph, ir::TensorId id) {
        return !graph.producers[id] && Weights::is_weight(graph.program->tensors[id]);
    }
    // Made by an operation without a partner.
    bool is_loose(ir::TensorId a, ir::TensorId b) const {
        const auto& left = found_.a.producers[a];
        const auto& right = found_.b.producers[b];
        return (left && matching_.a_to_b[left->node] == kNone) ||
               (right && matching_.b_to_a[right->node] == kNone);
    }

    void rename(const char* role, const std::string& before, const std::string& after) {
        if (before != after) found_.renames.push_back({role, before, after});
    }
    void find_moved() {
        const auto moved = [](const std::vector<size_t>& partners) {
            size_t last = 0;
            for (const size_t partner : partners) {
                if (partner == kNone) continue;
                if (partner < last) return true;
                last = partner;
            }
            return false;
        };
        found_.terminals_moved = moved(matching_.inputs_to_b) || moved(matching_.outputs_to_b);
        const auto run = longest_growing(found_.pairs);
        size_t at = 0;
        for (size_t i = 0; i < found_.pairs.size(); ++i) {
            if (at < run.size() && run[at] == found_.pairs[i]) {
                ++at;
            } else {
                found_.moved.push_back(i);
            }
        }
    }

    const CompareOptions& options_;
    Side& a_;
    Side& b_;
    Weights weights_a_, weights_b_;
    Matching matching_;
    Meanings meanings_a_, meanings_b_;
    Comparison found_;
    std::optional<ExprHasher> extents_a_, extents_b_;
    Symbols bound_a_, bound_b_;
    std::unordered_map<uint32_t, uint32_t> variables_to_b_, variables_to_a_;
    std::set<std::pair<uint32_t, uint32_t>> compared_weights_;
    std::optional<Error> trouble_;
    size_t uncompared_ = 0;
};

}  // namespace

const char* what_text(What what) {
    switch (what) {
        case What::Operator:
            return "operator";
        case What::Attribute:
            return "attribute";
        case What::Dtype:
            return "dtype";
        case What::Shape:
            return "shape";
        case What::Weight:
            return "weight";
        case What::Input:
            return "input";
        case What::Definition:
            return "definition";
        case What::Quantizer:
            return "quantizer";
    }
    return "";
}

namespace {

// The text of a program has the operators of the model that it was made from.
std::string_view operators_of(const Side& side) {
    if (side.format != "ir") return side.format;
    for (const ir::OpId id : side.program.graphs[side.program.main].operations) {
        const std::string& op = side.program.operations[id].op;
        if (op.starts_with("onnx.")) return "onnx";
        if (op.starts_with("nnef1.")) return "nnef1";
    }
    return "sknd";
}

}  // namespace

Result<Comparison> compare(Side& a, Side& b, const CompareOptions& options) {
    Level level = options.level;
    if (level == Level::Auto)
        level = operators_of(a) == operators_of(b) ? Level::Compound : Level::Formula;
    return Comparer(a, b, options, level).run();
}

}  // namespace lemma::diff
