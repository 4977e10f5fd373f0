// SPDX-License-Identifier: Apache-2.0
// session/program_cache.h — the programs of models in the folder of the object cache, so that a
// model that starts again is not composed again.
#pragma once

#include <optional>
#include <string>

#include "codegen/object_cache.h"
#include "model/options.h"

namespace lemma::session {

class ProgramCache : public model::ProgramStore {
public:
    explicit ProgramCache(const std::string& folder, int64_t most_bytes)
        : cache_(folder, most_bytes) {}

    std::optional<std::string> find(std::span<const std::string_view> source) override;
    // Until `keep`, only remembers the entry: a model may turn out too small for the cache.
    void add(std::span<const std::string_view> source, std::string entry) override;
    void keep();

private:
    codegen::ObjectCache cache_;
    std::optional<codegen::ObjectKey> key_;
    std::string entry_;  // empty: there is nothing to keep
};

}  // namespace lemma::session
