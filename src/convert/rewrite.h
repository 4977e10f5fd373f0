// SPDX-License-Identifier: Apache-2.0
// convert/rewrite.h — rewrites a program in the operations of one format. An operation that the
// format has stays. An operation with a fitting translation becomes a call of it. Other compounds
// become their parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/calls.h"

namespace lemma::convert {

// The call that replaces an operation, with operands of the operation's program.
struct Translation {
    std::string op;  // a name that the target's builder knows
    std::vector<ir::DType> types;
    std::vector<ir::Attribute> attributes;
    std::vector<ir::Operand> inputs;
};

// A format, as rewriting sees it. All methods take operations of the program that is rewritten.
class Target {
public:
    virtual ~Target() = default;

    virtual std::string_view format() const = 0;  // used in messages
    virtual bool has_control_flow() const = 0;
    // Whether the format's writer accepts the operation unchanged.
    virtual bool has(const ir::Operation& op) const = 0;
    // Empty if no translation takes all inputs and attributes of the operation.
    virtual std::optional<Translation> translation(const ir::Operation& op) const = 0;
    // The message for an operation that the format cannot express.
    virtual std::string why_not(const ir::Operation& op) const = 0;
    // Knows the operations of the format and the translations. It reports to `trouble`.
    virtual std::unique_ptr<ir::CallBuilder> builder(Diagnostics& trouble) const = 0;
};

struct RewrittenProgram {
    ir::Program program;
    std::map<std::string, ir::TensorId> variables;  // variables of the original program, by name
};

// Whether the program has an operation that the target lacks.
bool needs_rewriting(const ir::Program& program, const Target& target);

// Empty if the format cannot express some operation. One run reports all of them.
std::optional<RewrittenProgram> rewrite(const ir::Program& program,
                                        const Target& target,
                                        Diagnostics& diag);

// The inputs with these names, in this order; an empty operand for each that the operation lacks.
std::vector<ir::Operand> inputs_by_name(const ir::Operation& op,
                                        const std::vector<std::string_view>& names);
// The attributes that have a value.
std::vector<ir::Attribute> given_attributes(const ir::Operation& op);

}  // namespace lemma::convert
