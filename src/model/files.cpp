// SPDX-License-Identifier: Apache-2.0
#include "model/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "diag/utf8.h"

namespace lemma::model {

namespace {

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

}  // namespace

std::string safe_text(std::string_view text) {
    std::string safe;
    while (true) {
        const size_t end = text.find('\n');
        safe += diag::printable(text.substr(0, end));
        if (end == std::string_view::npos) return safe;
        safe += '\n';
        text.remove_prefix(end + 1);
    }
}

std::string_view error_id(const Error& error) {
    return error.kind == ErrorKind::Unreadable ? diag::info(DiagKind::UnreadableFile).id : "";
}

std::string error_line(const Error& error) {
    const std::string_view id = error_id(error);
    const std::string mark = id.empty() ? "" : fmt::format(" [{}]", id);
    return fmt::format("lemma: {}{}\n", safe_text(error.message), mark);
}

Result<std::string> read_text(const std::string& path, FileKind kind) {
    return read_whole(path, kind, diag::kMaxSourceBytes);
}

Result<std::string> read_all(std::istream& input) {
    std::string text;
    char buffer[1 << 16];
    while (input.read(buffer, sizeof buffer), input.gcount() > 0) {
        text.append(buffer, static_cast<size_t>(input.gcount()));
        if (text.size() > diag::kMaxSourceBytes) {
            return std::unexpected(Error{fmt::format("cannot read the standard input: more than {} "
                                                     "bytes",
                                                     diag::kMaxSourceBytes),
                                         ErrorKind::Unreadable});
        }
    }
    return text;
}

Result<void> replace_file(const std::string& path, const std::string& text) {
    std::error_code trouble;
    const std::string target = std::filesystem::canonical(path, trouble).string();
    struct stat old{};
    if (trouble || ::stat(target.c_str(), &old) != 0)
        return cannot_write(path, file_trouble(errno));

    std::string temporary = target + ".XXXXXX";
    const int file = ::mkstemp(temporary.data());
    if (file < 0) return cannot_write(path, file_trouble(errno));
    const bool written = write_all(file, text) && ::fchmod(file, old.st_mode & 07777) == 0;
    int error = written ? 0 : errno;
    if (::close(file) != 0 && error == 0) error = errno;
    if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return {};
    ::unlink(temporary.c_str());
    return cannot_write(path, file_trouble(error));
}

}  // namespace lemma::model
