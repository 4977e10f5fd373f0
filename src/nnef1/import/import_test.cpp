// SPDX-License-Identifier: Apache-2.0
// The calls that a document makes to a builder. This builder knows no operators: results have the
// shape of the first input, and an attribute gives their number.
#include "nnef1/import/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/match.h"
#include "nnef1/syntax/parser.h"

namespace lemma::nnef1 {

namespace {

constexpr const char* kDeclarations = R"(
fragment external<? = scalar>( shape: integer[] ) -> ( output: tensor<?> );
fragment constant<? = scalar>( shape: integer[], value: ?[] ) -> ( output: tensor<?> );
fragment variable<? = scalar>( shape: integer[], label: string ) -> ( output: tensor<?> );
fragment update<?>( variable: tensor<?>, value: tensor<?> ) -> ( result: tensor<?> );
fragment copy<?>( x: tensor<?> ) -> ( y: tensor<?> );
fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );
fragment mul( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar> );
fragment add( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar> );
fragment cast<?>( input: tensor<> ) -> ( output: tensor<?> );
fragment pad( input: tensor<scalar>, padding: (integer,integer)[] = [], border: string = 'constant' )
-> ( output: tensor<scalar> );
fragment pieces( x: tensor<scalar>, times: integer ) -> ( ys: tensor<scalar>[] );
fragment join( xs: tensor<scalar>[] ) -> ( y: tensor<scalar> );
)";

class FakeBuilder : public ir::CallBuilder {
public:
    const ir::Program& program() const override { return program_; }
    ir::SymbolPool& symbols() override { return program_.symbols; }
    bool has_operator(const std::string&) const override { return true; }
    ir::TensorId add_tensor(ir::Tensor tensor) override {
        return program_.tensors.add(std::move(tensor));
    }
    std::optional<std::vector<ir::Operand>> call(const ir::Call& call) override {
        calls.push_back(text(call));
        const ir::Operand& first = call.inputs.at(0);
        ir::Operand output{.packed = call.op == "nnef1.pieces", .items = {}, .length = {}};
        for (int i = 0; i < (output.packed ? 2 : 1); ++i) {
            ir::Tensor tensor{.name = call.results[0]};
            tensor.shape = program_.tensors[first.items.at(0)].shape;
            output.items.push_back(add_tensor(std::move(tensor)));
        }
        return std::vector{output};
    }
    void begin_graph() override {}
    ir::GraphId end_graph(ir::Graph graph) override {
        return program_.graphs.add(std::move(graph));
    }
    ir::OpId add_control(ir::Operation) override { return {}; }
    std::optional<ir::Program> finish(ir::Graph graph, std::vector<ir::Update> updates) override {
        program_.updates = std::move(updates);
        program_.main = end_graph(std::move(graph));
        return std::move(program_);
    }

    std::vector<std::string> calls;

private:
    static std::string text(const ir::Value& value) {
        return match(
            value,
            [](ir::Null) { return std::string("null"); },
            [](const ir::Scalar& scalar) { return text(scalar); },
            [](const ir::Pack& pack) {
                std::string items;
                for (const ir::Scalar& item : pack.items) items += " " + text(item);
                return "[" + items + " ]";
            });
    }
    static std::string text(const ir::Scalar& scalar) {
        return match(
            scalar,
            [](const std::string& value) { return value; },
            [](ir::SymId) { return std::string("?"); },
            [](auto value) { return fmt::format("{}", value); });
    }
    std::string text(const ir::Call& call) const {
        std::string result = call.label + ": " + call.op;
        for (const ir::DType type : call.types) {
            result += fmt::format("<{}>", tensor::dtype_name(type));
        }
        for (const ir::Attribute& attribute : call.attributes) {
            result += fmt::format(" {}={}", attribute.name, text(attribute.value));
        }
        for (const ir::Operand& input : call.inputs) {
            result += input.packed ? " [" : " ";
            for (const ir::TensorId id : input.items) {
                const ir::Tensor& tensor = program_.tensors[id];
                const bool constant = tensor.role == ir::TensorRole::Constant;
                result += "(" + (constant ? text(tensor.items.at(0)) : tensor.name) + ")";
            }
            result += input.packed ? "]" : "";
        }
        return result;
    }

    ir::Program program_;
};

struct Outcome {
    Imported imported;
    std::vector<std::string> calls;
    std::vector<std::string> errors;
};

Outcome import_text(const std::string& body, Dialect dialect = Dialect::Strict) {
    diag::SourceMap sources;
    Diagnostics diag, calls;
    const Document standard = parse_standard(sources, kDeclarations, diag);
    const auto file = sources.add("graph.nnef",
                                  "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
                                  "extension KHR_enable_operator_expressions;\n" +
                                      body);
    const Document document = parse_document(sources, file, {.dialect = dialect}, diag);
    const Operations operations(standard, document, dialect, diag);
    const CheckedDocument checked = check_document(document, operations, dialect, diag);
    Outcome outcome;
    FakeBuilder builder;
    if (!diag.has_errors()) {
        outcome.imported = import_document(
            {document, operations, checked}, {.dialect = dialect}, builder, calls, diag);
    }
    outcome.calls = builder.calls;
    for (const auto& item : diag.items()) {
        if (item.severity == diag::Severity::Error) outcome.errors.push_back(item.message);
    }
    return outcome;
}

using Lines = std::vector<std::string>;

TEST(Import, TellsCallsWithAllAttributesAndConstantsForNumbers) {
    const Outcome outcome = import_text(R"(
graph net( x ) -> ( y )
{
    x = external(shape = [2, 3]);
    a = pad(x, padding = [(1, 2), (3, 4)]);
    b = pad(a);
    y = b * 0.5;
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.calls,
              (Lines{"a: nnef1.pad padding=[ 1 2 3 4 ] border=constant (x)",
                     "b: nnef1.pad padding=[ ] border=constant (a)",
                     "y: nnef1.mul (b) (0.5)"}));
    ASSERT_TRUE(outcome.imported.program);
    const ir::Program& program = *outcome.imported.program;
    EXPECT_EQ(program.graphs[program.main].outputs[0].name, "y");
    EXPECT_EQ(program.tensors[outcome.imported.tensors.at("y")].name, "y");
}

TEST(Import, GivesTheTypeThatNoInputTells) {
    const Outcome outcome = import_text(R"(
fragment widen<?>( x: tensor<>, like: tensor<?> ) -> ( y: tensor<?> )
{
    y = cast<?>(x);
}
graph net( x ) -> ( y, z )
{
    x = external<logical>(shape = [2]);
    y = cast<integer>(x);
    z = widen(x, 1.0);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.calls, (Lines{"y: nnef1.cast<i64> (x)", "z: nnef1.cast<f32> (x)"}));
}

TEST(Import, ExpandsFragmentsUnderTheirPaths) {
    const Outcome outcome = import_text(R"(
fragment block( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    t = relu(x);
    y = block(t * 2.0, n = n - 1) if n > 0 else t;
}
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    y = block(x, n = 1);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.calls,
              (Lines{"y.t: nnef1.relu (x)", "y.mul: nnef1.mul (y.t) (2)", "y.t_2: nnef1.relu ()"}));
}

TEST(Import, TakesResultsApart) {
    const Outcome outcome = import_text(R"(
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    [a, b] = pieces(x, times = 2);
    y = join([b, a, 1.5]);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    ASSERT_TRUE(outcome.imported.program);
    EXPECT_EQ(outcome.imported.program->tensors[outcome.imported.tensors.at("b")].name, "b");
    const Outcome wrong = import_text(R"(
graph net( x ) -> ( a )
{
    x = external(shape = [2]);
    [a] = pieces(x, times = 2);
}
)");
    EXPECT_EQ(wrong.errors, Lines{"2 values are assigned to 1 name"});
    EXPECT_FALSE(wrong.imported.program);
}

TEST(Import, CopiesWhatHasANameAlready) {
    const Outcome outcome = import_text(R"(
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    y = x;
}
)");
    EXPECT_EQ(outcome.calls, Lines{"y: nnef1.copy (x)"});
}

TEST(Import, TakesANumberForAConstantInOtherDialects) {
    const Outcome outcome = import_text(R"(
graph net( x ) -> ( z )
{
    x = external(shape = [2]);
    z = 2.5;
}
)",
                                        Dialect::Khronos);
    ASSERT_TRUE(outcome.imported.program);
    const ir::Tensor& z = outcome.imported.program->tensors[outcome.imported.tensors.at("z")];
    EXPECT_EQ(z.role, ir::TensorRole::Constant);
}

TEST(Import, SharesVariablesByLabelWithoutRegardToCase) {
    const Outcome outcome = import_text(R"(
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    v = variable(shape = [2], label = 'net/w');
    w = variable(shape = [2], label = 'Net/W');
    u = update(w, x);
    y = v + w;
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.imported.variables.size(), 1U);
    EXPECT_EQ(outcome.imported.tensors.at("v"), outcome.imported.tensors.at("w"));
    ASSERT_TRUE(outcome.imported.program);
    EXPECT_EQ(outcome.imported.program->updates.size(), 1U);
}

TEST(Import, EvaluatesTheBranchThatIsTaken) {
    const Outcome outcome = import_text(R"(
fragment f( x: tensor<scalar>, v: scalar[] ) -> ( y: tensor<scalar> )
{
    y = x * v[3] if length_of(v) > 3 && v[3] > 0.0 else x * v[0];
}
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    y = f(x, v = [4.0]);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.calls, Lines{"y: nnef1.mul (x) (4)"});
}

TEST(Import, ComputesAttributes) {
    const Outcome outcome = import_text(R"(
fragment f( x: tensor<scalar>, n: integer = 7, c: string = 'abc', v: integer[] = [1, 2, 3] )
-> ( y: tensor<scalar> )
{
    y = pad(x, padding = [
        (-7 / 2, 2 ^ 3 ^ 2),
        (integer(-1.5), integer(true)),
        (integer('12'), length_of(c + c * 2)),
        (v[1], length_of(v[1:] + v[:1] + v[2:2])),
        (-2 ^ 2, 10 - 2 - 3)] + [for i in range_of(v) if v[i] != 2 yield (i, v[i])],
        border = c[0] + c[1:] + string(1.0) + string(true) + string(-n)
            + ('x' if ((1, 2) in [(1, 2)]) && [1] == [1] && !(2 in v[:1]) else 'y'));
}
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    y = f(x);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.calls,
              Lines{"y: nnef1.pad padding=[ -3 64 -2 1 12 9 2 3 -4 5 0 1 2 3 ] "
                    "border=abc1.0true-7x (x)"});
}

TEST(Import, StopsAtLimits) {
    const Outcome outcome = import_text(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(relu(x)); }
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    y = f(x);
}
)");
    EXPECT_EQ(outcome.errors, Lines{"fragments are nested in more than 200 levels"});
    EXPECT_FALSE(outcome.imported.program);
}

TEST(Import, KnowsNothingBehindCustomOperations) {
    const Outcome outcome = import_text(R"(
fragment mine( x: tensor<scalar> ) -> ( y: tensor<scalar>, zs: tensor<scalar>[] );
graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    a, [b, c] = mine(x);
    y = a * b + relu(x);
}
)");
    EXPECT_EQ(outcome.errors, Lines{});
    EXPECT_EQ(outcome.imported.custom_name, "mine");
    EXPECT_FALSE(outcome.imported.program);
    EXPECT_EQ(outcome.calls, Lines{"relu: nnef1.relu (x)"});
}

}  // namespace

}  // namespace lemma::nnef1
