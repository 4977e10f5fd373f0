// SPDX-License-Identifier: Apache-2.0
// Calls of other formats. Each call gets the checks that the type checker makes for a SkriptND
// text; then it is composed like any other.
#include "sknd/compose/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

// `nnef1.conv` for the definition `conv` in the module `nnef1.filter`, `onnx.com.microsoft.Gelu`
// for `Gelu` in `onnx.com.microsoft.activation`.
std::string call_name(const LoadedModule& module, const Definition& definition) {
    return fmt::format(
        "{}.{}", module.name.substr(0, module.name.rfind('.')), definition.name.text);
}

bool fits(std::string_view type, const Definition& definition, ir::DType dtype) {
    switch (concrete_type(type)) {
        case BaseType::Real:
            return tensor::is_real(dtype);
        case BaseType::Int:
            return tensor::is_integer(dtype);
        case BaseType::Bool:
            return dtype == ir::DType::Bool;
        case BaseType::Str:
            return dtype == ir::DType::Str;
        default:
            break;
    }
    for (const DtypeDecl& generic : definition.dtypes) {
        if (generic.name.text != type || !is_abstract(generic.base.text)) continue;
        const Bound bound = abstract_bound(generic.base.text);
        const bool number = tensor::is_real(dtype) || tensor::is_integer(dtype);
        return bound == Bound::Type || number ||
               (bound == Bound::Arith && dtype == ir::DType::Bool);
    }
    return true;
}

std::string wanted_text(std::string_view type, const Definition& definition) {
    for (const DtypeDecl& generic : definition.dtypes) {
        if (generic.name.text == type) return std::string(generic.base.text);
    }
    return std::string(type);
}

}  // namespace

class CallComposer : public ir::CallBuilder {
public:
    CallComposer(const Package& library, const ComposeOptions& options, Diagnostics& diag)
        : library_(library), options_(options), diag_(diag), composer_(library_, options_, diag) {
        for (uint32_t m = 0; m < library.modules.size(); ++m) {
            const auto& definitions = library.modules[m].module.definitions;
            for (uint32_t d = 0; d < definitions.size(); ++d) {
                if (m == 0) root_ = DefRef{make_id<ModuleId>(m), d};
                operators_.emplace(call_name(library.modules[m], definitions[d]),
                                   DefRef{make_id<ModuleId>(m), d});
            }
        }
        frame_.emplace(
            Frame::Context{
                composer_.program_, composer_.tensor_by_identity_, library_, composer_.work_},
            root_,
            composer_.plan(root_));
        composer_.op_lists_.emplace_back();
    }

    const ir::Program& program() const override { return composer_.program_; }
    ir::SymbolPool& symbols() override { return composer_.program_.symbols; }
    bool has_operator(const std::string& op) const override { return operators_.contains(op); }

    ir::TensorId add_tensor(ir::Tensor tensor) override {
        if (tensor.role == ir::TensorRole::Variable) composer_.variables_.try_emplace(tensor.name);
        return composer_.add_tensor(std::move(tensor));
    }

    std::optional<std::vector<ir::Operand>> call(const ir::Call& call) override {
        auto outputs = compose(call);
        failed_ = failed_ || !outputs;
        return outputs;
    }

    void begin_graph() override { composer_.op_lists_.emplace_back(); }
    ir::GraphId end_graph(ir::Graph graph) override {
        graph.operations = std::move(composer_.op_lists_.back());
        composer_.op_lists_.pop_back();
        return composer_.program_.graphs.add(std::move(graph));
    }
    ir::OpId add_control(ir::Operation operation) override {
        const ir::OpId id = composer_.program_.operations.add(std::move(operation));
        composer_.op_lists_.back().push_back(id);
        return id;
    }

    std::optional<ir::Program> finish(ir::Graph graph, std::vector<ir::Update> updates) override {
        if (failed_) return std::nullopt;
        composer_.program_.name = graph.name;
        composer_.program_.updates = std::move(updates);
        composer_.program_.main = end_graph(std::move(graph));
        composer_.make_names_unique();
        return std::move(composer_.program_);
    }

private:
    std::optional<std::vector<ir::Operand>> compose(const ir::Call& call);
    bool check_inputs(const ir::Call& call, const Definition& definition);
    bool check_input(const ir::Call& call, const Definition& definition, size_t index);
    std::optional<std::vector<ir::Attribute>> fit_attributes(const ir::Call& call,
                                                             const Definition& definition);
    std::optional<CompileValue> fit(const ir::Call& call,
                                    const ParamDecl& decl,
                                    const CompileValue& value);

    const Package& library_;
    const ComposeOptions options_;
    Diagnostics& diag_;
    Composer composer_;
    DefRef root_;  // the definition that represents the model
    std::optional<Frame> frame_;
    std::unordered_map<std::string, DefRef> operators_;
    bool failed_ = false;
};

std::optional<std::vector<ir::Operand>> CallComposer::compose(const ir::Call& call) {
    const auto found = operators_.find(call.op);
    if (found == operators_.end()) {
        std::vector<std::string_view> names;
        for (const auto& [name, ref] : operators_) names.push_back(name);
        std::sort(names.begin(), names.end());
        diag_.error(call.span, DiagKind::NoOperator, fmt::format("no operator `{}`", call.op))
            .did_you_mean(call.span, diag::nearest_name(call.op, names));
        return std::nullopt;
    }
    const DefRef ref = found->second;
    const Definition& definition = library_[ref.module].module.definitions[ref.definition];
    if (!check_inputs(call, definition)) return std::nullopt;
    auto attributes = fit_attributes(call, definition);
    if (!attributes) return std::nullopt;

    CallArgs args{.callee = ref,
                  .span = call.span,
                  .scope = call.label,
                  .types = call.types,
                  .attributes = std::move(*attributes)};
    for (const ir::Operand& input : call.inputs) args.inputs.push_back({input, false});
    const size_t made_here = composer_.program_.tensors.size();
    const auto results = composer_.call(*frame_, std::move(args));
    if (!results) {
        if (!diag_.has_errors()) {  // every failure must be reported
            diag_.error(
                call.span, DiagKind::BadArgument, fmt::format("`{}` cannot be composed", call.op));
        }
        return std::nullopt;
    }
    std::vector<ir::Operand> outputs;
    for (size_t i = 0; i < results->size(); ++i) {
        if ((*results)[i].poison) return std::nullopt;
        if (i < call.results.size() && !call.results[i].empty()) {
            composer_.name_tensors(*frame_, call.results[i], (*results)[i].operand, made_here);
        }
        outputs.push_back((*results)[i].operand);
    }
    return outputs;
}

bool CallComposer::check_inputs(const ir::Call& call, const Definition& definition) {
    if (call.inputs.size() > definition.inputs.size()) {
        diag_.error(call.span,
                    DiagKind::ArgumentCount,
                    fmt::format("`{}` is given {} inputs, expected at most {}",
                                definition.name.text,
                                call.inputs.size(),
                                definition.inputs.size()));
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < definition.inputs.size(); ++i) {
        good = check_input(call, definition, i) && good;
    }
    return good;
}

bool CallComposer::check_input(const ir::Call& call, const Definition& definition, size_t index) {
    const ParamDecl& decl = definition.inputs[index];
    const auto wrong = [&](DiagKind kind, std::string message) {
        diag_.error(call.span, kind, std::move(message));
        return false;
    };
    if (index >= call.inputs.size() || call.inputs[index].null()) {
        if (decl.type.optional || decl.value.valid()) return true;
        return wrong(
            DiagKind::ArgumentCount,
            fmt::format("`{}` needs the input `{}`", definition.name.text, decl.name.text));
    }
    const ir::Operand& operand = call.inputs[index];
    if (operand.packed != decl.type.pack.has_value()) {
        return wrong(DiagKind::PackMismatch,
                     fmt::format("the input `{}` of `{}` is given {}, expected {}",
                                 decl.name.text,
                                 definition.name.text,
                                 operand.packed ? "several tensors" : "a single tensor",
                                 operand.packed ? "a single tensor" : "a list of tensors"));
    }
    for (const ir::TensorId id : operand.items) {
        const ir::DType dtype = program().tensors[id].dtype;
        if (fits(decl.type.base.text, definition, dtype)) continue;
        return wrong(DiagKind::TypeMismatch,
                     fmt::format("the input `{}` of `{}` is a tensor of {}, expected {}",
                                 decl.name.text,
                                 definition.name.text,
                                 tensor::dtype_name(dtype),
                                 wanted_text(decl.type.base.text, definition)));
    }
    return true;
}

std::optional<std::vector<ir::Attribute>> CallComposer::fit_attributes(
    const ir::Call& call, const Definition& definition) {
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& given : call.attributes) {
        const auto decl = std::find_if(
            definition.attribs.begin(), definition.attribs.end(), [&](const ParamDecl& d) {
                return d.name.text == given.name;
            });
        if (decl == definition.attribs.end()) {
            std::vector<std::string_view> names;
            for (const ParamDecl& d : definition.attribs) names.push_back(d.name.text);
            auto report = diag_.error(
                call.span,
                DiagKind::NoAttribute,
                fmt::format("`{}` has no attribute `{}`", definition.name.text, given.name));
            if (!names.empty()) report.note(fmt::format("it has {}", fmt::join(names, ", ")));
            return std::nullopt;
        }
        if (std::holds_alternative<Null>(given.value) && !decl->type.optional) continue;
        auto value = fit(call, *decl, given.value);
        if (!value) return std::nullopt;
        attributes.push_back({given.name, std::move(*value)});
    }
    return attributes;
}

std::optional<CompileValue> CallComposer::fit(const ir::Call& call,
                                              const ParamDecl& decl,
                                              const CompileValue& value) {
    auto fitted = composer_.fit_value(decl, value);
    if (!fitted) {
        diag_.error(call.span,
                    DiagKind::TypeMismatch,
                    fmt::format("the attribute `{}` is given {}, expected {}{}",
                                decl.name.text,
                                to_text(value, program().symbols),
                                decl.type.base.text,
                                decl.type.pack ? ".." : ""));
    }
    return fitted;
}

std::unique_ptr<ir::CallBuilder> make_call_builder(const Package& library,
                                                   const ComposeOptions& options,
                                                   Diagnostics& diag) {
    return std::make_unique<CallComposer>(library, options, diag);
}

}  // namespace lemma::sknd
