// SPDX-License-Identifier: Apache-2.0
#include "convert/onnx/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/program/display_name.h"
#include "onnx/export.h"
#include "sknd/compose/calls.h"

namespace lemma::convert {

namespace {

// `math_add` for `math.add`
std::string translation_name(const std::string& op) {
    std::string name = op;
    std::ranges::replace(name, '.', '_');
    return name;
}

bool has_name(const std::vector<sknd::ParamDecl>& decls, std::string_view name) {
    return std::ranges::any_of(decls,
                               [&](const sknd::ParamDecl& decl) { return decl.name.text == name; });
}

// A translation must have a parameter for every input and attribute of the operation.
bool takes(const sknd::Definition& definition, const ir::Operation& op) {
    const bool inputs = std::ranges::all_of(op.inputs, [&](const ir::Port& port) {
        return port.operand.null() || has_name(definition.inputs, port.name);
    });
    return inputs && std::ranges::all_of(op.attributes, [&](const ir::Attribute& attribute) {
               return std::holds_alternative<ir::Null>(attribute.value) ||
                      has_name(definition.attribs, attribute.name);
           });
}

// The program was composed within the limits that the user set.
sknd::ComposeOptions no_limits() {
    sknd::ComposeOptions options;
    options.limits.max_pack_length = SIZE_MAX / 4;
    options.limits.max_string_bytes = SIZE_MAX / 4;
    options.limits.max_work = SIZE_MAX / 4;
    return options;
}

}  // namespace

const sknd::Package& OnnxTarget::library() const {
    if (!library_) {
        Diagnostics trouble;
        library_ = sknd::load_library(sources_, "to_onnx", trouble);
        LEMMA_CHECK(!trouble.has_errors());
    }
    return *library_;
}

bool OnnxTarget::has(const ir::Operation& op) const { return onnx::is_written_whole(op); }

const sknd::Definition* OnnxTarget::find_definition(const ir::Operation& op) const {
    const std::string name = translation_name(op.op);
    for (const sknd::LoadedModule& module : library().modules) {
        if (!module.name.starts_with("to_onnx.")) continue;
        const auto found = module.definition_index.find(name);
        if (found != module.definition_index.end())
            return &module.module.definitions[found->second];
    }
    return nullptr;
}

std::optional<Translation> OnnxTarget::translation(const ir::Operation& op) const {
    const sknd::Definition* const definition = find_definition(op);
    if (!definition || !takes(*definition, op)) return std::nullopt;
    std::vector<std::string_view> names;
    for (const sknd::ParamDecl& decl : definition->inputs) names.push_back(decl.name.text);
    Translation result{.op = "to_onnx." + translation_name(op.op),
                       .types = {},
                       .attributes = given_attributes(op),
                       .inputs = inputs_by_name(op, names)};
    for (const sknd::DtypeDecl& decl : definition->dtypes) {
        const auto given = std::ranges::find_if(
            op.dtypes, [&](const auto& dtype) { return dtype.first == decl.name.text; });
        if (given == op.dtypes.end()) break;
        result.types.push_back(given->second);
    }
    return result;
}

std::string OnnxTarget::why_not(const ir::Operation& op) const {
    return fmt::format("ONNX has no operator for `{}`{}",
                       ir::display_name(op.op),
                       find_definition(op) ? " with these inputs and attributes" : "");
}

std::unique_ptr<ir::CallBuilder> OnnxTarget::builder(Diagnostics& trouble) const {
    return sknd::make_call_builder(library(), no_limits(), trouble);
}

}  // namespace lemma::convert
