#include "driver/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

// Formats that are known by their file name and come with later versions.
struct LaterFormat {
    std::string_view ending;
    std::string_view name;
};
constexpr std::array kLaterFormats = {
    LaterFormat{".nnef", "NNEF 1.0"},
    LaterFormat{".onnx", "ONNX"},
    LaterFormat{".tar", "a model archive (.tar)"},
    LaterFormat{".tgz", "a model archive (.tgz)"},
    LaterFormat{".tar.gz", "a model archive (.tar.gz)"},
    LaterFormat{".zip", "a model archive (.zip)"},
};

Error unsupported(const std::string& argument, std::string_view format) {
    return {fmt::format("`{}`: {} is not supported in this version", argument, format)};
}

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

ModelFile skriptnd(const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return {.path = path.string(), .folder = folder.string(), .name = path.stem().string()};
}

Result<ModelFile> find_in_folder(const fs::path& folder, const std::string& argument) {
    if (is_there(folder / "main.sknd")) return skriptnd(folder / "main.sknd");
    if (is_there(folder / "graph.nnef")) return std::unexpected(unsupported(argument, "NNEF 1.0"));
    return std::unexpected(
        Error{fmt::format("cannot read `{}`: the folder has no `main.sknd`", argument)});
}

}  // namespace

std::optional<Error> unsupported_format(const std::string& path) {
    if (path.ends_with(".sknd")) return std::nullopt;
    const auto later = std::ranges::find_if(
        kLaterFormats, [&](const LaterFormat& format) { return path.ends_with(format.ending); });
    return unsupported(path, later != kLaterFormats.end() ? later->name : "a file of this kind");
}

Result<ModelFile> find_model(const std::string& argument) {
    const fs::path path(argument);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return find_in_folder(path, argument);
    // A file that does not exist is reported by whoever reads it.
    if (!is_there(path)) return skriptnd(path);
    if (auto unsupported = unsupported_format(argument)) return std::unexpected(*unsupported);
    return skriptnd(path);
}

}  // namespace lemma::driver
