// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/memory_files.h"

#include <fmt/format.h>

#include <map>

#include "base/open_file.h"

namespace lemma::tensor {

namespace {

class MemoryFiles final : public ModelSource {
public:
    Result<void> add(MemoryFile file, const SourceLimits& limits);

    Result<std::vector<std::string>> list() const override {
        std::vector<std::string> names;
        for (const auto& [name, bytes] : files_) names.push_back(name);
        return names;
    }
    bool has(const std::string& name) const override { return files_.contains(name); }
    Result<int64_t> size(const std::string& name) const override {
        LEMMA_TRY(const SharedBytes bytes, share_all(name));
        return static_cast<int64_t>(bytes->size());
    }
    Result<std::string> read(const std::string& name, int64_t first_bytes) const override {
        LEMMA_TRY(const SharedBytes bytes, share_all(name));
        return std::string(bytes->substr(0, static_cast<size_t>(first_bytes)));
    }
    Result<SharedBytes> share_all(const std::string& name) const override {
        const auto found = files_.find(name);
        if (found == files_.end()) return cannot_read(name, "it is not among the given files");
        return found->second;
    }
    std::string path_of(const std::string& name) const override { return name; }

private:
    std::map<std::string, SharedBytes> files_;
};

// Whether the name has only proper parts, none of them hidden.
bool is_inner_name(std::string_view name) {
    if (name.find('\0') != std::string_view::npos) return false;
    while (true) {
        const size_t end = name.find('/');
        const std::string_view part = name.substr(0, end);
        if (part.empty() || part.starts_with('.')) return false;
        if (end == std::string_view::npos) return true;
        name.remove_prefix(end + 1);
    }
}

Result<void> MemoryFiles::add(MemoryFile file, const SourceLimits& limits) {
    if (!is_inner_name(file.name))
        return cannot_read(file.name, "a file in memory needs a name inside of the model");
    if (static_cast<int64_t>(file.bytes->size()) > limits.max_file_bytes)
        return cannot_read(file.name,
                           fmt::format("it has more than {} bytes", limits.max_file_bytes));
    if (static_cast<int64_t>(files_.size()) >= limits.max_files)
        return cannot_read(file.name,
                           fmt::format("there are more than {} files", limits.max_files));
    const std::string name = file.name;
    const bool fresh = files_.emplace(std::move(file.name), std::move(file.bytes)).second;
    if (!fresh) return cannot_read(name, "it is given twice");
    return {};
}

}  // namespace

Result<std::shared_ptr<const ModelSource>> open_memory(std::vector<MemoryFile> files,
                                                       const SourceLimits& limits) {
    auto source = std::make_shared<MemoryFiles>();
    for (MemoryFile& file : files) {
        LEMMA_TRY(source->add(std::move(file), limits));
    }
    return source;
}

}  // namespace lemma::tensor
