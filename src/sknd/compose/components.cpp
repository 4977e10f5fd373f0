// SPDX-License-Identifier: Apache-2.0
// @compose: components in order, the right sides of `=`, names and labels of the results.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

// The name left of `=`, if there is exactly one.
const std::string_view* single_name(const Component& component) {
    if (component.results.size() != 1 || component.results[0].list) return nullptr;
    const LValueItem& item = component.results[0].items[0];
    return item.targets.size() == 1 ? &item.targets[0].name.text : nullptr;
}

}  // namespace

std::string join_scope(const std::string& scope, std::string_view label) {
    if (label.empty()) return scope;
    if (scope.empty()) return std::string(label);
    std::string joined;
    joined.reserve(scope.size() + 1 + label.size());
    return joined.append(scope).append(1, '.').append(label);
}

bool Composer::compose_components(Frame& frame, const std::vector<Component>& components) {
    bool good = true;
    for (const Component& component : components) {
        const size_t before = program_.tensors.size();
        const auto results =
            compose_region(frame, component.body, component_scope(frame, component));
        if (results) {
            bind_results(frame, component, *results, before);
            continue;
        }
        good = false;
        const Results poison(component.results.size(), Binding{{}, true});
        bind_results(frame, component, poison, before);
    }
    return good;
}

// A label is explicit or the name of a single result; an operator that consists of one call adds
// none (spec 2.10). Graphs name their tensors in the same way whether they are invoked or not.
std::string Composer::component_scope(const Frame& frame, const Component& component) const {
    const Region& region = frame.module().regions[component.body];
    if (region.label) return join_scope(frame.scope, region.label->text);
    const Definition& definition = frame.definition();
    const bool wrapper = frame.caller && !definition.graph && definition.composes.size() == 1 &&
                         definition.constants.empty() && definition.variables.empty();
    const std::string_view* name = single_name(component);
    const bool one_call = std::holds_alternative<Invocation>(region.node) ||
                          std::holds_alternative<Branch>(region.node);
    if (wrapper && one_call) return frame.scope;
    return name && (one_call || std::holds_alternative<Loop>(region.node) ||
                    std::holds_alternative<Block>(region.node))
               ? join_scope(frame.scope, *name)
               : frame.scope;
}

std::optional<Results> Composer::compose_region(Frame& frame,
                                                RegionId id,
                                                const std::string& scope) {
    const Region& region = frame.module().regions[id];
    return match(
        region.node,
        [](const BadRegion&) -> std::optional<Results> { return std::nullopt; },
        [&](const Invocation& call) { return compose_invocation(frame, call, region, scope); },
        [&](const Value& value) -> std::optional<Results> {
            auto binding = tensor_value(frame, value.expr);
            if (!binding) return std::nullopt;
            return Results{std::move(*binding)};
        },
        [&](const Block& block) { return compose_block(frame, block, scope); },
        [&](const Branch& branch) { return compose_branch(frame, id, branch, scope); },
        [&](const Loop& loop) { return compose_loop(frame, id, loop, scope); });
}

std::optional<Results> Composer::compose_invocation(Frame& frame,
                                                    const Invocation& invocation,
                                                    const Region& region,
                                                    const std::string& scope) {
    const auto callee = resolve(frame.ref().module, invocation.callee);
    if (!callee) return std::nullopt;
    CallArgs args;
    args.callee = *callee;
    args.span = region.span;
    // A graph has its own scope, which begins at its name; only its own label changes that.
    const Definition& definition = package_[callee->module].module.definitions[callee->definition];
    args.is_root = definition.graph && !region.label;
    args.scope = args.is_root ? std::string(definition.name.text) : scope;
    bool good = true;
    for (const Name& type : invocation.types) args.types.push_back(dtype_of(frame, type.text));
    for (const AttributeArg& attribute : invocation.attributes) {
        const size_t reports = reports_;
        auto value = evaluate_in(frame, attribute.value);
        if (value) {
            args.attributes.push_back({std::string(attribute.name.text), std::move(*value)});
            continue;
        }
        good = false;
        if (reports_ == reports) {
            inner_error(frame,
                        attribute.span,
                        DiagKind::TensorMismatch,
                        fmt::format("the value of `{}` is not known when the graph is composed",
                                    attribute.name.text));
        }
    }
    for (const ExprId argument : invocation.arguments) {
        if (std::holds_alternative<Omitted>(frame.module().exprs[argument].node)) {
            args.inputs.emplace_back();
            continue;
        }
        auto binding = tensor_value(frame, argument);
        good = good && binding && !binding->poison;
        if (binding) args.inputs.push_back(std::move(*binding));
    }
    if (!good) return std::nullopt;
    return call(frame, std::move(args));
}

std::optional<Results> Composer::compose_block(Frame& frame,
                                               const Block& block,
                                               const std::string& scope) {
    const std::string outer = frame.scope;
    frame.scope = scope;
    frame.push();
    // A block has its own names, including those of variables.
    Frame::NewValues* const new_values = std::exchange(frame.new_values, nullptr);
    bool good = compose_components(frame, block.components);
    frame.new_values = new_values;
    Results results;
    for (const ExprId yielded : block.yields) {
        auto binding = tensor_value(frame, yielded);
        good = good && binding && !binding->poison;
        if (binding) results.push_back(std::move(*binding));
    }
    frame.pop();
    frame.scope = outer;
    if (!good) return std::nullopt;
    return results;
}

// ---- Tensor expressions -------------------------------------------------------------------------

// Whether the expression gives tensors; otherwise it is a compile-time value.
bool Composer::is_tensor_expr(const Frame& frame, ExprId id) const {
    return match(
        frame.module().exprs[id].node,
        [&](const Identifier& n) { return !frame.known(n.name) && frame.find(n.name) != nullptr; },
        [&](const Paren& n) { return is_tensor_expr(frame, n.inner); },
        [&](const List& n) {
            return std::any_of(n.items.begin(), n.items.end(), [&](ExprId item) {
                return is_tensor_expr(frame, item);
            });
        },
        [&](const Expand& n) { return is_tensor_expr(frame, n.item); },
        [&](const Zip& n) { return is_tensor_expr(frame, n.items.front()); },
        [&](const Index& n) { return is_tensor_expr(frame, n.base); },
        [&](const Substitution& n) { return is_tensor_expr(frame, n.base); },
        [&](const Select& n) {
            return is_tensor_expr(frame, n.consequent) ||
                   (n.alternative.valid() && is_tensor_expr(frame, n.alternative));
        },
        [&](const Coalesce& n) {
            return is_tensor_expr(frame, n.value) || is_tensor_expr(frame, n.fallback);
        },
        [](const auto&) { return false; });
}

std::optional<Binding> Composer::tensor_value(Frame& frame, ExprId id) {
    if (!is_tensor_expr(frame, id)) {
        const size_t reports = reports_;
        const auto value = evaluate_in(frame, id);
        if (value) return as_tensors(frame, *value);
        if (reports_ == reports) {
            inner_error(frame,
                        frame.module().exprs[id].span,
                        DiagKind::TensorMismatch,
                        "this value is not known when the graph is composed");
        }
        return std::nullopt;
    }
    return match(
        frame.module().exprs[id].node,
        [&](const Identifier& n) -> std::optional<Binding> { return *frame.find(n.name); },
        [&](const Paren& n) { return tensor_value(frame, n.inner); },
        [&](const List& n) { return tensor_list(frame, n); },
        [&](const Index& n) { return tensor_items(frame, id, n.base); },
        [&](const Substitution& n) { return tensor_items(frame, id, n.base); },
        [&](const Select& n) -> std::optional<Binding> {
            const auto condition = evaluate_count(frame, n.condition, "the condition of `?:`");
            if (!condition) return std::nullopt;
            if (*condition != 0) return tensor_value(frame, n.consequent);
            return n.alternative.valid() ? tensor_value(frame, n.alternative) : Binding{};
        },
        [&](const Coalesce& n) -> std::optional<Binding> {
            auto value = tensor_value(frame, n.value);
            if (!value || value->poison || !value->operand.null()) return value;
            return tensor_value(frame, n.fallback);
        },
        [&](const auto&) -> std::optional<Binding> {
            inner_error(frame,
                        frame.module().exprs[id].span,
                        DiagKind::TensorMismatch,
                        "this cannot be done with whole tensors");
            return std::nullopt;
        });
}

std::optional<Binding> Composer::tensor_list(Frame& frame, const List& list) {
    Binding pack;
    pack.operand.packed = true;
    for (const ExprId id : list.items) {
        const auto* expand = std::get_if<Expand>(&frame.module().exprs[id].node);
        const auto* zip =
            expand ? std::get_if<Zip>(&frame.module().exprs[expand->item].node) : nullptr;
        if (zip) {
            std::vector<Binding> packs;
            for (const ExprId item : zip->items) {
                auto part = tensor_value(frame, item);
                if (!part || part->poison) return part;
                if (!has_fixed_length(frame, item, *part)) return std::nullopt;
                packs.push_back(std::move(*part));
            }
            for (size_t i = 0; i < packs.front().operand.items.size(); ++i) {
                for (const Binding& part : packs) {
                    if (i < part.operand.items.size()) {
                        pack.operand.items.push_back(part.operand.items[i]);
                    }
                }
            }
            continue;
        }
        auto item = tensor_value(frame, expand ? expand->item : id);
        if (!item || item->poison) return item;
        if (item->operand.null()) return Binding{};  // a null item makes the list null
        if (!has_fixed_length(frame, id, *item)) return std::nullopt;
        int64_t copies = 1;
        if (expand && expand->count.valid()) {
            const auto count = evaluate_count(frame, expand->count, "the count behind `..`");
            if (!count) return std::nullopt;
            copies = *count;
        }
        for (int64_t i = 0; i < copies; ++i) {
            pack.operand.items.insert(
                pack.operand.items.end(), item->operand.items.begin(), item->operand.items.end());
            if (pack.operand.items.size() > options_.limits.max_pack_length) {
                inner_error(frame,
                            frame.module().exprs[id].span,
                            DiagKind::TooLarge,
                            "too many tensors in a list (--max-pack-length raises the limit)");
                return std::nullopt;
            }
        }
    }
    return pack;
}

// A pack of dynamic length can only be passed on as a whole.
bool Composer::has_fixed_length(const Frame& frame, ExprId id, const Binding& pack) {
    if (!pack.operand.length.valid()) return true;
    const std::string length = program_.symbols.text(pack.operand.length);
    inner_error(frame,
                frame.module().exprs[id].span,
                DiagKind::PackMismatch,
                fmt::format("only a run tells the length {} of this pack", length))
        .note("such a pack cannot be taken apart, nor joined with other tensors");
    return false;
}

// xs[i], xs[i:j], xs[[0, 2]], xs[i] <- y: the evaluator computes them on identities.
std::optional<Binding> Composer::tensor_items(Frame& frame, ExprId id, ExprId base) {
    const auto value = evaluate_known(frame, id, "a choice from a pack");
    if (!value) return std::nullopt;
    if (std::holds_alternative<Pack>(*value)) {
        const auto whole = tensor_value(frame, base);
        if (!whole || !has_fixed_length(frame, id, *whole)) return std::nullopt;
    }
    if (std::holds_alternative<Null>(*value)) return Binding{};
    const auto tensor_of = [&](const Scalar& item) {
        return tensor_by_identity_.at(std::get<ir::SymId>(item));
    };
    if (const auto* scalar = std::get_if<Scalar>(&*value)) {
        return Binding{ir::Operand::single(tensor_of(*scalar)), false};
    }
    Binding pack;
    pack.operand.packed = true;
    for (const Scalar& item : std::get<Pack>(*value).items) {
        pack.operand.items.push_back(tensor_of(item));
    }
    return pack;
}

std::optional<Binding> Composer::as_tensors(Frame& frame, const CompileValue& value) {
    if (std::holds_alternative<Null>(value)) return Binding{};
    if (const auto* scalar = std::get_if<Scalar>(&value)) {
        return Binding{ir::Operand::single(add_scalar(frame, *scalar)), false};
    }
    Binding pack;
    pack.operand.packed = true;
    for (const Scalar& item : std::get<Pack>(value).items) {
        pack.operand.items.push_back(add_scalar(frame, item));
    }
    return pack;
}

// ---- Results ------------------------------------------------------------------------------------

void Composer::bind_results(Frame& frame,
                            const Component& component,
                            const Results& results,
                            size_t made_here) {
    for (size_t i = 0; i < component.results.size() && i < results.size(); ++i) {
        bind_result(frame, component.results[i], results[i], made_here);
    }
}

void Composer::bind_result(Frame& frame,
                           const LValue& lhs,
                           const Binding& result,
                           size_t made_here) {
    const auto bind = [&](std::string_view name, Binding binding) {
        if (!binding.poison) name_tensors(frame, name, binding.operand, made_here);
        if (frame.new_values && frame.new_values->contains(name)) {
            frame.new_values->at(name) = std::move(binding);
            return;
        }
        frame.bind(name, std::move(binding));
    };
    if (!lhs.list || result.poison) {
        for (const LValueItem& item : lhs.items) {
            Binding bound = result;
            if (!result.poison && !check_result_length(frame, item, result)) bound.poison = true;
            for (const auto& target : item.targets) bind(target.name.text, bound);
        }
        return;
    }
    const auto total = static_cast<int64_t>(result.operand.items.size());
    int64_t singles = 0;
    std::vector<int64_t> lengths;
    for (const LValueItem& item : lhs.items) {
        int64_t length = item.pack ? -1 : 1;
        if (item.pack && item.pack->length.valid()) {
            length = evaluate_count(frame, item.pack->length, "the length of a pack").value_or(0);
        }
        lengths.push_back(length);
        if (length > 0)
            singles += length * static_cast<int64_t>(std::max<size_t>(item.targets.size(), 1));
    }
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] >= 0) continue;
        const auto width = static_cast<int64_t>(std::max<size_t>(lhs.items[i].targets.size(), 1));
        lengths[i] = std::max<int64_t>((total - singles) / width, 0);
        singles += lengths[i] * width;
    }
    const bool fits = singles == total;
    if (!fits) {
        inner_error(frame,
                    lhs.span,
                    DiagKind::LengthMismatch,
                    fmt::format("a pack of {} tensors is taken apart into {}", total, singles));
    }
    size_t at = 0;
    for (size_t i = 0; i < lhs.items.size(); ++i) {
        const LValueItem& item = lhs.items[i];
        std::vector<Binding> parts(item.targets.size());
        for (Binding& part : parts) {
            part.operand.packed = item.pack.has_value();
            part.poison = !fits;
        }
        for (int64_t k = 0; fits && k < lengths[i]; ++k) {
            for (Binding& part : parts) part.operand.items.push_back(result.operand.items[at++]);
        }
        if (item.omitted) ++at;
        for (size_t t = 0; t < parts.size(); ++t) bind(item.targets[t].name.text, parts[t]);
    }
}

bool Composer::check_result_length(Frame& frame, const LValueItem& item, const Binding& result) {
    if (!item.pack || !item.pack->length.valid()) return true;
    const auto length = evaluate_extent(frame, item.pack->length);
    if (!length) return false;
    const ir::SymId count = length_of(result.operand);
    std::string message = fmt::format("a result of {} tensors, expected {}",
                                      program_.symbols.text(count),
                                      program_.symbols.text(*length));
    if (surely_differ(*length, count)) {
        inner_error(frame, item.span, DiagKind::LengthMismatch, std::move(message));
        return false;
    }
    const auto equal = program_.symbols.apply(ir::SymOp::Equal, *length, count);
    if (count == *length || !equal || result.operand.items.empty()) return true;
    const ir::OpId maker = maker_of(result.operand.items[0], op_lists_.back());
    if (maker.valid()) {
        program_.operations[maker].assertions.push_back({*equal, std::move(message)});
    } else if (op_lists_.size() == 1) {  // an input of the main graph
        program_.assertions.push_back({*equal, std::move(message)});
    }
    return true;
}

// The outermost call names the tensors that the component made.
void Composer::name_tensors(Frame& frame,
                            std::string_view name,
                            const ir::Operand& operand,
                            size_t made_here) {
    const std::string path = join_scope(frame.scope, name);
    for (size_t i = 0; i < operand.items.size(); ++i) {
        ir::Tensor& tensor = program_.tensors[operand.items[i]];
        const bool new_here = operand.items[i].value >= made_here;
        if (!new_here || tensor.role != ir::TensorRole::Intermediate) continue;
        tensor.name = operand.packed ? fmt::format("{}.{}", path, i) : path;
    }
    const Definition& definition = frame.definition();
    if (!frame.caller || definition.graph || definition.is_public) expose(frame, path, operand);
}

}  // namespace lemma::sknd
