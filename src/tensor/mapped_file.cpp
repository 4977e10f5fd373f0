#include "tensor/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>

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

// All that are there, by their first byte.
class Mappings {
public:
    void add(std::string_view view) {
        const std::lock_guard lock(mutex_);
        sizes_[view.data()] = view.size();
    }
    void remove(std::string_view view) {
        const std::lock_guard lock(mutex_);
        sizes_.erase(view.data());
    }
    bool has(std::string_view part) {
        const std::lock_guard lock(mutex_);
        auto behind = sizes_.upper_bound(part.data());
        if (behind == sizes_.begin()) return false;
        --behind;
        return part.data() + part.size() <= behind->first + behind->second;
    }

private:
    std::mutex mutex_;
    std::map<const char*, size_t, std::less<>> sizes_;
};
Mappings& mappings() {
    static auto& all = *new Mappings();  // files may be let go when the program ends
    return all;
}

struct Mapping {
    std::string_view view;
    Mapping(const void* at, size_t size) : view(static_cast<const char*>(at), size) {
        mappings().add(view);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        mappings().remove(view);
        ::munmap(const_cast<char*>(view.data()), view.size());
    }
};

std::string system_text() { return std::generic_category().message(errno); }

class Handle {
public:
    // Opening a pipe that nobody writes to would wait for ever.
    explicit Handle(const std::string& path)
        : handle_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (handle_ >= 0) ::close(handle_);
    }
    int get() const { return handle_; }

private:
    int handle_;
};

Result<SharedBytes> read_instead(const std::string& path, int64_t max_bytes) {
    LEMMA_TRY(std::string bytes, read_file(path, max_bytes));
    return share(std::move(bytes));
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
    const Handle file(path);
    struct stat status = {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
        return cannot_read(path, system_text());
    if (S_ISDIR(status.st_mode)) return cannot_read(path, "it is a folder");
    if (!S_ISREG(status.st_mode)) {
        if (kind == FileKind::Regular) return cannot_read(path, "it is no regular file");
        return read_instead(path, max_bytes);
    }
    if (status.st_size > max_bytes)
        return cannot_read(path, fmt::format("it has more than {} bytes", max_bytes));
    if (status.st_size == 0) return share("");
    const auto size = static_cast<size_t>(status.st_size);
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    // Some file systems map nothing.
    if (at == MAP_FAILED) return read_instead(path, max_bytes);
    const auto kept = std::make_shared<const Mapping>(at, size);
    return SharedBytes(kept, &kept->view);
}

void drop_pages(std::string_view bytes) {
    if (!mappings().has(bytes)) return;
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    const uintptr_t begin = (address + page - 1) / page * page;
    const uintptr_t end = (address + bytes.size()) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace lemma::tensor
