// SPDX-License-Identifier: Apache-2.0
#include "view/definitions.h"

#include <algorithm>

#include "base/match.h"
#include "ir/text/text_words.h"

namespace lemma::view {

namespace {

constexpr size_t kColumns = 100;  // of a signature

// As the printer of SkriptND writes a literal.
std::string literal(const ir::Scalar& scalar, const ir::SymbolPool& symbols) {
    return match(
        scalar,
        [&](ir::SymId id) { return symbols.text(id); },
        [](double real) { return ir::real_text(real); },
        [](bool truth) { return std::string(truth ? "true" : "false"); },
        [](int64_t number) { return std::to_string(number); },
        [](const std::string& text) { return ir::quoted_text(text); });
}

// A default of one value stands for all items of a pack.
bool is_default(const ops::ParamText& param,
                const ir::Value& value,
                const ir::SymbolPool& symbols) {
    if (std::holds_alternative<ir::Null>(value)) {
        return (param.optional && param.value.empty()) || param.value == "null";
    }
    if (param.value.empty()) return false;
    if (const auto* const scalar = std::get_if<ir::Scalar>(&value)) {
        return literal(*scalar, symbols) == param.value;
    }
    const ir::Pack& pack = std::get<ir::Pack>(value);
    if (pack.items.empty()) return param.value == "[]";
    const bool same = std::ranges::all_of(
        pack.items, [&](const ir::Scalar& item) { return literal(item, symbols) == param.value; });
    if (same) return true;
    std::string list = "[";
    for (const ir::Scalar& item : pack.items) {
        if (list.size() > 1) list += ", ";
        list += literal(item, symbols);
        if (list.size() > param.value.size() + 1) return false;
    }
    return list + "]" == param.value;
}

Json json_of(const ops::OperatorText& op, bool builtin) {
    Json json = {{"signature", ops::call_text(op, kColumns)}};
    if (!op.summary.empty()) json["documentation"] = op.summary;
    if (!op.asserts.empty()) {
        Json asserts = Json::array();
        for (const ops::AssertText& one : op.asserts)
            asserts.push_back({{"condition", one.condition}, {"message", one.message}});
        json["asserts"] = std::move(asserts);
    }
    if (!op.statements.empty()) json["formula"] = op.statements;
    json["definition"] = op.definition;
    json["place"] = {{"file", op.file}, {"line", op.line}};
    json["builtin"] = builtin;
    return json;
}

}  // namespace

Definitions::Definitions(const sknd::Package* package, diag::SourceMap& sources) {
    for (ops::ModuleText& module : ops::standard_library()) add(std::move(module), true);
    if (!package) return;
    for (size_t i = 0; i < package->modules.size(); ++i) {
        const sknd::LoadedModule& module = package->modules[i];
        if (module.standard || module.files.empty()) continue;
        // Comments are not part of the package, so the text is read again.
        Diagnostics ignored;
        ops::ModuleText text = ops::describe_text(sources, module.files[0], ignored);
        for (ops::OperatorText& op : text.operators) op.module = i == 0 ? "" : module.name;
        add(std::move(text), false);
    }
}

void Definitions::add(ops::ModuleText module, bool builtin) {
    for (ops::OperatorText& op : module.operators) {
        std::string name = op.qualified();
        entries_.insert_or_assign(std::move(name), Entry{std::move(op), builtin});
    }
}

const ops::OperatorText* Definitions::find(const std::string& op) const {
    const auto found = entries_.find(op);
    return found == entries_.end() ? nullptr : &found->second.text;
}

Json Definitions::defaults(const ir::Operation& op, const ir::SymbolPool& symbols) const {
    Json names = Json::array();
    const ops::OperatorText* const text = find(op.op);
    if (!text) return names;
    for (const ir::Attribute& attribute : op.attributes) {
        const auto param =
            std::ranges::find(text->attributes, attribute.name, &ops::ParamText::name);
        if (param != text->attributes.end() && is_default(*param, attribute.value, symbols))
            names.push_back(attribute.name);
    }
    return names;
}

Json Definitions::json(const std::set<std::string>& names) const {
    Json json = Json::object();
    for (const std::string& name : names) {
        const auto found = entries_.find(name);
        if (found != entries_.end())
            json[name] = json_of(found->second.text, found->second.builtin);
    }
    return json;
}

}  // namespace lemma::view
