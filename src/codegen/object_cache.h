// codegen/object_cache.h — compiled kernels on disk, found again by what they were made from.
// Never a reason to fail: what cannot be read or written is compiled as if there were no cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace lemma::codegen {

// Names one object: a digest of the kernel's text, the target and the compiler, in hexadecimal.
struct ObjectKey {
    std::string digest;
};
ObjectKey object_key(std::string_view kernel_text, std::string_view compiler);

// An object as its file has it: with a header that tells damage and other keys.
std::string encode_entry(const ObjectKey& key, std::string_view object);
// Empty if the bytes are no entry of that key. The view is into them.
std::optional<std::string_view> decode_entry(const ObjectKey& key, std::string_view entry);

// Several processes, and several threads of each, may use one folder at the same time: a file
// appears whole or not at all, and one that is damaged is as good as none.
class ObjectCache {
public:
    // Objects are code that will run. The folder is opened once, and must belong to this user
    // alone; a symbolic link is no folder. An object that belongs to another user, or that others
    // can write to, is removed and made anew.
    ObjectCache(std::string folder, int64_t most_bytes);
    ~ObjectCache();
    ObjectCache(const ObjectCache&) = delete;
    ObjectCache& operator=(const ObjectCache&) = delete;

    // Why there is no cache; empty if there is one.
    const std::string& trouble() const { return trouble_; }
    const std::string& folder() const { return folder_; }
    std::optional<std::string> find(const ObjectKey& key);
    void add(const ObjectKey& key, std::string_view object);
    // Removes what was not used for longest, until the rest fits well. `add` does it on its own
    // account; another process may have added more.
    void trim();

private:
    std::string open_folder();

    std::string folder_;
    int handle_ = -1;  // of the folder: whatever its path leads to later, this is the one
    int64_t most_bytes_;
    std::string trouble_;
    std::mutex trimming_;
    std::atomic<int64_t> bytes_ = -1;  // in the folder, as far as known; -1: not counted yet
    std::atomic<uint64_t> added_ = 0;
};

}  // namespace lemma::codegen
