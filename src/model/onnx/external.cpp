// SPDX-License-Identifier: Apache-2.0
#include "model/onnx/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "diag/utf8.h"

namespace lemma::model {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// A path that stays inside the folder, links included.
Result<std::string> inner_path(const fs::path& folder, const std::string& location) {
    const fs::path inside(location);
    const auto outside = [&] {
        return bad(fmt::format("its data is in `{}`, which is not in the folder of the model",
                               diag::printable(location)));
    };
    if (location.empty()) return bad("its data is in another file, which it does not name");
    if (location.find('\0') != std::string::npos) return outside();
    if (inside.is_absolute() || inside.has_root_name()) return outside();
    for (const fs::path& part : inside) {
        if (part == "..") return outside();
    }
    std::error_code failed;
    const fs::path root = fs::weakly_canonical(folder, failed);
    const fs::path real = fs::weakly_canonical(folder / inside, failed);
    const auto [root_end, rest] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
    if (failed || root_end != root.end()) return outside();
    return (folder / inside).string();
}

// The part of the file that the tensor names; `path` is for messages.
Result<tensor::SharedBytes> part_of(const tensor::SharedBytes& file,
                                    const tensor::ExternalData& place,
                                    const std::string& path) {
    const auto size = static_cast<int64_t>(file->size());
    if (place.offset > size) {
        return bad(fmt::format(
            "its data begins at byte {} of `{}`, which has {}", place.offset, path, size));
    }
    const int64_t rest = size - place.offset;
    const int64_t length = place.length.value_or(rest);
    if (length > rest) {
        return bad(fmt::format("its data are {} bytes from byte {} of `{}`, which has {}",
                               length,
                               place.offset,
                               path,
                               size));
    }
    return tensor::share_part(file, static_cast<size_t>(place.offset), static_cast<size_t>(length));
}

class ExternalFiles {
public:
    explicit ExternalFiles(fs::path folder) : folder_(std::move(folder)) {}

    Result<tensor::SharedBytes> get(const tensor::ExternalData& place) {
        LEMMA_TRY(const tensor::SharedBytes file, open(place.location));
        return part_of(file, place, (folder_ / place.location).string());
    }

private:
    Result<tensor::SharedBytes> open(const std::string& location) {
        const auto known = files_.find(location);
        if (known != files_.end()) return known->second;
        LEMMA_TRY(const std::string path, inner_path(folder_, location));
        LEMMA_TRY(tensor::SharedBytes file, tensor::map_file(path, tensor::FileKind::Regular));
        return files_[location] = std::move(file);
    }

    fs::path folder_;
    std::map<std::string, tensor::SharedBytes> files_;
};

}  // namespace

tensor::ReadExternal external_reader(const std::string& model_path) {
    const fs::path parent = fs::path(model_path).parent_path();
    const auto files = std::make_shared<ExternalFiles>(parent.empty() ? fs::path(".") : parent);
    return [files](const tensor::ExternalData& place) { return files->get(place); };
}

tensor::ReadExternal external_reader(std::shared_ptr<const tensor::ModelSource> source) {
    return [source = std::move(source)](
               const tensor::ExternalData& place) -> Result<tensor::SharedBytes> {
        if (place.location.empty())
            return bad("its data is in another file, which it does not name");
        const std::string name = fs::path(place.location).lexically_normal().generic_string();
        if (!source->has(name)) {
            return bad(fmt::format("its data is in `{}`, which is not among the given files",
                                   diag::printable(place.location)));
        }
        LEMMA_TRY(const tensor::SharedBytes file, source->share_all(name));
        return part_of(file, place, place.location);
    };
}

}  // namespace lemma::model
