// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <mutex>

namespace lemma::tensor {

namespace {

struct Text {
    std::string bytes;
    std::string_view view = bytes;
    explicit Text(std::string text) : bytes(std::move(text)) {}
};

struct Part {
    SharedBytes whole;
    std::string_view view;
};

size_t page_bytes() {
    static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

// Anonymous memory, freed unless another owner takes it.
class Scratch {
public:
    explicit Scratch(size_t bytes)
        : bytes_(bytes),
          at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (valid()) ::munmap(at_, bytes_);
    }
    bool valid() const { return at_ != MAP_FAILED; }
    char* data() const { return static_cast<char*>(at_); }
    // Moves in one step: a reader of the address sees the same bytes before and after.
    bool move_to(char* place) {
        if (::mprotect(at_, bytes_, PROT_READ) != 0) return false;
        if (::mremap(at_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
            return false;
        at_ = MAP_FAILED;
        return true;
    }

private:
    size_t bytes_;
    void* at_;
};

// A mapped file. A page belongs to the file, or is held: private memory with the same bytes.
class Mapping {
public:
    Mapping(void* at, size_t size, FileHandle file, std::string path)
        : view(static_cast<const char*>(at), size),
          file_(std::move(file)),
          path_(std::move(path)) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(begin(), view.size()); }

    Result<void> hold(size_t first, size_t last);
    void drop(size_t first, size_t last);

    const std::string_view view;

private:
    char* begin() const { return const_cast<char*>(view.data()); }
    Result<void> read(size_t first, size_t last);
    void mark(size_t first, size_t last);
    void unmark(size_t first, size_t last);

    FileHandle file_;
    std::string path_;
    std::mutex mutex_;
    std::map<size_t, size_t> held_;  // ranges of held pages, by begin and end
};

// Replaces a range of pages that are not held by private memory with the file's bytes.
Result<void> Mapping::read(size_t first, size_t last) {
    Scratch memory(last - first);
    if (!memory.valid()) return cannot_read(path_, "there is no memory for it");
    const size_t wanted = std::min(last, view.size()) - first;
    constexpr size_t kAtOnce = size_t{1} << 30;
    for (size_t done = 0; done < wanted;) {
        const ssize_t got = ::pread(file_.get(),
                                    memory.data() + done,
                                    std::min(wanted - done, kAtOnce),
                                    static_cast<off_t>(first + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path_, file_trouble(errno));
        if (got == 0) return cannot_read(path_, "it became shorter while it was used");
        done += static_cast<size_t>(got);
    }
    if (memory.move_to(begin() + first)) return {};
    return cannot_read(path_, file_trouble(errno));
}

void Mapping::mark(size_t first, size_t last) {
    auto next = held_.upper_bound(first);
    if (next != held_.begin() && std::prev(next)->second >= first) {
        --next;
        first = next->first;
    }
    while (next != held_.end() && next->first <= last) {
        last = std::max(last, next->second);
        next = held_.erase(next);
    }
    held_[first] = last;
}

void Mapping::unmark(size_t first, size_t last) {
    auto next = held_.upper_bound(first);
    if (next != held_.begin()) --next;
    while (next != held_.end() && next->first < last) {
        const auto [begin, end] = *next;
        if (end <= first) {
            ++next;
            continue;
        }
        next = held_.erase(next);
        if (begin < first) held_[begin] = first;
        if (end > last) held_[last] = end;
    }
}

Result<void> Mapping::hold(size_t first, size_t last) {
    const size_t page = page_bytes();
    first = first / page * page;
    last = (last + page - 1) / page * page;
    const std::lock_guard lock(mutex_);
    for (size_t at = first; at < last;) {
        auto next = held_.upper_bound(at);
        if (next != held_.begin() && std::prev(next)->second > at) {
            at = std::prev(next)->second;
            continue;
        }
        const size_t end = next == held_.end() ? last : std::min(last, next->first);
        LEMMA_TRY(read(at, end));
        mark(at, end);
        at = end;
    }
    return {};
}

void Mapping::drop(size_t first, size_t last) {
    const size_t page = page_bytes();
    first = (first + page - 1) / page * page;
    // The last page has no other bytes, so it is dropped whole.
    last = last == view.size() ? (last + page - 1) / page * page : last / page * page;
    if (first >= last) return;
    const std::lock_guard lock(mutex_);
    void* const at = ::mmap(begin() + first,
                            last - first,
                            PROT_READ,
                            MAP_PRIVATE | MAP_FIXED,
                            file_.get(),
                            static_cast<off_t>(first));
    if (at != MAP_FAILED) unmark(first, last);
}

// All mappings, by their first byte.
class Mappings {
public:
    void add(const std::shared_ptr<Mapping>& mapping) {
        const std::lock_guard lock(mutex_);
        all_[mapping->view.data()] = mapping;
    }
    // Null if the bytes belong to no mapped file.
    std::shared_ptr<Mapping> find(std::string_view part) {
        const std::lock_guard lock(mutex_);
        auto behind = all_.upper_bound(part.data());
        if (behind == all_.begin()) return nullptr;
        --behind;
        auto mapping = behind->second.lock();
        if (!mapping) {
            all_.erase(behind);
            return nullptr;
        }
        const char* const end = mapping->view.data() + mapping->view.size();
        return part.data() + part.size() <= end ? mapping : nullptr;
    }
    void forget(const char* first) {
        const std::lock_guard lock(mutex_);
        all_.erase(first);
    }

private:
    std::mutex mutex_;
    std::map<const char*, std::weak_ptr<Mapping>, std::less<>> all_;
};
Mappings& mappings() {
    static auto& all = *new Mappings();  // never destroyed: files may be released at exit
    return all;
}

}  // namespace

SharedBytes share(std::string bytes) {
    const auto kept = std::make_shared<const Text>(std::move(bytes));
    return {kept, &kept->view};
}

SharedBytes share_part(const SharedBytes& bytes, size_t begin, size_t length) {
    const auto kept = std::make_shared<const Part>(Part{bytes, bytes->substr(begin, length)});
    return {kept, &kept->view};
}

Result<SharedBytes> map_file(const std::string& path, FileKind kind, int64_t max_bytes) {
    LEMMA_TRY(OpenedFile file, open_file(path, kind, max_bytes));
    if (!file.regular) {
        LEMMA_TRY(std::string bytes, read_stream(file.handle, path, max_bytes));
        return share(std::move(bytes));
    }
    if (file.size == 0) return share("");
    const auto size = static_cast<size_t>(file.size);
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.handle.get(), 0);
    if (at == MAP_FAILED) {  // some file systems support no mapping
        LEMMA_TRY(std::string bytes, read_file(path, kind, max_bytes));
        return share(std::move(bytes));
    }
    // The list forgets an address before the system can reuse it for another file.
    const std::shared_ptr<Mapping> kept(new Mapping(at, size, std::move(file.handle), path),
                                        [](Mapping* mapping) {
                                            mappings().forget(mapping->view.data());
                                            delete mapping;
                                        });
    mappings().add(kept);
    return SharedBytes(kept, &kept->view);
}

Result<void> hold_bytes(std::string_view bytes) {
    if (bytes.empty()) return {};
    const auto mapping = mappings().find(bytes);
    if (!mapping) return {};
    const auto first = static_cast<size_t>(bytes.data() - mapping->view.data());
    return mapping->hold(first, first + bytes.size());
}

void drop_pages(std::string_view bytes) {
    if (bytes.empty()) return;
    const auto mapping = mappings().find(bytes);
    if (!mapping) return;
    const auto first = static_cast<size_t>(bytes.data() - mapping->view.data());
    mapping->drop(first, first + bytes.size());
}

}  // namespace lemma::tensor
