// SPDX-License-Identifier: Apache-2.0
#include "convert/nnef1/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "nnef1/check/literals.h"
#include "nnef1/export/export.h"
#include "nnef1/import/fragments.h"
#include "sknd/modules/embedded.h"

namespace lemma::convert {

namespace {

nnef1::Document parse_library(diag::SourceMap& sources,
                              const std::string& name,
                              std::string_view text) {
    Diagnostics diag;
    auto document = nnef1::parse_library(sources, name, text, diag);
    LEMMA_CHECK(!diag.has_errors());
    return document;
}

nnef1::Document parse_library(diag::SourceMap& sources, const std::string& name) {
    return parse_library(sources, name, model::nnef1_text(name));
}

// The fragments of all files. Fragments may call those of other files.
std::string translations() {
    std::string text;
    for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) {
        if (file.path.starts_with("nnef1/translations/")) text += file.text;
    }
    return text;
}

// Limits protect against hostile models; this program comes from a model that passed them.
model::CheckOptions no_limits() {
    model::CheckOptions options;
    options.eval.max_pack_length = SIZE_MAX / 4;
    options.eval.max_string_bytes = SIZE_MAX / 4;
    options.eval.max_work = SIZE_MAX / 4;
    return options;
}

const ir::Port* find_port(const ir::Operation& op, std::string_view name) {
    const auto found =
        std::ranges::find_if(op.inputs, [&](const ir::Port& p) { return p.name == name; });
    return found == op.inputs.end() ? nullptr : &*found;
}

ir::Value attribute(const ir::Operation& op, std::string_view name) {
    const auto found =
        std::ranges::find_if(op.attributes, [&](const auto& item) { return item.name == name; });
    return found == op.attributes.end() ? ir::Value(ir::Null{}) : found->value;
}

// `conv` for `nnef1.filter.conv`; empty for operations of other modules.
std::string own_name(const ir::Operation& op) {
    return op.op.starts_with("nnef1.") ? op.op.substr(op.op.rfind('.') + 1) : "";
}

}  // namespace

std::set<std::string> compound_operations() {
    diag::SourceMap sources;
    std::set<std::string> names;
    for (const nnef1::Fragment& fragment : parse_library(sources, "compounds.nnef").fragments) {
        names.emplace(fragment.name.text);
    }
    return names;
}

Nnef1Target::Nnef1Target(const ir::Program& program, const Options& options)
    : program_(program),
      standard_(parse_library(sources_, "standard.nnef")),
      translations_(parse_library(sources_, "translations", translations())) {
    Diagnostics trouble;
    operations_ = std::make_unique<nnef1::Operations>(
        standard_, translations_, nnef1::Dialect::Strict, trouble);
    LEMMA_CHECK(!trouble.has_errors());
    if (!options.flat) return;
    taken_apart_ = compound_operations();
    for (const std::string& name : options.keep) taken_apart_.erase(name);
}

std::string_view Nnef1Target::fragment_text(const std::string& name) const {
    const nnef1::Signature* const found = operations_->find(name);
    LEMMA_CHECK(found);
    return sources_.text(found->fragment->span);
}

// ---- Operations ---------------------------------------------------------------------------------

bool Nnef1Target::has(const ir::Operation& op) const {
    return !taken_apart_.contains(own_name(op)) &&
           nnef1::is_written_whole(program_, *operations_, op);
}

const nnef1::Signature* Nnef1Target::find_fragment(const ir::Operation& op) const {
    if (const std::string own = own_name(op); !own.empty()) {
        return taken_apart_.contains(own) ? library().operations->find(own) : nullptr;
    }
    if (op.outputs.empty() || op.outputs[0].operand.items.empty()) return nullptr;
    std::string name = op.op;
    std::ranges::replace(name, '.', '_');
    const auto result = nnef1::type_of(program_.tensors[op.outputs[0].operand.items[0]].dtype);
    if (!result) return nullptr;
    for (const std::string& one : {fmt::format("{}_to_{}", name, nnef1::spelling(*result)), name}) {
        const nnef1::Signature* const found = operations_->find(one);
        if (found && !found->standard && takes(*found, op)) return found;
    }
    return nullptr;
}

// A translation must have a parameter for every input and attribute of the operation. A parameter
// with a default accepts that value only.
bool Nnef1Target::takes(const nnef1::Signature& signature, const ir::Operation& op) const {
    const auto& params = signature.fragment->params;
    for (size_t i = 0; i < params.size(); ++i) {
        const nnef1::ValueType& type = signature.params[i];
        const std::string_view name = params[i].name.text;
        if (!nnef1::has_tensor(type)) {
            const auto text = nnef1::value_text(program_.symbols, attribute(op, name), type);
            const nnef1::ExprId only = params[i].default_value;
            if (!text) return false;
            if (only.valid() && *text != nnef1::literal_text(*signature.nodes, only)) return false;
            continue;
        }
        const ir::Port* const port = find_port(op, name);
        if (port && !takes_tensors(type, port->operand)) return false;
        if (!port && !type.array()) return false;
    }
    const bool inputs = std::ranges::all_of(op.inputs, [&](const ir::Port& port) {
        return port.operand.null() || signature.find_param(port.name);
    });
    return inputs && std::ranges::all_of(given_attributes(op), [&](const ir::Attribute& item) {
               return signature.find_param(item.name).has_value();
           });
}

bool Nnef1Target::takes_tensors(const nnef1::ValueType& type, const ir::Operand& operand) const {
    using nnef1::TypeName;
    if (operand.length.valid()) return false;
    if (!type.array() && operand.items.size() != 1) return false;
    const std::optional<TypeName> wanted = type.array() ? type.items[0].name : type.name;
    return std::ranges::all_of(operand.items, [&](ir::TensorId id) {
        const auto got = nnef1::type_of(program_.tensors[id].dtype);
        return got && (!wanted || wanted == TypeName::Generic || wanted == got);
    });
}

std::optional<Translation> Nnef1Target::translation(const ir::Operation& op) const {
    if (op.op == "layout.split" || op.op == "layout.unstack") return split(op);
    const nnef1::Signature* const fragment = find_fragment(op);
    if (!fragment || op.outputs.size() != fragment->results.size()) return std::nullopt;
    Translation result{.op = fmt::format("{}{}", nnef1::kFragmentModule, fragment->name()),
                       .types = {},
                       .attributes = given_attributes(op),
                       .inputs = {}};
    std::vector<std::string_view> names;
    ir::TensorId generic = op.outputs[0].operand.items.at(0);
    for (size_t i = fragment->params.size(); i-- > 0;) {
        if (!nnef1::has_tensor(fragment->params[i])) continue;
        names.insert(names.begin(), fragment->fragment->params[i].name.text);
        const ir::Port* const port = find_port(op, names.front());
        const bool tells = nnef1::has_generic(fragment->params[i]) && port;
        if (tells && !port->operand.items.empty()) generic = port->operand.items[0];
    }
    result.inputs = inputs_by_name(op, names);
    if (fragment->generic()) result.types.push_back(program_.tensors[generic].dtype);
    return result;
}

// A fragment cannot return a list whose length is unknown.
std::optional<Translation> Nnef1Target::split(const ir::Operation& op) const {
    if (op.inputs.empty() || op.outputs.size() != 1) return std::nullopt;
    const ir::Operand& input = op.inputs[0].operand;
    if (!takes_tensors(nnef1::ValueType::tensor(std::nullopt), input)) return std::nullopt;
    const ir::Value axis = attribute(op, "axis");
    const auto* const number = std::get_if<ir::Scalar>(&axis);
    const auto* const place = number ? std::get_if<int64_t>(number) : nullptr;
    if (!place || op.outputs[0].operand.length.valid()) return std::nullopt;
    const auto rank = static_cast<int64_t>(program_.tensors[input.items[0]].shape.size());
    const int64_t dim = *place < 0 ? *place + rank : *place;
    const bool squeezed =
        op.op == "layout.unstack" && attribute(op, "squeeze") == ir::Value(ir::Scalar(true));
    Translation result{.op = squeezed ? "nnef1.unstack" : "nnef1.split",
                       .types = {},
                       .attributes = {{"axis", ir::Scalar(dim)}},
                       .inputs = {input}};
    if (squeezed) return result;
    ir::Pack ratios{.items = {}, .uniform = {}, .type = ir::ScalarType::Int};
    for (const ir::TensorId id : op.outputs[0].operand.items) {
        const auto extent =
            program_.symbols.as_int(program_.tensors[id].shape[static_cast<size_t>(dim)]);
        if (extent.value_or(0) <= 0) return std::nullopt;
        ratios.items.emplace_back(*extent);
    }
    result.attributes.push_back({"ratios", std::move(ratios)});
    return result;
}

std::string Nnef1Target::why_not(const ir::Operation& op) const {
    return nnef1::why_not_written(program_, op);
}

// ---- Fragments ----------------------------------------------------------------------------------

std::string Nnef1Target::fragment_texts() const {
    std::string text = translations();
    if (taken_apart_.empty()) return text;
    for (const nnef1::Fragment& fragment : parse_library(sources_, "compounds.nnef").fragments) {
        if (!taken_apart_.contains(std::string(fragment.name.text))) continue;
        text += fmt::format("{}\n", sources_.text(fragment.span));
    }
    return text;
}

// With `flat`, decomposed operations are fragments instead of operations of the specification.
const Nnef1Target::Library& Nnef1Target::library() const {
    if (library_) return *library_;
    Diagnostics trouble;
    Library& made = library_.emplace();
    made.standard = parse_library(sources_, "standard.nnef");
    made.fragments = parse_library(sources_, "fragments", fragment_texts());
    std::erase_if(made.standard.fragments, [&](const nnef1::Fragment& fragment) {
        return taken_apart_.contains(std::string(fragment.name.text));
    });
    made.operations = std::make_unique<nnef1::Operations>(
        made.standard, made.fragments, nnef1::Dialect::Strict, trouble);
    made.checked =
        nnef1::check_document(made.fragments, *made.operations, nnef1::Dialect::Strict, trouble);
    made.definitions = std::make_unique<model::Nnef1Library>(no_limits(), sources_, trouble);
    LEMMA_CHECK(!trouble.has_errors());
    return made;
}

std::unique_ptr<ir::CallBuilder> Nnef1Target::builder(Diagnostics& trouble) const {
    const Library& from = library();
    return nnef1::make_fragment_builder(
        {from.fragments, *from.operations, from.checked},
        model::import_options(no_limits()),
        [&](Diagnostics& calls) { return from.definitions->builder(calls); },
        trouble);
}

}  // namespace lemma::convert
