// SPDX-License-Identifier: Apache-2.0
// The names of a SkriptND module. Scopes follow sknd/types: a definition has one, blocks and loops
// have their own.
#include <algorithm>
#include <set>

#include "base/match.h"
#include "lsp/language/names_builder.h"
#include "sknd/names/identifiers.h"

namespace lemma::lsp {

Names NamesBuilder::take() {
    std::ranges::stable_sort(names_.occurrences, {}, [](const Occurrence& o) {
        return std::pair(o.place.begin, o.place.end);
    });
    return std::move(names_);
}

namespace {

using namespace sknd;

class ModuleNames {
public:
    explicit ModuleNames(const Module& module) : module_(module) {}

    Names run() {
        declare_definitions();
        for (const Import& import : module_.imports) {
            for (const QualifiedName& name : import.modules)
                names_.occur_external(name.span, {name.text(), "", ""});
        }
        for (size_t i = 0; i < module_.definitions.size(); ++i) {
            definition_ = static_cast<int>(i);
            walk(module_.definitions[i]);
        }
        return names_.take();
    }

private:
    // Attributes are named by calls anywhere in the module, so they come first.
    void declare_definitions() {
        attributes_.resize(module_.definitions.size());
        for (size_t i = 0; i < module_.definitions.size(); ++i) {
            const Definition& definition = module_.definitions[i];
            const auto index = static_cast<int>(i);
            const int thing =
                names_.declare(definition.graph ? NameKind::Graph : NameKind::Operator,
                               definition.name.text,
                               definition.name.span,
                               definition.span,
                               index);
            operators_.try_emplace(definition.name.text, index, thing);
            for (const ParamDecl& decl : definition.attribs) {
                const int attribute = names_.declare(
                    NameKind::Attribute, decl.name.text, decl.name.span, decl.span, index);
                if (attribute >= 0) attributes_[i].try_emplace(decl.name.text, attribute);
            }
        }
    }

    void walk(const Definition& definition) {
        names_.push();
        names_.push();
        for (const auto& [name, thing] : attributes_[static_cast<size_t>(definition_)])
            scope_in(name, thing);
        for (const DtypeDecl& decl : definition.dtypes)
            declare(NameKind::Type, decl.name, decl.span);
        declare_all(NameKind::Input, definition.inputs);
        declare_all(NameKind::Constant, definition.constants);
        declare_all(NameKind::Variable, definition.variables);
        declare_all(NameKind::Output, definition.outputs);
        for (const UsingStmt& stmt : definition.usings) declare_helpers(stmt.lhs, stmt.span);
        walk_params(definition.inputs, true);
        walk_params(definition.attribs, true);
        for (const UsingStmt& stmt : definition.usings) walk_expr(stmt.rhs);
        walk_params(definition.constants, false);
        walk_params(definition.variables, false);
        walk_params(definition.outputs, false);
        for (const AssertStmt& stmt : definition.asserts) walk_assert(stmt);
        for (const LowerStmt& stmt : definition.lowers) walk_lower(stmt);
        walk_components(definition.composes, false);
        walk_components(definition.updates, false);
        for (const QuantizeStmt& stmt : definition.quantizes) walk_quantize(stmt);
        names_.pop();
        names_.pop();
        extra_.clear();
    }

    // Attributes are in the scope of their definition, but declared before it.
    void scope_in(std::string_view name, int thing) { extra_.try_emplace(name, thing); }
    int find(std::string_view name) const {
        const int thing = names_.find(name);
        if (thing >= 0) return thing;
        const auto found = extra_.find(name);
        return found == extra_.end() ? -1 : found->second;
    }

    void declare(NameKind kind, const Name& name, Span whole) {
        names_.declare(kind, name.text, name.span, whole, definition_);
    }
    void declare_all(NameKind kind, const std::vector<ParamDecl>& decls) {
        for (const ParamDecl& decl : decls) declare(kind, decl.name, decl.span);
    }
    void declare_helpers(const LValue& lhs, Span whole) {
        for (const LValueItem& item : lhs.items) {
            for (const auto& target : item.targets) {
                if (target.type) walk_type(*target.type, false);
                declare(NameKind::Helper, target.name, whole);
            }
            if (item.pack) walk_pack(*item.pack, false);
        }
    }

    void walk_params(const std::vector<ParamDecl>& decls, bool declares_extents) {
        for (const ParamDecl& decl : decls) {
            walk_type(decl.type, declares_extents);
            names_.push();
            for (const LoopBound& bound : decl.bounds) walk_bound(bound);
            walk_expr(decl.value);
            names_.pop();
        }
    }
    void walk_bound(const LoopBound& bound) {
        walk_expr(bound.bound);
        declare(NameKind::LoopIndex, bound.index, bound.span);
    }
    void walk_pack(const PackSpec& pack, bool declares_extents) {
        walk_expr(pack.length, declares_extents);
        walk_expr(pack.bound, declares_extents);
    }
    void walk_type(const TypeSpec& type, bool declares_extents) {
        names_.occur(type.base.span, find(type.base.text));
        walk_expr(type.rank, declares_extents);
        if (type.shape) {
            for (const ExtentSpec& extent : *type.shape) {
                walk_expr(extent.extent, declares_extents);
                walk_expr(extent.bound);
                if (extent.pack) walk_pack(*extent.pack, declares_extents);
            }
        }
        if (type.pack) walk_pack(*type.pack, declares_extents);
    }

    void walk_expr(ExprId root, bool declares_extents = false) {
        if (!root.valid()) return;
        std::vector<ExprId> pending = {root};
        while (!pending.empty()) {
            const ExprId id = pending.back();
            pending.pop_back();
            const Expr& expr = module_.exprs[id];
            if (const auto* name = std::get_if<Identifier>(&expr.node)) {
                const int thing = find(name->name);
                if (thing >= 0)
                    names_.occur(expr.span, thing);
                else if (declares_extents)
                    names_.declare(NameKind::Extent, name->name, expr.span, expr.span, definition_);
            } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
                names_.occur(cast->type.span, find(cast->type.text));
            }
            const size_t first = pending.size();
            append_operands(module_, id, pending);
            std::reverse(pending.begin() + static_cast<ptrdiff_t>(first), pending.end());
        }
    }
    void walk_assert(const AssertStmt& stmt) {
        walk_expr(stmt.condition);
        walk_expr(stmt.message);
        for (const auto& printed : stmt.printed) walk_expr(printed.value);
    }
    void walk_lower(const LowerStmt& stmt) {
        names_.push();
        if (stmt.unroll) walk_count(*stmt.unroll);
        for (const LoopBound& bound : stmt.bounds) walk_bound(bound);
        for (const auto& local : stmt.locals) {
            walk_expr(local.value);
            declare(NameKind::Local, local.name, local.name.span);
        }
        walk_expr(stmt.target);
        walk_expr(stmt.value);
        walk_expr(stmt.condition);
        names_.pop();
    }
    void walk_count(const IterCount& count) {
        walk_expr(count.count);
        if (count.index) declare(NameKind::LoopIndex, *count.index, count.span);
    }

    void walk_components(const std::vector<Component>& components, bool nested) {
        for (const Component& component : components) {
            walk_region(component.body);
            for (const LValue& lhs : component.results) {
                for (const LValueItem& item : lhs.items) bind(item, component.span, nested);
            }
        }
    }
    void bind(const LValueItem& item, Span whole, bool nested) {
        for (const auto& target : item.targets) {
            if (target.type) walk_type(*target.type, false);
            const int existing =
                nested ? names_.find_here(target.name.text) : find(target.name.text);
            if (existing >= 0)
                names_.occur(target.name.span, existing, false, true);
            else
                declare(NameKind::Intermediate, target.name, whole);
        }
        if (item.pack) walk_pack(*item.pack, false);
    }
    void walk_region(RegionId id) {
        if (!id.valid()) return;
        match(
            module_.regions[id].node,
            [](const BadRegion&) {},
            [&](const Invocation& call) { walk_call(call); },
            [&](const Value& value) { walk_expr(value.expr); },
            [&](const Block& block) {
                names_.push();
                walk_components(block.components, true);
                for (const ExprId yield : block.yields) walk_expr(yield);
                names_.pop();
            },
            [&](const Branch& branch) {
                for (const Branch::Arm& arm : branch.arms) {
                    walk_region(arm.condition);
                    walk_region(arm.consequent);
                }
                walk_region(branch.alternative);
            },
            [&](const Loop& loop) { walk_loop(loop); });
    }
    void walk_loop(const Loop& loop) {
        for (const Loop::Carried& carried : loop.carried) {
            if (carried.type) walk_type(*carried.type, false);
            walk_expr(carried.initial);
        }
        for (const Loop::Scan& scan : loop.scans) walk_expr(scan.pack);
        names_.push();
        for (const Loop::Carried& carried : loop.carried)
            declare(NameKind::Carried, carried.name, carried.name.span);
        names_.push();
        for (const Loop::Scan& scan : loop.scans)
            declare(NameKind::ScanItem, scan.name, scan.name.span);
        if (loop.count) walk_count(*loop.count);
        walk_region(loop.pre_condition);
        walk_region(loop.body);
        walk_region(loop.post_condition);
        names_.pop();
        names_.pop();
    }
    void walk_call(const Invocation& call) {
        walk_callee(call.callee, call.types, call.attributes);
        for (const ExprId argument : call.arguments) walk_expr(argument);
    }
    void walk_quantize(const QuantizeStmt& stmt) {
        if (!stmt.tensor.parts.empty()) {
            const Name& first = stmt.tensor.parts[0];
            names_.occur(first.span, find(first.text));
        }
        walk_callee(stmt.callee, stmt.types, stmt.attributes);
    }
    void walk_callee(const QualifiedName& callee,
                     const std::vector<Name>& types,
                     const std::vector<AttributeArg>& attributes) {
        for (const Name& type : types) names_.occur(type.span, find(type.text));
        for (const AttributeArg& arg : attributes) walk_expr(arg.value);
        if (callee.parts.empty()) return;
        const Name& last = callee.parts.back();
        if (callee.parts.size() == 1) {
            const auto found = operators_.find(last.text);
            if (found == operators_.end()) return;
            names_.occur(last.span, found->second.second);
            const auto& declared = attributes_[static_cast<size_t>(found->second.first)];
            for (const AttributeArg& arg : attributes) {
                const auto attribute = declared.find(arg.name.text);
                if (attribute != declared.end()) names_.occur(arg.name.span, attribute->second);
            }
            return;
        }
        QualifiedName module = callee;
        module.parts.pop_back();
        const std::string name = module.text();
        const Span first = callee.parts.front().span;
        const Span place{first.file, first.begin, module.parts.back().span.end};
        names_.occur_external(place, {name, "", ""});
        names_.occur_external(last.span, {name, std::string(last.text), ""});
        for (const AttributeArg& arg : attributes) {
            names_.occur_external(arg.name.span,
                                  {name, std::string(last.text), std::string(arg.name.text)});
        }
    }

    const Module& module_;
    NamesBuilder names_;
    int definition_ = -1;
    // By name: the index of the definition, and its thing.
    std::map<std::string_view, std::pair<int, int>> operators_;
    std::vector<std::map<std::string_view, int>> attributes_;  // by definition
    std::map<std::string_view, int> extra_;
};

}  // namespace

Names names_of(const sknd::Module& module) { return ModuleNames(module).run(); }

}  // namespace lemma::lsp
