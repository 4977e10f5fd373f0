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

    bool usable() const { return cache_.trouble().empty(); }
    std::optional<std::string> find(std::span<const std::string_view> source) override;
    // Until `keep`, only remembers the entry: a model may turn out too small for the cache.
    void add(std::span<const std::string_view> source, std::string entry) override;
    void keep();

private:
    // Of the one model that the cache is for.
    const codegen::ObjectKey& key_of(std::span<const std::string_view> source);

    codegen::ObjectCache cache_;
    std::optional<codegen::ObjectKey> key_;
    std::string entry_;  // empty: there is nothing to keep
};

}  // namespace lemma::session
