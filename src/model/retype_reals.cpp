// SPDX-License-Identifier: Apache-2.0
#include "model/retype_reals.h"

#include "tensor/convert.h"

namespace lemma::model {

void retype_reals(LoadedModel& model, tensor::DType real) {
    using tensor::DType;
    if (real == DType::F32) return;
    for (ir::Tensor& tensor : model.program.tensors) {
        if (tensor.dtype == DType::F32) tensor.dtype = real;
    }
    for (ir::Operation& op : model.program.operations) {
        for (auto& [name, dtype] : op.dtypes) {
            if (dtype == DType::F32) dtype = real;
        }
    }
    model.data = [read = std::move(model.data)](
                     const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        LEMMA_TRY(auto data, read(variable));
        const bool changes = data && data->dtype() == DType::F32 && variable.dtype != DType::F32;
        if (!changes) return data;
        LEMMA_TRY(tensor::Tensor changed, tensor::convert(*data, variable.dtype));
        return std::optional(std::move(changed));
    };
}

}  // namespace lemma::model
