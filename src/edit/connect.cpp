// SPDX-License-Identifier: Apache-2.0
#include "edit/connect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "diag/diagnostic.h"
#include "diag/utf8.h"
#include "edit/linear.h"
#include "edit/part.h"
#include "show/types.h"

namespace lemma::edit {

namespace {

using diag::printable;

std::string type_text(const ir::Program& program, ir::TensorId id) {
    return show::TypeNames(program).tensor(id);
}

bool may_fit(const ir::Program& first, ir::TensorId a, const ir::Program& second, ir::TensorId b) {
    const ir::Tensor& x = first.tensors[a];
    const ir::Tensor& y = second.tensors[b];
    if (x.dtype != y.dtype || x.shape.size() != y.shape.size()) return false;
    return std::ranges::equal(x.shape, y.shape, [&](ir::SymId m, ir::SymId n) {
        const auto left = first.symbols.as_int(m);
        const auto right = second.symbols.as_int(n);
        return !left || !right || *left == *right;
    });
}

Result<NamedTensor> find_port(const std::vector<NamedTensor>& ports,
                              const std::string& name,
                              std::string_view what) {
    std::vector<std::string_view> known;
    for (const NamedTensor& port : ports) {
        if (port.name == name) return port;
        known.push_back(port.name);
    }
    const std::string_view near = diag::nearest_name(name, known);
    return std::unexpected(Error{fmt::format(
        "--connect: `{}` is no {}{}",
        printable(name),
        what,
        !near.empty()   ? fmt::format("; did you mean `{}`?", printable(near))
        : known.empty() ? ""
                        : fmt::format("; there {} `{}`",
                                      known.size() == 1 ? "is" : "are",
                                      printable(fmt::format("{}", fmt::join(known, "`, `")))))});
}

std::string names_text(const std::vector<NamedTensor>& ports) {
    std::vector<std::string> names;
    for (const NamedTensor& port : ports) names.push_back(printable(port.name));
    return fmt::format("{}", fmt::join(names, "`, `"));
}

// `OUT=IN`. Names may contain `=`, so each place is tried.
Result<Connection> find_pair(const std::string& text,
                             const std::vector<NamedTensor>& outputs,
                             const std::vector<NamedTensor>& inputs) {
    std::optional<Error> wrong;
    for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
        auto output = find_port(outputs, text.substr(0, at), "output of the first model");
        if (!output) {
            if (!wrong) wrong = output.error();
            continue;
        }
        auto input = find_port(inputs, text.substr(at + 1), "input of the second model");
        if (input) return Connection{*output, *input};
        wrong = input.error();
    }
    return std::unexpected(
        wrong.value_or(Error{fmt::format("--connect takes OUT=IN, got `{}`", printable(text))}));
}

Result<std::vector<Connection>> by_default(const ir::Program& first,
                                           const ir::Program& second,
                                           const std::vector<NamedTensor>& outputs,
                                           const std::vector<NamedTensor>& inputs) {
    std::vector<Connection> found;
    for (const NamedTensor& output : outputs) {
        for (const NamedTensor& input : inputs) {
            if (output.name == input.name) found.push_back({output, input});
        }
    }
    if (!found.empty()) return found;
    if (outputs.size() == 1 && inputs.size() == 1) {
        if (may_fit(first, outputs[0].tensor, second, inputs[0].tensor))
            return std::vector<Connection>{{outputs[0], inputs[0]}};
        return std::unexpected(Error{fmt::format("the output `{}` is {}, and the input `{}` is {}",
                                                 printable(outputs[0].name),
                                                 type_text(first, outputs[0].tensor),
                                                 printable(inputs[0].name),
                                                 type_text(second, inputs[0].tensor))});
    }
    return std::unexpected(Error{fmt::format(
        "no output of the first model (`{}`) has the name of an input of the second one (`{}`): "
        "give --connect OUT=IN",
        names_text(outputs),
        names_text(inputs))});
}

// `output` is the connected tensor in `first`.
std::unexpected<Error> mismatch(const Connection& connection,
                                const ir::Program& first,
                                ir::TensorId output,
                                const ir::Program& second) {
    return std::unexpected(
        Error{fmt::format("cannot connect `{}` to `{}`: the output is {}, and the input is {}",
                          printable(connection.output.name),
                          printable(connection.input.name),
                          type_text(first, output),
                          type_text(second, connection.input.tensor))});
}

}  // namespace

Result<std::vector<Connection>> find_connections(const ir::Program& first,
                                                 const ir::Program& second,
                                                 const std::vector<std::string>& wanted) {
    const auto outputs = port_tensors(first.graphs[first.main].outputs);
    const auto inputs = port_tensors(second.graphs[second.main].inputs);
    std::vector<Connection> found;
    for (const std::string& pair : wanted) {
        LEMMA_TRY(Connection connection, find_pair(pair, outputs, inputs));
        found.push_back(std::move(connection));
    }
    if (wanted.empty()) {
        LEMMA_TRY(found, by_default(first, second, outputs, inputs));
    }
    std::set<ir::TensorId> fed;
    for (const Connection& connection : found) {
        if (!may_fit(first, connection.output.tensor, second, connection.input.tensor))
            return mismatch(connection, first, connection.output.tensor, second);
        if (fed.insert(connection.input.tensor).second) continue;
        return std::unexpected(Error{fmt::format("two outputs are connected to the input `{}`",
                                                 printable(connection.input.name))});
    }
    return found;
}

Result<void> fix_first(const std::vector<Connection>& connections,
                       const ir::Program& first,
                       const ir::Program& second,
                       ir::Program& into,
                       Copier& copier) {
    for (const Connection& connection : connections) {
        const auto& from = first.tensors[connection.output.tensor].shape;
        const auto& to = second.tensors[connection.input.tensor].shape;
        for (size_t i = 0; i < from.size(); ++i) {
            const auto number = second.symbols.as_int(to[i]);
            if (!number || first.symbols.is_constant(from[i])) continue;
            const auto form = linear_form(first.symbols, from[i]);
            const auto value =
                form ? solve(into.symbols, *form, into.symbols.integer(*number)) : std::nullopt;
            if (!value) return mismatch(connection, first, connection.output.tensor, second);
            const auto known = copier.exprs().done().find(form->atom);
            if (known != copier.exprs().done().end() && known->second != *value)
                return mismatch(connection, first, connection.output.tensor, second);
            copier.exprs().put(form->atom, *value);
        }
    }
    return {};
}

Result<void> fix_second(const std::vector<Connection>& connections,
                        const ir::Program& second,
                        ir::Program& into,
                        Copier& first_copier,
                        Copier& second_copier) {
    ir::ExprCopier& exprs = second_copier.exprs();
    for (const Connection& connection : connections) {
        const ir::TensorId given = first_copier.tensor(connection.output.tensor);
        const auto& to = second.tensors[connection.input.tensor].shape;
        for (size_t i = 0; i < to.size(); ++i) {
            const ir::SymId extent = into.tensors[given].shape[i];
            const auto form = linear_form(second.symbols, to[i]);
            const bool open = form && !exprs.done().contains(form->atom);
            const auto value = open ? solve(into.symbols, *form, extent) : std::nullopt;
            if (value) exprs.put(form->atom, *value);
            const auto made = exprs.copy(to[i]);
            if (!made || *made != extent) return mismatch(connection, into, given, second);
        }
    }
    return {};
}

}  // namespace lemma::edit
