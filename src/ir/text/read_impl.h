// SPDX-License-Identifier: Apache-2.0
// ir/text/read_impl.h — the state of reading one program. After an error is reported, each step
// returns false or nothing, and reading stops.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "ir/text/text_lexer.h"

namespace lemma::ir {

class Reader {
public:
    Reader(diag::FileId file, std::string_view text, Diagnostics& diag);
    std::optional<Program> run();

private:
    using MaybeSym = std::optional<SymId>;

    // ---- tokens
    const TextToken& peek(size_t ahead = 0) const;
    const TextToken& take();
    bool is_sign(std::string_view sign, size_t ahead = 0) const;
    bool is_word(std::string_view word, size_t ahead = 0) const;
    bool accept(std::string_view sign);
    bool accept_word(std::string_view word);
    bool expect(std::string_view sign);
    bool end_line();  // at least one line end
    void skip_lines();
    Span span_here() const;
    bool fail(DiagKind kind, std::string message) { return fail(span_here(), kind, message); }
    bool fail(Span span, DiagKind kind, std::string message);
    bool unexpected(std::string_view wanted);

    // ---- read.cpp: statements
    bool read_statements();
    bool read_statement();
    bool read_symbol();
    bool read_let();
    bool read_declaration(TensorRole role);
    bool read_update();
    bool read_assertion(std::vector<Assertion>& assertions);
    // Reads a graph after its keyword; `usual_name` is the name if the text omits it.
    std::optional<GraphId> read_graph(std::string_view usual_name, int depth);
    bool read_operations(std::vector<OpId>& operations, int depth);
    std::optional<OpId> read_operation(int depth);
    // `kind`: if the text has it.
    bool read_head(Operation& op, std::optional<OperationKind>& kind);
    bool read_body(Operation& op, int depth);
    bool read_body_statement(Operation& op, int depth);
    bool read_control(Operation& op, int depth);
    bool finish_control(Operation& op);
    bool read_over(Loop& loop);
    bool starts_outputs() const;
    bool starts_graph() const;

    // ---- read_parts.cpp: the parts of statements
    std::optional<std::string> read_name();
    std::optional<std::string> read_string();
    std::optional<Interval> read_range();
    std::optional<int64_t> read_range_end();
    std::optional<DType> read_dtype();
    // dtype '[' extents ']' [quantize …]; afterwards the token names the tensor.
    std::optional<TensorId> declare(const TextToken& name, TensorRole role);
    bool read_quantizer(Tensor& tensor);
    bool read_items(Tensor& tensor);
    std::optional<TensorId> read_tensor(bool may_declare);
    std::optional<Operand> read_operand(bool may_declare);
    bool read_ports(std::vector<Port>& ports, std::string_view close);
    bool read_outputs(std::vector<Port>& ports);
    bool read_attributes(std::vector<Attribute>& attributes);
    std::optional<Value> read_value();
    std::optional<Value> read_pack(std::optional<ScalarType> type);
    std::optional<Scalar> read_scalar();
    std::optional<Scalar> read_literal();
    ScalarType type_of(const Scalar& scalar) const;

    // ---- read_formula.cpp
    struct FormulaState {
        Formula formula;
        std::unordered_map<std::string, SymId> names;     // indices and lets
        std::map<std::vector<uint32_t>, SymId> elements;  // accesses by tensor and indices
    };
    bool read_formula(Operation& op);
    bool read_formula_line();
    // The word at the top level of the line, or the end of the line.
    size_t find_on_line(std::string_view word) const;
    size_t find_formula_op() const;
    bool read_bounds();
    bool read_bound();
    bool read_formula_let();
    bool is_lone_access() const;
    bool read_formula_op();
    bool read_values(std::vector<SymId>& values);
    bool read_targets(const std::vector<SymId>& values);
    bool read_clauses();
    bool add_name(const TextToken& name, SymId value);
    std::optional<std::vector<IndexTerm>> read_indices();
    std::optional<IndexTerm> read_index();
    // `fresh`: a separate access, even if another one reads the same element.
    MaybeSym read_access(bool fresh);

    // ---- read_expr.cpp
    MaybeSym read_expr();
    MaybeSym read_typed(ScalarType type, std::string_view what);
    MaybeSym read_logic();
    MaybeSym read_compare();
    MaybeSym read_sum();
    MaybeSym read_product();
    MaybeSym read_unary();
    MaybeSym read_power();
    MaybeSym read_primary();
    MaybeSym read_number(bool negative);
    MaybeSym read_call(const TextToken& name);
    MaybeSym read_named();
    MaybeSym apply(SymOp op, const std::vector<SymId>& operands, Span span);
    MaybeSym add_up(std::vector<SymId> terms, Span span);
    MaybeSym or_fault(MaybeSym result, Span span);
    bool too_deep();

    struct Nested {  // counts the nesting of expressions
        explicit Nested(int& depth) : depth_(depth) { ++depth_; }
        ~Nested() { --depth_; }
        Nested(const Nested&) = delete;
        int& depth_;
    };

    const diag::FileId file_;
    const std::string_view text_;
    Diagnostics& diag_;
    std::vector<TextToken> tokens_;
    size_t at_ = 0;
    int depth_ = 0;  // nesting of expressions
    Program program_;
    std::unordered_map<std::string, SymId> names_;            // symbols and lets of the program
    std::unordered_map<std::string_view, TensorId> tensors_;  // by the text of the token
    FormulaState* state_ = nullptr;                           // of the current formula
};

}  // namespace lemma::ir
