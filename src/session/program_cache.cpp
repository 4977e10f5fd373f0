// SPDX-License-Identifier: Apache-2.0
#include "session/program_cache.h"

#include <utility>

#include "codegen/engine_version.h"

namespace lemma::session {

std::optional<std::string> ProgramCache::find(std::span<const std::string_view> source) {
    if (!cache_.trouble().empty()) return std::nullopt;
    key_ = codegen::object_key(source, codegen::kModelVersion);
    return cache_.find(*key_);
}

void ProgramCache::add(std::span<const std::string_view> source, std::string entry) {
    if (!key_) key_ = codegen::object_key(source, codegen::kModelVersion);
    entry_ = std::move(entry);
}

void ProgramCache::keep() {
    if (!entry_.empty()) cache_.add(*key_, entry_);
    entry_.clear();
}

}  // namespace lemma::session
