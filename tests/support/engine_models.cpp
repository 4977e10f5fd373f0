// SPDX-License-Identifier: Apache-2.0
#include "support/engine_models.h"

#include <gtest/gtest.h>

#include "diag/render.h"
#include "interpret/random.h"
#include "session/tensors.h"
#include "sknd/compose/compose.h"

namespace lemma::testing_support {

using interpret::Array;

double large_weight(const std::string& name, uint64_t i) {
    const double value = 0.5 + interpret::random_unit(name.size() * 77 + name[0], i);
    return i % 3 == 1 && name[0] == 'w' ? -value : value;
}

double small_weight(const std::string& name, uint64_t i) {
    return 0.2 * interpret::random_unit(name.size(), i) - 0.1;
}

std::unique_ptr<interpret::State> load_text(const std::string& text,
                                            const WeightOf& weight,
                                            ir::DType real,
                                            const std::function<void(ir::Program&)>& change) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto file = sources.add("test.sknd", text);
    const auto package = sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    sknd::check_types(package, {}, diag);
    std::optional<ir::Program> program;
    if (!diag.has_errors()) program = sknd::compose(package, {.real = real}, diag);
    EXPECT_EQ(diag::render(sources, diag, {}), "");
    if (!program) return nullptr;
    change(*program);
    auto state = std::make_unique<interpret::State>(std::move(*program));
    for (const ir::Tensor& tensor : state->program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) {
            shape.push_back(*state->program().symbols.as_int(part));
        }
        Array value = *Array::zeros(tensor.dtype, shape);
        for (size_t i = 0; i < value.reals.size(); ++i) value.reals[i] = weight(tensor.name, i);
        for (size_t i = 0; i < value.integers.size(); ++i) {
            value.integers[i] = static_cast<int64_t>(weight(tensor.name, i));
        }
        value.round();
        EXPECT_TRUE(state->set_variable(tensor.name, std::move(value)));
    }
    return state;
}

std::function<void(ir::Program&)> with_types(ir::DType x, ir::DType f, ir::DType y) {
    return [=](ir::Program& program) {
        for (ir::Tensor& tensor : program.tensors) {
            if (tensor.name == "x") tensor.dtype = x;
            if (tensor.name == "f") tensor.dtype = f;
            if (tensor.name == "y") tensor.dtype = y;
        }
    };
}

void fill_with_bytes(interpret::NamedArrays& inputs) {
    for (auto& [name, items] : inputs) {
        for (size_t i = 0; i < items[0].integers.size(); ++i) {
            items[0].integers[i] = static_cast<int64_t>(interpret::random_bits(name[0], i) % 256);
        }
        items[0].round();
    }
}

Result<interpret::NamedArrays> run_interpreter(interpret::State& state,
                                               const interpret::NamedArrays& inputs) {
    return interpret::Interpreter(state).run(inputs);
}

interpret::NamedArrays random_inputs(const ir::Program& program) {
    interpret::NamedArrays inputs;
    EXPECT_TRUE(session::add_random_inputs(program, 3, inputs));
    return inputs;
}

}  // namespace lemma::testing_support
