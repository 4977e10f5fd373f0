// SPDX-License-Identifier: Apache-2.0
// codegen/object_cache.h — compiled kernels on disk, keyed by a digest of their source. The cache
// never causes a failure: an unreadable or unwritable object is compiled again.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lemma::codegen {

// Names one object: the SHA-256 of the kernel's text, the target and the compiler, in hexadecimal.
// Models decide the text, and nobody can make a model whose kernel is taken for another one.
struct ObjectKey {
    std::string digest;
};
ObjectKey object_key(std::string_view kernel_text, std::string_view compiler);
// The same for a text in parts.
ObjectKey object_key(std::span<const std::string_view> parts, std::string_view maker);

// The file of an object. Its header detects damage and wrong keys.
std::string encode_entry(const ObjectKey& key, std::string_view object);
// Empty if the bytes are no entry of that key. The result is a view of them.
std::optional<std::string_view> decode_entry(const ObjectKey& key, std::string_view entry);

// Several processes and threads may share a folder. A file appears complete or not at all; a
// damaged file counts as missing.
class ObjectCache {
public:
    // Objects are code that will run. The folder is opened once and must belong to this user alone;
    // it must not be a symbolic link. The cache removes an object that another user owns or can
    // write, and the compiler makes it again.
    ObjectCache(std::string folder, int64_t most_bytes);
    ~ObjectCache();
    ObjectCache(const ObjectCache&) = delete;
    ObjectCache& operator=(const ObjectCache&) = delete;

    // Why there is no cache; empty if there is one.
    const std::string& trouble() const { return trouble_; }
    const std::string& folder() const { return folder_; }
    std::optional<std::string> find(const ObjectKey& key);
    void add(const ObjectKey& key, std::string_view object);
    // Removes the least recently used objects until the rest fits well. `add` calls it; another
    // process may have added more.
    void trim();

private:
    std::string open_folder();

    std::string folder_;
    int handle_ = -1;  // handle of the folder; stays valid if the path changes later
    int64_t most_bytes_;
    std::string trouble_;
    std::mutex trimming_;
    std::atomic<int64_t> bytes_ = -1;  // size of the folder, if known; -1: not counted yet
    std::atomic<uint64_t> added_ = 0;
};

}  // namespace lemma::codegen
