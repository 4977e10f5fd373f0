// SPDX-License-Identifier: Apache-2.0
// model/nnef1/tract_data.h — data in archives of tract: integers with the codes of quantised items,
// weights in 4-bit blocks, and files of many tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ir/program/program.h"
#include "tensor/archive/archive.h"
#include "tensor/files/safetensors_file.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace lemma::model {

// The header of a tensor's data. Kinds are those of the computation: f32, i64, bool.
struct TractHeader {
    std::string misfit;  // why it cannot be read; empty if it can
    ir::DType kind = ir::DType::F32;
    // Empty for blocks: these are flattened, and only the graph has the shape.
    std::optional<tensor::Shape> shape;
};

TractHeader read_tract_header(const tensor::ModelSource& source, const std::string& file);
// The tensor of a .dat file, for a variable of the given shape.
Result<tensor::Tensor> read_tract_data(const tensor::ModelSource& source,
                                       const std::string& file,
                                       const tensor::Shape& shape,
                                       const tensor::SourceLimits& limits);

// The tensors of all *.safetensors files by their names.
class SafetensorsFiles {
public:
    explicit SafetensorsFiles(const tensor::ModelSource& source);

    bool has(const std::string& label) const { return places_.contains(label); }
    TractHeader header(const std::string& label) const;
    std::string file(const std::string& label) const { return places_.at(label).file; }
    Result<tensor::Tensor> read(const tensor::ModelSource& source,
                                const std::string& label,
                                const tensor::SourceLimits& limits) const;

private:
    struct FilePart {
        std::string file;
        ir::DType dtype;
        tensor::Shape shape;
    };
    std::map<std::string, FilePart> places_;
    // The last file read: the labels of one file mostly come in sequence.
    mutable std::shared_ptr<const tensor::SafetensorsFile> open_;
    mutable std::string open_name_;
};

}  // namespace lemma::model
