// SPDX-License-Identifier: Apache-2.0
#include "api/memory_model.h"

#include <fmt/format.h>

#include "api/options.h"
#include "tensor/files/mapped_file.h"

namespace lemma::api {

Result<model::ModelFile> memory_model(const lemma_file* files,
                                      size_t count,
                                      const tensor::SourceLimits& limits) {
    if (count == 0 || !files) return bad("no file is given");
    std::vector<tensor::MemoryFile> copies;
    for (size_t i = 0; i < count; ++i) {
        if (!files[i].name) return bad(fmt::format("the file {} has no name", i));
        if (files[i].size > 0 && !files[i].data)
            return bad(
                fmt::format("the file `{}` has a size, but its `data` is NULL", files[i].name));
        std::string bytes;
        if (files[i].size > 0) bytes.assign(static_cast<const char*>(files[i].data), files[i].size);
        copies.push_back({files[i].name, tensor::share(std::move(bytes))});
    }
    return model::find_in_memory(std::move(copies), limits);
}

}  // namespace lemma::api
