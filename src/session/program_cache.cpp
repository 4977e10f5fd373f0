// SPDX-License-Identifier: Apache-2.0
#include "session/program_cache.h"

#include <utility>

#include "codegen/engine_version.h"

namespace lemma::session {

const codegen::ObjectKey& ProgramCache::key_of(std::span<const std::string_view> source) {
    if (!key_) key_ = codegen::object_key(source, codegen::kModelVersion);
    return *key_;
}

std::optional<std::string> ProgramCache::find(std::span<const std::string_view> source) {
    return cache_.find(key_of(source));
}

void ProgramCache::add(std::span<const std::string_view> source, std::string entry) {
    key_of(source);
    entry_ = std::move(entry);
}

void ProgramCache::keep() {
    if (!entry_.empty()) cache_.add(*key_, entry_);
    entry_.clear();
}

}  // namespace lemma::session
