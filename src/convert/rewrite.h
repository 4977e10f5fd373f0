// convert/rewrite.h — a program in the operations of one format. An operation that the format has
// stays; one that a translation takes becomes a call of it; other compounds become their parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/calls.h"

namespace lemma::convert {

// The call that stands for an operation, in the terms of the operation's program.
struct Translation {
    std::string op;  // of the target's builder
    std::vector<ir::DType> types;
    std::vector<ir::Attribute> attributes;
    std::vector<ir::Operand> inputs;
};

// What a rewriting needs to know about a format. All methods are called for operations of the
// program that is rewritten.
class Target {
public:
    virtual ~Target() = default;

    virtual std::string_view format() const = 0;  // its name in messages
    virtual bool has_control_flow() const = 0;
    // Whether the writer of the format takes the operation as it is.
    virtual bool has(const ir::Operation& op) const = 0;
    // Empty when no translation takes all inputs and attributes of the operation.
    virtual std::optional<Translation> translation(const ir::Operation& op) const = 0;
    // The report on an operation that the format cannot express.
    virtual std::string why_not(const ir::Operation& op) const = 0;
    // Knows the operations of the format and the translations. It reports to `trouble`.
    virtual std::unique_ptr<ir::CallBuilder> builder(Diagnostics& trouble) const = 0;
};

struct RewrittenProgram {
    ir::Program program;
    std::map<std::string, ir::TensorId> variables;  // of the program that was rewritten, by name
};

// Whether there is an operation that the target does not have.
bool needs_rewriting(const ir::Program& program, const Target& target);

// Empty when an operation cannot be said, which is reported, all of them in one run.
std::optional<RewrittenProgram> rewrite(const ir::Program& program,
                                        const Target& target,
                                        Diagnostics& diag);

// The inputs with these names, in this order; empty operands for those that the operation lacks.
std::vector<ir::Operand> inputs_by_name(const ir::Operation& op,
                                        const std::vector<std::string_view>& names);
// The attributes that have a value.
std::vector<ir::Attribute> given_attributes(const ir::Operation& op);

}  // namespace lemma::convert
