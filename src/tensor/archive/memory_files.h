// SPDX-License-Identifier: Apache-2.0
// tensor/archive/memory_files.h — the files of a model in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensor/archive/archive.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

struct MemoryFile {
    std::string name;  // `blocks/conv.sknd`
    SharedBytes bytes;
};

// Errors name the file: a name that leads out of the model or is hidden, a duplicate, a limit.
Result<std::shared_ptr<const ModelSource>> open_memory(std::vector<MemoryFile> files,
                                                       const SourceLimits& limits = {});

}  // namespace lemma::tensor
