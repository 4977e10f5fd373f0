// SPDX-License-Identifier: Apache-2.0
#include "ir/program/stored_program.h"

#include <utility>

#include "base/archive.h"

namespace lemma::ir {

template <class Archive>
void fields(Archive&, like<Null, Archive>&) {}

template <class Archive>
void fields(Archive& archive, like<Pack, Archive>& pack) {
    auto& [items, uniform, type] = pack;
    archive(items, uniform, type);
}

template <class Archive>
void fields(Archive& archive, like<Attribute, Archive>& attribute) {
    auto& [name, value] = attribute;
    archive(name, value);
}

template <class Archive>
void fields(Archive& archive, like<Quantizer, Archive>& quantizer) {
    auto& [op, attributes] = quantizer;
    archive(op, attributes);
}

template <class Archive>
void fields(Archive& archive, like<Tensor, Archive>& tensor) {
    auto& [name, dtype, shape, role, identity, items, quantizer] = tensor;
    archive(name, dtype, shape, role, identity, items, quantizer);
}

template <class Archive>
void fields(Archive& archive, like<Operand, Archive>& operand) {
    auto& [packed, items, length] = operand;
    archive(packed, items, length);
}

template <class Archive>
void fields(Archive& archive, like<Port, Archive>& port) {
    auto& [name, operand] = port;
    archive(name, operand);
}

template <class Archive>
void fields(Archive& archive, like<Assertion, Archive>& assertion) {
    auto& [condition, message] = assertion;
    archive(condition, message);
}

template <class Archive>
void fields(Archive& archive, like<Branch::Arm, Archive>& arm) {
    auto& [condition, consequent] = arm;
    archive(condition, consequent);
}

template <class Archive>
void fields(Archive& archive, like<Branch, Archive>& branch) {
    auto& [arms, alternative] = branch;
    archive(arms, alternative);
}

template <class Archive>
void fields(Archive& archive, like<Loop, Archive>& loop) {
    auto& [carried, items, index, count, dynamic_count, pre, body, post] = loop;
    archive(carried, items, index, count, dynamic_count, pre, body, post);
}

template <class Archive>
void fields(Archive& archive, like<IndexTerm, Archive>& term) {
    auto& [value, guard, below, above] = term;
    archive(value, guard, below, above);
}

template <class Archive>
void fields(Archive& archive, like<Access, Archive>& access) {
    auto& [symbol, tensor, indices] = access;
    archive(symbol, tensor, indices);
}

template <class Archive>
void fields(Archive& archive, like<Bound, Archive>& bound) {
    auto& [index, extent] = bound;
    archive(index, extent);
}

template <class Archive>
void fields(Archive& archive, like<Write, Archive>& write) {
    auto& [tensor, indices, value] = write;
    archive(tensor, indices, value);
}

template <class Archive>
void fields(Archive& archive, like<Formula, Archive>& formula) {
    auto& [op, bounds, accesses, condition, writes, counter] = formula;
    archive(op, bounds, accesses, condition, writes, counter);
}

// Without the place in the source.
template <class Archive>
void fields(Archive& archive, like<Operation, Archive>& operation) {
    auto& [kind,
           op,
           label,
           dtypes,
           attributes,
           inputs,
           outputs,
           formulas,
           parts,
           assertions,
           control,
           span] = operation;
    archive(kind, op, label, dtypes, attributes, inputs, outputs);
    archive(formulas, parts, assertions, control);
}

template <class Archive>
void fields(Archive& archive, like<Graph, Archive>& graph) {
    auto& [name, inputs, outputs, operations] = graph;
    archive(name, inputs, outputs, operations);
}

template <class Archive>
void fields(Archive& archive, like<Update, Archive>& update) {
    auto& [variable, value] = update;
    archive(variable, value);
}

namespace {

template <class Archive>
void put_rest(Archive& archive, like<Program, Archive>& program) {
    auto& [name, symbols, tensors, operations, graphs, main, updates, assertions] = program;
    archive(name, tensors, operations, graphs, main, updates, assertions);
}

}  // namespace

std::string encode_program(const Program& program) {
    ArchiveWriter writer;
    writer(program.symbols.bytes());
    put_rest(writer, program);
    return std::move(writer.bytes);
}

std::string encode_places(const Program& program) {
    std::vector<uint32_t> places;
    places.reserve(3 * program.operations.size());
    for (const Operation& operation : program.operations) {
        const Span& span = operation.span;
        places.insert(places.end(), {span.file.value, span.begin, span.end});
    }
    ArchiveWriter writer;
    writer(places);
    return std::move(writer.bytes);
}

std::optional<Program> decode_program(std::string_view bytes, std::string_view places) {
    Program program;
    ArchiveReader reader(bytes);
    std::string_view symbols;
    reader(symbols);
    put_rest(reader, program);
    ArchiveReader place_reader(places);
    std::vector<uint32_t> numbers;
    place_reader(numbers);
    const bool good =
        reader.good() && reader.at_end() && place_reader.good() && place_reader.at_end();
    if (!good || numbers.size() != 3 * program.operations.size()) return std::nullopt;
    size_t next = 0;
    for (Operation& operation : program.operations) {
        operation.span = {
            make_id<diag::FileId>(numbers[next]), numbers[next + 1], numbers[next + 2]};
        next += 3;
    }
    auto pool = SymbolPool::from_bytes(symbols);
    if (!pool) return std::nullopt;
    program.symbols = std::move(*pool);
    return program;
}

}  // namespace lemma::ir
