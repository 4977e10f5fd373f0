// SPDX-License-Identifier: Apache-2.0
#include "view/formulas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "ir/text/text_words.h"

namespace lemma::view {

namespace {

constexpr size_t kMostFormulas = 12;   // of an operation
constexpr uint64_t kMostParts = 3000;  // of the expressions of a formula

// The value that a reduction begins with, if it changes nothing.
bool is_neutral(const ir::SymbolPool& symbols, ir::FormulaOp op, ir::SymId value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto real = symbols.as_real(value);
    const auto integer = symbols.as_int(value);
    const auto truth = symbols.as_bool(value);
    switch (op) {
        case ir::FormulaOp::Sum:
            return (real && *real == 0) || (integer && *integer == 0);
        case ir::FormulaOp::Product:
            return (real && *real == 1) || (integer && *integer == 1);
        case ir::FormulaOp::All:
            return truth && *truth;
        case ir::FormulaOp::Any:
            return truth && !*truth;
        case ir::FormulaOp::Min:
            return (real && *real == kInfinity) || (integer && *integer == INT64_MAX);
        case ir::FormulaOp::Max:
            return (real && *real == -kInfinity) || (integer && *integer == INT64_MIN);
        default:
            return false;
    }
}

bool reduces(ir::FormulaOp op) {
    return op != ir::FormulaOp::Assign && op != ir::FormulaOp::Update;
}

std::string handle_text(const std::string& name) {
    const bool plain = !name.empty() && std::ranges::all_of(name, ir::is_tensor_char);
    return "%" + (plain ? name : ir::quoted(name));
}

// Tensors without the mark of the text form: `x[i]`.
std::string readable(const std::string& line) {
    std::string text;
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
        const bool mark = !quoted && line[i] == '%' && i + 1 < line.size() &&
                          (ir::is_tensor_char(line[i + 1]) || line[i + 1] == '"');
        if (!mark) text += line[i];
    }
    return text;
}

}  // namespace

FormulaWriter::FormulaWriter(const ir::Program& program)
    : program_(program), scope_(program.symbols) {
    for (const ir::Tensor& tensor : program.tensors) {
        for (const ir::SymId extent : tensor.shape) {
            if (program.symbols.is_constant(extent)) continue;
            for (const ir::SymId symbol : program.symbols.symbols_of(extent)) {
                if (scope_.knows(symbol)) continue;
                scope_.add_symbol(symbol, words_.choose(program.symbols.node(symbol).name, "d"));
            }
        }
    }
}

// The names of ports; other tensors keep the last part of their own.
FormulaWriter::Names FormulaWriter::names_of(const ir::Operation& op) const {
    Names names;
    const auto add = [&](const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            const auto& items = port.operand.items;
            for (size_t i = 0; i < items.size(); ++i) {
                names.try_emplace(
                    items[i], port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name);
            }
        }
    };
    add(op.outputs);
    add(op.inputs);
    return names;
}

// ---- Limits -------------------------------------------------------------------------------------

uint64_t FormulaWriter::size_of(ir::SymId id, int depth) {
    if (!id.valid()) return 0;
    if (const auto known = sizes_.find(id); known != sizes_.end()) return known->second;
    if (depth > static_cast<int>(ir::kMaxSymbolicDepth)) return kMostParts;
    const ir::SymNode node = program_.symbols.node(id);
    uint64_t size = 1;
    for (const ir::SymId operand : node.operands)
        size = std::min(size + size_of(operand, depth + 1), kMostParts);
    for (const ir::SymTerm& term : node.terms) {
        ++size;
        for (const ir::SymFactor& factor : term.factors)
            size = std::min(size + size_of(factor.atom, depth + 1), kMostParts);
    }
    sizes_[id] = size;
    return size;
}

// Accesses come after those that their indices read, so that sizes are known when they are needed.
bool FormulaWriter::too_large(const ir::Formula& formula) {
    const auto indices_size = [&](const std::vector<ir::IndexTerm>& indices) {
        uint64_t size = 1;
        for (const ir::IndexTerm& term : indices)
            for (const ir::SymId part : {term.value, term.below, term.above})
                size = std::min(size + size_of(part, 0), kMostParts);
        return size;
    };
    uint64_t all = formula.accesses.size();
    if (all >= kMostParts) return true;
    for (const ir::Access& access : formula.accesses)
        sizes_[access.symbol] = indices_size(access.indices);
    for (const ir::Bound& bound : formula.bounds) all += size_of(bound.extent, 0);
    for (const ir::Write& write : formula.writes)
        all = std::min(all + indices_size(write.indices) + size_of(write.value, 0), kMostParts);
    all += size_of(formula.condition, 0);
    // The sizes of expressions over these accesses count for this formula alone.
    return all >= kMostParts;
}

// ---- Formulas -----------------------------------------------------------------------------------

Json FormulaWriter::ranges(const ir::Formula& formula,
                           const std::vector<std::string>& words) const {
    Json list = Json::array();
    for (size_t i = 0; i < formula.bounds.size(); ++i) {
        const ir::Bound& bound = formula.bounds[i];
        const std::string name =
            i < words.size() ? words[i] : program_.symbols.node(bound.index).name;
        list.push_back(Json::array({name, "0", program_.symbols.text(bound.extent)}));
    }
    return list;
}

// Whether `first` only gives the targets of the reduction `second` their neutral values.
bool FormulaWriter::starts(const ir::Formula& first, const ir::Formula& second) const {
    if (first.op != ir::FormulaOp::Assign || !reduces(second.op)) return false;
    if (first.writes.size() != 1 || second.writes.size() != 1) return false;
    const ir::Write& a = first.writes[0];
    const ir::Write& b = second.writes[0];
    return a.tensor == b.tensor && !first.condition.valid() &&
           a.indices.size() == b.indices.size() && is_neutral(program_.symbols, second.op, a.value);
}

Json FormulaWriter::formula(const ir::Formula& formula,
                            const ir::Formula* initial,
                            const Names& names) {
    const auto name_of = [&](ir::TensorId id) {
        const auto found = names.find(id);
        if (found != names.end()) return found->second;
        const std::string& name = program_.tensors[id].name;
        return name.substr(name.rfind('.') + 1);
    };
    const ir::FormulaPrinter printer(
        program_, [&](ir::TensorId id) { return handle_text(name_of(id)); }, scope_, words_);
    std::vector<std::string> lines = printer.lines(formula);
    std::string text;
    if (initial) text = fmt::format("{}\n", fmt::join(printer.lines(*initial), "\n"));
    text += fmt::format("{}", fmt::join(lines, "\n"));
    Json json = {{"text", readable(text)}};
    std::unordered_map<std::string, ir::TensorId> tensors;
    for (const ir::Access& access : formula.accesses)
        tensors.try_emplace(name_of(access.tensor), access.tensor);
    for (const ir::Write& write : formula.writes)
        tensors.try_emplace(name_of(write.tensor), write.tensor);
    const ExtentOf extent = [&](std::string_view name, size_t axis) -> std::string {
        const auto found = tensors.find(std::string(name));
        if (found == tensors.end()) return "";
        const std::vector<ir::SymId>& shape = program_.tensors[found->second].shape;
        return axis < shape.size() ? program_.symbols.text(shape[axis]) : "";
    };
    const bool plain = reduces(formula.op) && !initial;
    auto tree = formula_tree(lines, plain, extent);
    if (tree) {
        json["tree"] = std::move(tree->statement);
        if (!tree->lets.empty()) json["lets"] = std::move(tree->lets);
        if (!tree->conditions.empty()) json["conditions"] = std::move(tree->conditions);
    }
    if (!formula.bounds.empty())
        json["ranges"] = ranges(formula, tree ? tree->indices : std::vector<std::string>());
    return json;
}

void FormulaWriter::add(const ir::Operation& op, Json& json) {
    if (op.formulas.empty()) return;
    const Names names = names_of(op);
    Json list = Json::array();
    size_t left_out = 0;
    for (size_t i = 0; i < op.formulas.size(); ++i) {
        const ir::Formula* initial = nullptr;
        if (i + 1 < op.formulas.size() && starts(op.formulas[i], op.formulas[i + 1])) {
            initial = &op.formulas[i++];
        }
        sizes_.clear();
        if (list.size() >= kMostFormulas || too_large(op.formulas[i]) ||
            (initial && too_large(*initial))) {
            ++left_out;
            continue;
        }
        list.push_back(formula(op.formulas[i], initial, names));
    }
    json["formulas"] = std::move(list);
    if (left_out > 0) json["formulas_left_out"] = left_out;
}

}  // namespace lemma::view
