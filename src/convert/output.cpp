// SPDX-License-Identifier: Apache-2.0
#include "convert/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "convert/convert.h"
#include "tensor/archive/archive.h"
#include "tensor/files/file_io.h"
#include "tensor/files/nnef_data.h"

namespace lemma::convert {

namespace fs = std::filesystem;

namespace {

// A new folder for this program only, on the file system of the target: inside of it, beside it, or
// above as far as folders exist.
Result<std::string> make_staging(const fs::path& target) {
    std::error_code failed;
    fs::path above = fs::absolute(target, failed).lexically_normal();
    if (!above.has_filename()) above = above.parent_path();  // `folder/`
    while (above.has_relative_path() && !fs::is_directory(above, failed))
        above = above.parent_path();
    std::string name = (above / ".lemma-XXXXXX").string();
    if (!mkdtemp(name.data())) return cannot_write(target.string(), file_trouble(errno));
    return name;
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

}  // namespace

OutputKind folder_or_archive(const std::string& path) {
    return tensor::is_archive_name(path) ? OutputKind::Archive : OutputKind::Folder;
}

Result<void> check_target(const std::string& path, OutputKind kind, bool overwrite) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (status.type() == fs::file_type::not_found) return {};
    if (kind == OutputKind::Folder) {
        if (!fs::is_directory(status)) return cannot_write(path, "it is no folder");
        if (overwrite || fs::is_empty(path, failed)) return {};
        return cannot_write(path, "the folder is not empty (--force writes into it)");
    }
    if (fs::is_directory(status)) return cannot_write(path, "it is a folder");
    if (!fs::is_regular_file(status)) return cannot_write(path, "it is no regular file");
    if (overwrite) return {};
    return cannot_write(path, "the file exists (--force overwrites it)");
}

Result<Output> Output::draft() {
    std::error_code failed;
    const fs::path folder = fs::temp_directory_path(failed) / "draft";
    Output output(folder.string(), {});
    LEMMA_TRY(output.staging_, make_staging(folder));
    output.model_ = output.staging_;
    return output;
}

Result<Output> Output::create(const std::string& path, Options options) {
    LEMMA_TRY(check_target(path, options.kind, options.overwrite));
    Output output(path, options);
    LEMMA_TRY(output.staging_, make_staging(path));
    output.model_ = output.staging_;
    if (options.kind != OutputKind::Folder) output.model_ = output.path_of(file_name(path));
    if (options.kind == OutputKind::Archive) {
        LEMMA_TRY(output.archive_, tensor::ArchiveWriter::create(output.model_));
    }
    return output;
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)),
      options_(other.options_),
      staging_(std::exchange(other.staging_, {})),
      model_(std::move(other.model_)),
      archive_(std::exchange(other.archive_, std::nullopt)) {}

Output::~Output() {
    archive_.reset();
    std::error_code ignored;
    if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

std::string Output::path_of(const std::string& name) const {
    return (fs::path(staging_) / name).string();
}

Result<void> Output::write(const std::string& name, std::string_view bytes) {
    if (archive_) return archive_->add(name, bytes);
    const std::string file = path_of(name);
    LEMMA_TRY(tensor::make_folder(fs::path(file).parent_path().string()));
    return tensor::write_file(file, bytes);
}

Result<void> Output::write_tensor(const std::string& name, const tensor::Tensor& tensor) {
    LEMMA_TRY(const std::string bytes, tensor::encode_nnef(tensor));
    return write(name, bytes);
}

Result<void> Output::finish() {
    if (!archive_) return {};
    auto done = archive_->finish();
    archive_.reset();
    return done;
}

// Checks everything before the first move; if a move fails, the earlier ones are undone.
Result<void> Output::commit() {
    std::error_code failed;
    const fs::path target = fs::absolute(path_, failed);
    const fs::path base = options_.kind == OutputKind::Folder ? target : target.parent_path();
    std::vector<std::pair<fs::path, fs::path>> moves;
    for (const auto& entry : fs::recursive_directory_iterator(staging_, failed)) {
        if (!entry.is_regular_file(failed)) continue;
        fs::path to = base / fs::relative(entry.path(), staging_, failed);
        // A symbolic link stays; its target is replaced.
        if (fs::is_symlink(to, failed) && fs::exists(to, failed)) to = fs::canonical(to, failed);
        LEMMA_TRY(check_target(to.string(), OutputKind::File, options_.overwrite));
        moves.emplace_back(entry.path(), std::move(to));
    }
    for (size_t i = 0; i < moves.size(); ++i) {
        const auto& [from, to] = moves[i];
        auto done = tensor::make_folder(to.parent_path().string());
        if (done) {
            fs::rename(from, to, failed);
            if (failed) done = cannot_write(to.string(), file_trouble(failed.value()));
        }
        if (done) continue;
        for (size_t k = 0; k < i; ++k) fs::remove(moves[k].second, failed);
        return done;
    }
    return {};
}

}  // namespace lemma::convert
