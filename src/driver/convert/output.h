// driver/convert/output.h — where the files of a converted model go: a folder, or an archive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/archive_write.h"
#include "tensor/tensor.h"

namespace lemma::driver {

class Output {
public:
    // An archive by the ending of its name, else a folder, which is made where it is missing.
    static Result<Output> create(const std::string& path);

    // The name may lead into folders below.
    Result<void> write(const std::string& name, std::string_view bytes);
    Result<void> write_tensor(const std::string& name, const tensor::Tensor& tensor);
    Result<void> finish();

private:
    explicit Output(std::string path) : path_(std::move(path)) {}

    std::string path_;
    std::optional<tensor::ArchiveWriter> archive_;
};

}  // namespace lemma::driver
