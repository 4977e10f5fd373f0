// SPDX-License-Identifier: Apache-2.0
#include "edit/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/unique_names.h"
#include "diag/utf8.h"
#include "edit/copier.h"
#include "edit/linear.h"
#include "edit/slice.h"
#include "ir/program/display_name.h"
#include "ir/verify/verify.h"

namespace lemma::edit {

namespace {

using diag::printable;

constexpr int kMaxRounds = 64;

std::string operation_text(const ir::Operation& op) {
    const std::string kind = ir::display_name(op.op);
    return op.label.empty() ? fmt::format("`{}`", kind)
                            : fmt::format("`{}` ({})", printable(op.label), kind);
}

// The part for one choice of operations and inputs.
class PartCopy {
public:
    PartCopy(const ir::Program& program, const Slice& slice, const Changes& changes)
        : program_(program), slice_(slice), changes_(changes), copier_(program, made_) {}

    Result<ir::Program> run(const std::vector<NamedTensor>& inputs,
                            const std::vector<NamedTensor>& outputs);
    // Symbols of the original program that operations of the part read and nothing tells, each with
    // its first reader.
    const std::vector<std::pair<ir::SymId, ir::OpId>>& unknown() const { return unknown_; }

private:
    void replace_extents(const NamedTensor& item);
    void add_input(const NamedTensor& item);
    void add_inputs(const std::vector<NamedTensor>& inputs);
    void add_stored();
    void add_operation(ir::OpId id);
    void find_unknown();
    void add_assertions();

    const ir::Program& program_;
    const Slice& slice_;
    const Changes& changes_;
    ir::Program made_;
    Copier copier_;
    ir::Graph main_;
    SymbolSet known_;  // symbols of the original program that inputs tell
    TensorSet given_;
    UniqueNames names_;
    std::vector<std::pair<ir::SymId, ir::OpId>> unknown_;
};

// An extent of a new input such as `n/2 + 1` becomes a symbol, if nobody tells `n`. Other extents
// that contain `n/2` are then expressed by it.
void PartCopy::replace_extents(const NamedTensor& item) {
    const ir::SymbolPool& pool = program_.symbols;
    const std::vector<ir::SymId>& shape = program_.tensors[item.tensor].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
        const ir::SymId extent = shape[i];
        const auto symbols = pool.symbols_of(extent);
        const bool told =
            std::ranges::all_of(symbols, [&](ir::SymId symbol) { return known_.contains(symbol); });
        if (told || copier_.exprs().done().contains(extent)) continue;
        ir::SymbolPool& into = made_.symbols;
        const ir::SymId symbol = into.symbol(
            fmt::format("{}_{}", item.name, i), ir::ScalarType::Int, pool.range(extent));
        copier_.exprs().put(extent, symbol);
        const auto form = linear_form(pool, extent);
        if (!form || copier_.exprs().done().contains(form->atom)) continue;
        const auto atom = solve(into, *form, symbol);
        if (!atom) continue;
        copier_.exprs().put(form->atom, *atom);
        if (pool.node(form->atom).kind == ir::SymKind::Symbol) known_.insert(form->atom);
    }
}

void PartCopy::add_input(const NamedTensor& item) {
    const ir::TensorId copied = copier_.tensor(item.tensor);
    made_.tensors[copied].role = ir::TensorRole::Input;
    made_.tensors[copied].items.clear();
}

// The items of a pack stay a pack if all of them are inputs.
void PartCopy::add_inputs(const std::vector<NamedTensor>& inputs) {
    for (const NamedTensor& item : inputs) given_.insert(item.tensor);
    TensorSet done;
    for (const NamedTensor& item : inputs) {
        if (done.contains(item.tensor)) continue;
        const auto& ports = program_.graphs[program_.main].inputs;
        const auto pack = std::ranges::find_if(ports, [&](const ir::Port& port) {
            const auto& items = port.operand.items;
            return port.operand.packed && std::ranges::find(items, item.tensor) != items.end() &&
                   std::ranges::all_of(items, [&](ir::TensorId id) { return given_.contains(id); });
        });
        if (pack == ports.end()) {
            add_input(item);
            main_.inputs.push_back(
                {names_.make(item.name), ir::Operand::single(copier_.tensor(item.tensor))});
            continue;
        }
        for (const ir::TensorId id : pack->operand.items) {
            add_input({"", id});
            done.insert(id);
        }
        names_.take(pack->name);
        main_.inputs.push_back(copier_.port(*pack));
    }
}

// Computed tensors, and tensors that stand for others.
void PartCopy::add_stored() {
    for (const Stored& stored : changes_.stored) {
        if (!slice_.needed.contains(stored.tensor)) continue;
        ir::Tensor& made = made_.tensors[copier_.tensor(stored.tensor)];
        made.role = stored.items.empty() ? ir::TensorRole::Variable : ir::TensorRole::Constant;
        made.items = stored.items;
        given_.insert(stored.tensor);
    }
    for (const ir::TensorId id : slice_.replaced)
        copier_.put(id, copier_.tensor(follow(changes_.same, id)));
}

// An operation that also makes a tensor which is given makes another one in its place.
void PartCopy::add_operation(ir::OpId id) {
    const Uses uses = uses_of(program_, id);
    std::vector<std::pair<ir::TensorId, ir::TensorId>> given;
    for (const ir::TensorId tensor : uses.made) {
        if (given_.contains(tensor)) given.emplace_back(tensor, copier_.tensor(tensor));
    }
    for (const auto& [tensor, input] : given) {
        ir::Tensor other = made_.tensors[input];
        other.role = ir::TensorRole::Intermediate;
        other.name += "#made";
        copier_.put(tensor, made_.tensors.add(std::move(other)));
    }
    main_.operations.push_back(copier_.operation(id));
    for (const auto& [tensor, input] : given) copier_.put(tensor, input);
}

void PartCopy::find_unknown() {
    std::unordered_map<ir::SymId, ir::SymId, IdHash> origin;
    for (const auto& [from, to] : copier_.exprs().done()) {
        if (program_.symbols.node(from).kind == ir::SymKind::Symbol) origin.emplace(to, from);
    }
    SymbolSet known;
    for (const ir::Port& port : main_.inputs) {
        for (const ir::TensorId id : port.operand.items) add_told(made_, made_.tensors[id], known);
        if (port.operand.length.valid()) known.insert(port.operand.length);
    }
    for (size_t i = 0; i < main_.operations.size(); ++i) {
        const SymbolUses uses = symbols_of(made_, main_.operations[i]);
        known.insert(uses.told.begin(), uses.told.end());
        for (const ir::SymId symbol : uses.read) {
            const auto from = origin.find(symbol);
            if (known.contains(symbol) || from == origin.end()) continue;
            unknown_.emplace_back(from->second, slice_.operations[i]);
            known.insert(symbol);
        }
    }
    std::ranges::sort(unknown_);
}

void PartCopy::add_assertions() {
    SymbolSet told;
    for (const ir::Port& port : main_.inputs) {
        for (const ir::TensorId id : port.operand.items) add_told(made_, made_.tensors[id], told);
        if (port.operand.length.valid()) told.insert(port.operand.length);
    }
    for (ir::Assertion& assertion : copier_.known_assertions(program_.assertions)) {
        const bool known =
            std::ranges::all_of(made_.symbols.symbols_of(assertion.condition),
                                [&](ir::SymId symbol) { return told.contains(symbol); });
        if (known) made_.assertions.push_back(std::move(assertion));
    }
}

Result<ir::Program> PartCopy::run(const std::vector<NamedTensor>& inputs,
                                  const std::vector<NamedTensor>& outputs) {
    made_.name = program_.name;
    main_.name = program_.graphs[program_.main].name;
    for (const NamedTensor& item : inputs)
        add_told(program_, program_.tensors[item.tensor], known_);
    for (const auto& [symbol, number] : changes_.extents) {
        copier_.exprs().put(symbol, made_.symbols.integer(number));
        known_.insert(symbol);
    }
    for (const NamedTensor& item : inputs) replace_extents(item);
    add_inputs(inputs);
    add_stored();
    for (const ir::OpId id : slice_.operations) add_operation(id);
    UniqueNames names;
    TensorSet done;
    for (const NamedTensor& item : outputs) {
        if (done.contains(item.tensor)) continue;
        const auto& ports = program_.graphs[program_.main].outputs;
        const auto pack = std::ranges::find_if(ports, [&](const ir::Port& port) {
            const auto& items = port.operand.items;
            return port.operand.packed && !items.empty() && items[0] == item.tensor &&
                   item.name == port.name + ".0";
        });
        if (pack != ports.end()) {
            done.insert(pack->operand.items.begin(), pack->operand.items.end());
            main_.outputs.push_back(copier_.port(*pack));
            names.take(pack->name);
            continue;
        }
        main_.outputs.push_back(
            {names.make(item.name), ir::Operand::single(copier_.tensor(item.tensor))});
    }
    for (const ir::Update& update : slice_.updates)
        made_.updates.push_back({copier_.tensor(update.variable), copier_.tensor(update.value)});
    find_unknown();
    if (unknown_.empty()) add_assertions();
    if (copier_.failed())
        return std::unexpected(Error{"an extent of the part has no value for the cut"});
    made_.main = made_.graphs.add(std::move(main_));
    return std::move(made_);
}

// Chooses the inputs, and adds operations until every extent is known.
class PartMaker {
public:
    PartMaker(const ir::Program& program, const Cut& cut, const Changes& changes)
        : program_(program), cut_(cut), changes_(changes), inputs_(cut.from) {
        for (const NamedTensor& item : cut.to) wanted_.insert(item.tensor);
    }

    Result<Part> run() {
        for (int round = 0; round < kMaxRounds; ++round) {
            LEMMA_TRY(const Slice operations, find_operations());
            std::vector<NamedTensor> read;
            for (const NamedTensor& item : inputs_) {
                if (operations.needed.contains(item.tensor) || forced_.contains(item.tensor) ||
                    cut_.keep_inputs)
                    read.push_back(item);
            }
            PartCopy copy(program_, operations, changes_);
            LEMMA_TRY(part_.program, copy.run(read, cut_.to));
            if (copy.unknown().empty()) return finish(read);
            for (const auto& [symbol, reader] : copy.unknown()) {
                LEMMA_TRY(find_extent(symbol, reader));
            }
        }
        return std::unexpected(Error{"the part depends on too many extents of other tensors"});
    }

private:
    Result<Slice> find_operations();
    Result<void> find_extent(ir::SymId symbol, ir::OpId reader);
    Result<Part> finish(const std::vector<NamedTensor>& read);
    std::string input_name(ir::TensorId id) const;
    void add_input(ir::TensorId id) {
        inputs_.push_back({input_name(id), id});
        part_.added.push_back(inputs_.back().name);
    }

    const ir::Program& program_;
    const Cut& cut_;
    const Changes& changes_;
    std::vector<NamedTensor> inputs_;
    TensorSet wanted_;
    TensorSet forced_;  // inputs that tell an extent and may have no reader
    Part part_;
};

std::string PartMaker::input_name(ir::TensorId id) const {
    for (const NamedTensor& item : port_tensors(program_.graphs[program_.main].inputs)) {
        if (item.tensor == id) return item.name;
    }
    return program_.tensors[id].name;
}

Result<Slice> PartMaker::find_operations() {
    while (true) {
        TensorSet given;
        for (const NamedTensor& item : inputs_) given.insert(item.tensor);
        for (const Stored& stored : changes_.stored) given.insert(stored.tensor);
        Slice found = slice(program_, given, wanted_, changes_.same);
        if (found.missing.empty()) return found;
        for (const Slice::Missing& missing : found.missing) {
            if (cut_.add_inputs) {
                add_input(missing.tensor);
                continue;
            }
            const std::string name = printable(input_name(missing.tensor));
            return std::unexpected(Error{
                fmt::format("{}, and --from does not name it; --add-inputs adds what is missing",
                            missing.reader.valid()
                                ? fmt::format("the operation {} needs the input `{}`",
                                              operation_text(program_.operations[missing.reader]),
                                              name)
                                : fmt::format("`{}` is an input of the model", name))});
        }
    }
}

// Some input or operation of the model tells the extent.
Result<void> PartMaker::find_extent(ir::SymId symbol, ir::OpId reader) {
    const auto tells = [&](ir::TensorId id) {
        const auto& shape = program_.tensors[id].shape;
        return std::ranges::find(shape, symbol) != shape.end();
    };
    for (const NamedTensor& item : inputs_) {
        if (tells(item.tensor) && forced_.insert(item.tensor).second) return {};
    }
    const ir::Graph& main = program_.graphs[program_.main];
    for (const NamedTensor& item : port_tensors(main.inputs)) {
        if (!tells(item.tensor)) continue;
        if (cut_.add_inputs) {
            add_input(item.tensor);
            forced_.insert(item.tensor);
            return {};
        }
        return std::unexpected(Error{fmt::format(
            "the operation {} needs the extent `{}` of the input `{}`, and --from does not name "
            "it; --add-inputs adds what is missing, and `lemma simplify --set` fixes extents",
            operation_text(program_.operations[reader]),
            printable(program_.symbols.text(symbol)),
            printable(item.name))});
    }
    for (const ir::OpId id : main.operations) {
        for (const ir::TensorId made : items_of(program_.operations[id].outputs)) {
            if (tells(made) && wanted_.insert(made).second) return {};
        }
    }
    return std::unexpected(Error{
        fmt::format("the operation {} needs the extent `{}`, which is known only before the cut",
                    operation_text(program_.operations[reader]),
                    printable(program_.symbols.text(symbol)))});
}

Result<Part> PartMaker::finish(const std::vector<NamedTensor>& read) {
    for (const NamedTensor& item : inputs_) {
        const bool kept = std::ranges::any_of(
            read, [&](const NamedTensor& other) { return other.tensor == item.tensor; });
        if (!kept && !cut_.own_inputs) part_.unread.push_back(item.name);
    }
    const auto problems = ir::verify(part_.program);
    if (problems.empty()) return std::move(part_);
    return std::unexpected(Error{fmt::format("the part is no valid model: {}", problems[0])});
}

}  // namespace

Result<Part> cut_part(const ir::Program& program, const Cut& cut, const Changes& changes) {
    return PartMaker(program, cut, changes).run();
}

Cut whole_model(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    return {.from = port_tensors(main.inputs),
            .to = port_tensors(main.outputs),
            .own_inputs = true,
            .keep_inputs = true};
}

std::vector<NamedTensor> port_tensors(const std::vector<ir::Port>& ports) {
    std::vector<NamedTensor> tensors;
    for (const ir::Port& port : ports) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            tensors.push_back({port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name,
                               port.operand.items[i]});
        }
    }
    return tensors;
}

}  // namespace lemma::edit
