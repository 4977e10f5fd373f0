#include "driver/convert/output.h"

#include <filesystem>

#include "driver/convert/convert.h"
#include "tensor/archive.h"
#include "tensor/file_io.h"
#include "tensor/nnef_data.h"

namespace lemma::driver {

Result<Output> Output::create(const std::string& path) {
    Output output(path);
    if (tensor::is_archive_name(path)) {
        LEMMA_TRY(output.archive_, tensor::ArchiveWriter::create(path));
    } else if (auto done = make_folder(path); !done) {
        return std::unexpected(done.error());
    }
    return output;
}

Result<void> Output::write(const std::string& name, std::string_view bytes) {
    if (archive_) return archive_->add(name, bytes);
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    if (auto done = make_folder(file.parent_path().string()); !done) return done;
    return tensor::write_file(file.string(), bytes);
}

Result<void> Output::write_tensor(const std::string& name, const tensor::Tensor& tensor) {
    LEMMA_TRY(const std::string bytes, tensor::encode_nnef(tensor));
    return write(name, bytes);
}

Result<void> Output::finish() {
    if (archive_) return archive_->finish();
    return {};
}

}  // namespace lemma::driver
