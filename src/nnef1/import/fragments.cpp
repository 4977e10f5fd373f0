// SPDX-License-Identifier: Apache-2.0
#include "nnef1/import/fragments.h"

#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "nnef1/check/literals.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

Value item_value(const ir::SymbolPool& symbols, const ir::Scalar& scalar) {
    return match(
        scalar,
        [&](ir::SymId id) {
            if (const auto integer = symbols.as_int(id)) return Value{*integer};
            if (const auto real = symbols.as_real(id)) return Value{*real};
            if (const auto flag = symbols.as_bool(id)) return Value{*flag};
            if (auto text = symbols.as_string(id)) return Value{std::move(*text)};
            return Value{};
        },
        [](const auto& item) { return Value{item}; });
}

// An array also takes a value that may be missing. Pairs are taken from one pack.
Value attribute_argument(const ir::SymbolPool& symbols,
                         const ir::Value& value,
                         const ValueType& type) {
    const auto* const scalar = std::get_if<ir::Scalar>(&value);
    if (!type.array()) return scalar ? item_value(symbols, *scalar) : Value{};
    Values items;
    if (scalar) items.push_back(item_value(symbols, *scalar));
    if (const auto* const pack = std::get_if<ir::Pack>(&value)) {
        for (const ir::Scalar& item : pack->items) items.push_back(item_value(symbols, item));
    }
    if (type.items.empty() || !type.items[0].tuple()) return Value::array(std::move(items));
    Values pairs;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
        pairs.push_back(Value::tuple({items[i], items[i + 1]}));
    }
    return Value::array(std::move(pairs));
}

Value operand_argument(const ir::Operand& operand, const ValueType& type) {
    if (!type.array()) return operand.items.empty() ? Value{} : Value{operand.items[0]};
    Values items;
    for (const ir::TensorId id : operand.items) items.push_back({id});
    return Value::array(std::move(items));
}

class FragmentBuilder final : public ir::CallBuilder {
public:
    FragmentBuilder(const Model& library,
                    const ImportOptions& options,
                    const MakeBuilder& operators,
                    Diagnostics& diag)
        : library_(library),
          options_(options),
          diag_(diag),
          operators_(operators(calls_)),
          expander_(library_, options_, *operators_, calls_, diag_) {}

    const ir::Program& program() const override { return operators_->program(); }
    ir::SymbolPool& symbols() override { return operators_->symbols(); }
    bool has_operator(const std::string& op) const override {
        return find(op) || operators_->has_operator(op);
    }
    ir::TensorId add_tensor(ir::Tensor tensor) override {
        return operators_->add_tensor(std::move(tensor));
    }
    std::optional<std::vector<ir::Operand>> call(const ir::Call& call) override {
        if (const Signature* const fragment = find(call.op)) {
            return expander_.call_fragment(*fragment, call);
        }
        auto results = operators_->call(call);
        for (const diag::Diagnostic& item : calls_.items()) diag_.add(item);
        calls_ = Diagnostics();
        return results;
    }
    void begin_graph() override { operators_->begin_graph(); }
    ir::GraphId end_graph(ir::Graph graph) override {
        return operators_->end_graph(std::move(graph));
    }
    ir::OpId add_control(ir::Operation operation) override {
        return operators_->add_control(std::move(operation));
    }
    std::optional<ir::Program> finish(ir::Graph graph, std::vector<ir::Update> updates) override {
        return operators_->finish(std::move(graph), std::move(updates));
    }

private:
    const Signature* find(std::string_view op) const {
        if (!op.starts_with(kFragmentModule)) return nullptr;
        const Signature* const found = library_.operations.find(op.substr(kFragmentModule.size()));
        return found && found->fragment->body ? found : nullptr;
    }

    const Model library_;
    const ImportOptions options_;
    Diagnostics& diag_;
    Diagnostics calls_;  // diagnostics of the operators
    std::unique_ptr<ir::CallBuilder> operators_;
    Expander expander_;
};

}  // namespace

std::unique_ptr<ir::CallBuilder> make_fragment_builder(const Model& library,
                                                       const ImportOptions& options,
                                                       const MakeBuilder& operators,
                                                       Diagnostics& diag) {
    return std::make_unique<FragmentBuilder>(library, options, operators, diag);
}

// ---- One call -----------------------------------------------------------------------------------

std::optional<std::vector<ir::Operand>> Expander::call_fragment(const Signature& signature,
                                                                const ir::Call& given) {
    const size_t errors = diag_.error_count();
    Call call{
        .expr = {},
        .span = given.span,
        .signature = signature,
        .generic = {},
        .target = {},
        .label = given.results.empty() || given.results[0].empty() ? given.label : given.results[0],
        .result_names = given.results};
    if (!given.types.empty()) call.generic = type_of(given.types[0]);
    size_t next_input = 0;
    for (size_t i = 0; i < signature.params.size(); ++i) {
        const ValueType& type = signature.params[i];
        call.spans.push_back(given.span);
        if (has_tensor(type)) {
            const bool there = next_input < given.inputs.size();
            call.arguments.push_back(
                operand_argument(there ? given.inputs[next_input++] : ir::Operand{}, type));
            continue;
        }
        const auto attribute =
            std::ranges::find_if(given.attributes, [&](const ir::Attribute& one) {
                return one.name == signature.fragment->params[i].name.text;
            });
        const bool there = attribute != given.attributes.end();
        call.arguments.push_back(attribute_argument(
            builder_.symbols(), there ? attribute->value : ir::Value(ir::Null{}), type));
    }
    Frame frame;
    const Value result = run(call, frame);
    if (has_unknown(result) || diag_.error_count() > errors) return std::nullopt;
    return own_results(signature, given, result);
}

// Copies results that are inputs of the fragment.
std::optional<std::vector<ir::Operand>> Expander::own_results(const Signature& signature,
                                                              const ir::Call& given,
                                                              const Value& result) {
    const Values results = signature.results.size() == 1 ? Values{result} : *result.items();
    std::set<ir::TensorId> taken;
    for (const ir::Operand& input : given.inputs)
        taken.insert(input.items.begin(), input.items.end());
    std::vector<ir::Operand> operands;
    for (size_t i = 0; i < results.size(); ++i) {
        operands.push_back(operand_of(results[i]));
        for (ir::TensorId& id : operands.back().items) {
            if (taken.insert(id).second) continue;
            const auto copy =
                builder_.call({.op = "nnef1.copy",
                               .label = given.label,
                               .types = {},
                               .attributes = {},
                               .inputs = {ir::Operand::single(id)},
                               .results = {i < given.results.size() ? given.results[i] : ""},
                               .span = given.span});
            if (!copy) return std::nullopt;
            id = copy->at(0).items.at(0);
        }
    }
    return operands;
}

}  // namespace lemma::nnef1
