// SPDX-License-Identifier: Apache-2.0
// Every example and every test program is composed, verified, printed and read back as the same
// program. Programs are the same if their texts are, and if a parallel walk finds the same parts
// and expressions with the same values.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"
#include "sknd/compose/compose.h"

namespace lemma::sknd {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = LEMMA_SOURCE_DIR;

// Examples, and the tests of the language and of the library that should succeed.
std::vector<std::string> model_files() {
    std::vector<std::string> files;
    for (const char* folder : {"tests", "examples"}) {
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
            const std::string name = entry.path().filename().string();
            if (entry.path().extension() == ".sknd" && !name.starts_with("fail_"))
                files.push_back(fs::relative(entry.path(), kRoot).string());
        }
    }
    std::ranges::sort(files);
    return files;
}

// Files that must compose; others may be parts of models, or for other commands.
bool is_whole(const std::string& file) {
    return (file.starts_with("examples/") && file.ends_with("/main.sknd")) ||
           file.starts_with("tests/golden/spec2/2_") || file.starts_with("tests/stdlib/") ||
           file.starts_with("tests/golden/compose/");
}

// Walks two programs in parallel. Parts at the same place are matched, and must match everywhere.
class SameProgram {
public:
    SameProgram(ir::Program& a, ir::Program& b) : a_(a), b_(b) {}

    void check() {
        EXPECT_EQ(a_.name, b_.name);
        EXPECT_EQ(a_.tensors.size(), b_.tensors.size());
        EXPECT_EQ(a_.operations.size(), b_.operations.size());
        EXPECT_EQ(a_.graphs.size(), b_.graphs.size());
        EXPECT_EQ(a_.updates.size(), b_.updates.size());
        graph(a_.main, b_.main);
        for (size_t i = 0; i < a_.updates.size(); ++i) {
            tensor(a_.updates[i].variable, b_.updates[i].variable);
            tensor(a_.updates[i].value, b_.updates[i].value);
        }
        assertions(a_.assertions, b_.assertions);
        for (const auto& [x, y, own] : expressions_) compare(x, y, own_[own]);
    }

private:
    using Values = std::unordered_map<ir::SymId, ir::SymId, IdHash>;

    void graph(ir::GraphId x, ir::GraphId y) {
        ASSERT_EQ(x.valid(), y.valid());
        if (!x.valid()) return;
        const ir::Graph& a = a_.graphs[x];
        const ir::Graph& b = b_.graphs[y];
        EXPECT_EQ(a.name, b.name);
        ports(a.inputs, b.inputs);
        operations(a.operations, b.operations);
        ports(a.outputs, b.outputs);
    }

    void operations(const std::vector<ir::OpId>& a, const std::vector<ir::OpId>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) operation(a_.operations[a[i]], b_.operations[b[i]]);
    }

    void operation(const ir::Operation& a, const ir::Operation& b) {
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.op, b.op);
        EXPECT_EQ(a.label, b.label);
        EXPECT_EQ(a.dtypes, b.dtypes);
        attributes(a.attributes, b.attributes);
        ports(a.inputs, b.inputs);
        ports(a.outputs, b.outputs);
        assertions(a.assertions, b.assertions);
        ASSERT_EQ(a.formulas.size(), b.formulas.size());
        for (size_t i = 0; i < a.formulas.size(); ++i) formula(a.formulas[i], b.formulas[i]);
        operations(a.parts, b.parts);
        ASSERT_EQ(a.control.index(), b.control.index());
        if (const auto* x = std::get_if<ir::Branch>(&a.control))
            branch(*x, std::get<ir::Branch>(b.control));
        if (const auto* x = std::get_if<ir::Loop>(&a.control))
            loop(*x, std::get<ir::Loop>(b.control));
    }

    void branch(const ir::Branch& a, const ir::Branch& b) {
        ASSERT_EQ(a.arms.size(), b.arms.size());
        for (size_t i = 0; i < a.arms.size(); ++i) {
            graph(a.arms[i].condition, b.arms[i].condition);
            graph(a.arms[i].consequent, b.arms[i].consequent);
        }
        graph(a.alternative, b.alternative);
    }

    void loop(const ir::Loop& a, const ir::Loop& b) {
        tensors(a.carried, b.carried);
        tensors(a.items, b.items);
        tensor(a.index, b.index);
        expression(a.static_count, b.static_count);
        tensor(a.dynamic_count, b.dynamic_count);
        graph(a.pre_condition, b.pre_condition);
        graph(a.body, b.body);
        graph(a.post_condition, b.post_condition);
    }

    void ports(const std::vector<ir::Port>& a, const std::vector<ir::Port>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].name, b[i].name);
            EXPECT_EQ(a[i].operand.packed, b[i].operand.packed);
            tensors(a[i].operand.items, b[i].operand.items);
            expression(a[i].operand.length, b[i].operand.length);
        }
    }

    void tensors(const std::vector<ir::TensorId>& a, const std::vector<ir::TensorId>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) tensor(a[i], b[i]);
    }

    void tensor(ir::TensorId x, ir::TensorId y) {
        ASSERT_EQ(x.valid(), y.valid());
        if (!x.valid()) return;
        const auto [at, added] = tensors_.emplace(x, y);
        EXPECT_EQ(at->second, y);
        if (!added) return;
        const ir::Tensor& a = a_.tensors[x];
        const ir::Tensor& b = b_.tensors[y];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.dtype, b.dtype);
        EXPECT_EQ(a.role, b.role);
        ASSERT_EQ(a.shape.size(), b.shape.size());
        for (size_t i = 0; i < a.shape.size(); ++i) expression(a.shape[i], b.shape[i]);
        scalars(a.items, b.items);
        ASSERT_EQ(a.quantizer.has_value(), b.quantizer.has_value());
        if (!a.quantizer) return;
        EXPECT_EQ(a.quantizer->op, b.quantizer->op);
        attributes(a.quantizer->attributes, b.quantizer->attributes);
    }

    void attributes(const std::vector<ir::Attribute>& a, const std::vector<ir::Attribute>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].name, b[i].name);
            ASSERT_EQ(a[i].value.index(), b[i].value.index());
            if (const auto* x = std::get_if<ir::Scalar>(&a[i].value))
                scalars({*x}, {std::get<ir::Scalar>(b[i].value)});
            if (const auto* x = std::get_if<ir::Pack>(&a[i].value)) {
                const auto& y = std::get<ir::Pack>(b[i].value);
                scalars(x->items, y.items);
                EXPECT_TRUE(!x->items.empty() || x->type == y.type);
            }
        }
    }

    void scalars(const std::vector<ir::Scalar>& a, const std::vector<ir::Scalar>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a[i].index(), b[i].index());
            if (const auto* x = std::get_if<ir::SymId>(&a[i]))
                expression(*x, std::get<ir::SymId>(b[i]));
            else
                EXPECT_EQ(a[i], b[i]);
        }
    }

    void assertions(const std::vector<ir::Assertion>& a, const std::vector<ir::Assertion>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].message, b[i].message);
            expression(a[i].condition, b[i].condition);
        }
    }

    void formula(const ir::Formula& a, const ir::Formula& b) {
        own_.emplace_back();
        formula_parts(a, b);
        own_.emplace_back();
    }

    void formula_parts(const ir::Formula& a, const ir::Formula& b) {
        EXPECT_EQ(a.op, b.op);
        ASSERT_EQ(a.bounds.size(), b.bounds.size());
        for (size_t i = 0; i < a.bounds.size(); ++i) {
            own_symbol(a.bounds[i].index, b.bounds[i].index);
            expression(a.bounds[i].extent, b.bounds[i].extent);
        }
        ASSERT_EQ(a.accesses.size(), b.accesses.size());
        for (size_t i = 0; i < a.accesses.size(); ++i) {
            tensor(a.accesses[i].tensor, b.accesses[i].tensor);
            own_symbol(a.accesses[i].symbol, b.accesses[i].symbol);
            indices(a.accesses[i].indices, b.accesses[i].indices);
        }
        ASSERT_EQ(a.writes.size(), b.writes.size());
        for (size_t i = 0; i < a.writes.size(); ++i) {
            tensor(a.writes[i].tensor, b.writes[i].tensor);
            indices(a.writes[i].indices, b.writes[i].indices);
            expression(a.writes[i].value, b.writes[i].value);
        }
        expression(a.condition, b.condition);
        expression(a.counter, b.counter);
    }

    void indices(const std::vector<ir::IndexTerm>& a, const std::vector<ir::IndexTerm>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].guard, b[i].guard);
            expression(a[i].value, b[i].value);
            expression(a[i].below, b[i].below);
            expression(a[i].above, b[i].above);
        }
    }

    // A symbol that the formula defines. Other formulas may define it, too.
    void own_symbol(ir::SymId x, ir::SymId y) {
        ASSERT_TRUE(x.valid() && y.valid());
        EXPECT_TRUE(own_.back().emplace(x, y).second) << a_.symbols.text(x);
        expression(x, y);
    }

    // Symbols are matched at once; expressions are compared after all symbols are matched.
    void expression(ir::SymId x, ir::SymId y) {
        ASSERT_EQ(x.valid(), y.valid());
        if (!x.valid()) return;
        ASSERT_EQ(a_.symbols.type(x), b_.symbols.type(y));
        EXPECT_EQ(a_.symbols.range(x), b_.symbols.range(y)) << a_.symbols.text(x);
        if (a_.symbols.node(x).kind == ir::SymKind::Symbol) {
            EXPECT_EQ(b_.symbols.node(y).kind, ir::SymKind::Symbol);
            const auto own = own_.back().find(x);
            const ir::SymId match =
                own != own_.back().end() ? own->second : symbols_.emplace(x, y).first->second;
            EXPECT_EQ(match, y) << a_.symbols.text(x);
        } else {
            expressions_.push_back({x, y, own_.size() - 1});
        }
    }

    void compare(ir::SymId x, ir::SymId y, const Values& own) {
        for (unsigned seed = 0; seed < 2; ++seed) {
            std::mt19937 random(seed);
            Values left, right;
            for (const ir::SymId symbol : a_.symbols.symbols_of(x)) {
                const auto found = own.find(symbol);
                ASSERT_TRUE(found != own.end() || symbols_.contains(symbol))
                    << a_.symbols.text(symbol);
                const ir::SymId match = found != own.end() ? found->second : symbols_[symbol];
                const auto number = static_cast<int64_t>(random() % 7);
                left[symbol] = constant(a_.symbols, symbol, number);
                right[match] = constant(b_.symbols, symbol_type(symbol), number);
            }
            const auto p = a_.symbols.substitute(x, left);
            const auto q = b_.symbols.substitute(y, right);
            ASSERT_EQ(p.has_value(), q.has_value()) << a_.symbols.text(x);
            if (!p) continue;
            EXPECT_EQ(a_.symbols.text(*p), b_.symbols.text(*q)) << a_.symbols.text(x);
        }
    }
    ir::ScalarType symbol_type(ir::SymId id) const { return a_.symbols.type(id); }
    static ir::SymId constant(ir::SymbolPool& pool, ir::SymId symbol, int64_t number) {
        return constant(pool, pool.type(symbol), number);
    }
    static ir::SymId constant(ir::SymbolPool& pool, ir::ScalarType type, int64_t number) {
        switch (type) {
            case ir::ScalarType::Int:
                return pool.integer(number);
            case ir::ScalarType::Real:
                return pool.real(static_cast<double>(number) / 4);
            case ir::ScalarType::Bool:
                return pool.boolean(number % 2 == 0);
            case ir::ScalarType::Str:
                return pool.string(std::to_string(number));
        }
        return {};
    }

    ir::Program& a_;
    ir::Program& b_;
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> tensors_;
    Values symbols_;
    std::vector<Values> own_ = {{}};  // symbols of the current formula; empty outside of formulas
    struct Pair {
        ir::SymId x, y;
        size_t own;  // the symbols of its formula
    };
    std::vector<Pair> expressions_;
};

class RoundTrip : public ::testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, IsTheSameProgram) {
    const fs::path path = kRoot / GetParam();
    diag::SourceMap sources;
    Diagnostics diag;
    const auto text = diag::read_source(path.string());
    ASSERT_TRUE(text);
    const auto file = sources.add(path.filename().string(), *text);
    const Package package =
        load_package(sources, file, "main", folder_reader(path.parent_path().string()), {}, diag);
    check_types(package, {}, diag);
    std::optional<ir::Program> program;
    if (!diag.has_errors()) program = compose(package, {}, diag);
    if (!program && !is_whole(GetParam())) return;
    ASSERT_TRUE(program) << diag::render(sources, diag, {});
    EXPECT_EQ(ir::verify(*program), std::vector<std::string>{});

    const std::string printed = ir::print(*program);
    auto again = ir::read_program(sources, sources.add("printed", printed), diag);
    ASSERT_TRUE(again) << diag::render(sources, diag, {});
    EXPECT_EQ(ir::print(*again), printed);
    EXPECT_EQ(ir::verify(*again), std::vector<std::string>{});
    SameProgram(*program, *again).check();
}

INSTANTIATE_TEST_SUITE_P(Models,
                         RoundTrip,
                         ::testing::ValuesIn(model_files()),
                         [](const auto& test) {
                             std::string name = test.param;
                             for (char& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

}  // namespace
}  // namespace lemma::sknd
