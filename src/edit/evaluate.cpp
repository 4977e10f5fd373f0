// SPDX-License-Identifier: Apache-2.0
#include "edit/evaluate.h"

#include <fmt/format.h>

#include "convert/convert.h"
#include "edit/part.h"
#include "interpret/interpret.h"

namespace lemma::edit {

Result<std::vector<tensor::Tensor>> evaluate(const model::LoadedModel& model,
                                             const std::vector<ir::TensorId>& tensors) {
    Cut cut;
    for (size_t i = 0; i < tensors.size(); ++i)
        cut.to.push_back({fmt::format("t{}", i), tensors[i]});
    LEMMA_TRY(Part part, cut_part(model.program, cut));
    const auto program = std::make_shared<const ir::Program>(std::move(part.program));
    interpret::State state(program);
    state.set_variable_source(
        [&](ir::TensorId id) -> Result<std::shared_ptr<const interpret::Array>> {
            LEMMA_TRY(const tensor::Tensor data,
                      convert::variable_data(model, program->tensors[id]));
            LEMMA_TRY(interpret::Array array, interpret::to_array(data));
            return std::make_shared<const interpret::Array>(std::move(array));
        });
    interpret::Interpreter interpreter(state);
    LEMMA_TRY(interpret::NamedArrays outputs, interpreter.run({}));
    std::vector<tensor::Tensor> values;
    for (const NamedTensor& item : cut.to) {
        const auto found = outputs.find(item.name);
        if (found == outputs.end() || found->second.size() != 1)
            return std::unexpected(Error{"a constant has no value"});
        LEMMA_TRY(tensor::Tensor value, interpret::to_tensor(found->second[0]));
        values.push_back(std::move(value));
    }
    return values;
}

}  // namespace lemma::edit
