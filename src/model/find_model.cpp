// SPDX-License-Identifier: Apache-2.0
#include "model/find_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "diag/source.h"
#include "model/files.h"

namespace lemma::model {

const char* format_word(Format format) {
    switch (format) {
        case Format::SkriptND:
            return "sknd";
        case Format::Nnef1:
            return "nnef1";
        case Format::Onnx:
            return "onnx";
    }
    return "";
}

namespace {

namespace fs = std::filesystem;

// Formats of later versions, recognised by their file names.
struct LaterFormat {
    std::string_view ending;
    std::string_view name;
};
constexpr std::array kLaterFormats = {
    LaterFormat{".tar", "a model archive (.tar)"},
    LaterFormat{".tgz", "a model archive (.tgz)"},
    LaterFormat{".tar.gz", "a model archive (.tar.gz)"},
    LaterFormat{".zip", "a model archive (.zip)"},
};

Error unsupported(const std::string& argument, std::string_view format) {
    return {fmt::format("`{}`: {} is not supported in this version", argument, format),
            ErrorKind::Unreadable};
}

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

constexpr const char* kMainFile = "main.sknd";
constexpr const char* kGraphFile = "graph.nnef";  // of NNEF 1.0
constexpr const char* kOnnxFile = "model.onnx";

Format format_of(const fs::path& path) {
    if (path.extension() == ".onnx") return Format::Onnx;
    return path.extension() == ".nnef" ? Format::Nnef1 : Format::SkriptND;
}

// A single file is a model whose other files are in the same folder. That folder may contain
// anything, so its subfolders are searched only if the file is `graph.nnef`.
ModelFile single_file(const fs::path& path, const tensor::SourceLimits& limits) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return {.format = format_of(path),
            .path = path.string(),
            .name = path.stem().string(),
            .kind = FileKind::Any,
            .source = tensor::open_folder(folder.string(),
                                          path.filename() == kGraphFile ? tensor::FolderDepth::Deep
                                                                        : tensor::FolderDepth::Flat,
                                          limits)};
}

Result<ModelFile> find_in_folder(const fs::path& folder,
                                 const std::string& argument,
                                 const tensor::SourceLimits& limits) {
    for (const char* const name : {kMainFile, kGraphFile}) {
        if (!is_there(folder / name)) continue;
        const fs::path path = folder / name;
        return ModelFile{
            .format = name == kGraphFile ? Format::Nnef1 : Format::SkriptND,
            .path = path.string(),
            .name = path.stem().string(),
            .source = tensor::open_folder(folder.string(), tensor::FolderDepth::Deep, limits)};
    }
    if (is_there(folder / kOnnxFile)) {
        ModelFile model = single_file(folder / kOnnxFile, limits);
        model.kind = FileKind::Regular;
        return model;
    }
    return cannot_read(argument, "the folder has no `main.sknd`, `graph.nnef` or `model.onnx`");
}

Result<ModelFile> main_of_archive(const std::string& argument,
                                  std::shared_ptr<const tensor::ModelSource> source) {
    for (const char* const name : {kMainFile, kGraphFile}) {
        if (!source->has(name)) continue;
        return ModelFile{.format = name == kGraphFile ? Format::Nnef1 : Format::SkriptND,
                         .path = source->path_of(name),
                         .name = fs::path(name).stem().string(),
                         .main = name,
                         .source = std::move(source)};
    }
    return cannot_read(argument,
                       fmt::format("the archive has neither `{}` nor `{}`", kMainFile, kGraphFile));
}

Result<ModelFile> find_in_archive(const std::string& argument, const tensor::SourceLimits& limits) {
    LEMMA_TRY(auto source, tensor::open_archive(argument, limits));
    return main_of_archive(argument, std::move(source));
}

}  // namespace

std::optional<Error> unsupported_format(const std::string& path) {
    for (const char* ending : {".sknd", ".nnef", ".onnx"}) {
        if (path.ends_with(ending)) return std::nullopt;
    }
    const auto later = std::ranges::find_if(
        kLaterFormats, [&](const LaterFormat& format) { return path.ends_with(format.ending); });
    return unsupported(path, later != kLaterFormats.end() ? later->name : "a file of this kind");
}

Result<ModelFile> find_model(const std::string& argument, const tensor::SourceLimits& limits) {
    const fs::path path(argument);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return find_in_folder(path, argument, limits);
    // The reader reports a missing file.
    if (!is_there(path)) return single_file(path, limits);
    if (tensor::is_archive_name(argument)) return find_in_archive(argument, limits);
    if (auto unsupported = unsupported_format(argument)) return std::unexpected(*unsupported);
    return single_file(path, limits);
}

Result<ModelFile> find_in_memory(std::vector<tensor::MemoryFile> files,
                                 const tensor::SourceLimits& limits) {
    if (files.empty()) return std::unexpected(Error{"no file in memory is given"});
    const std::string name = files.front().name;
    if (tensor::is_archive_name(name)) {
        if (files.size() > 1) return cannot_read(name, "an archive in memory has no further files");
        LEMMA_TRY(auto source,
                  tensor::open_archive_bytes(std::string(*files.front().bytes), name, limits));
        return main_of_archive(name, std::move(source));
    }
    if (auto unsupported = unsupported_format(name)) return std::unexpected(*unsupported);
    // Names are relative to the folder of the model.
    const size_t folder = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
    for (tensor::MemoryFile& file : files) {
        if (!file.name.starts_with(name.substr(0, folder)))
            return cannot_read(file.name, fmt::format("it is not in the folder of `{}`", name));
        file.name.erase(0, folder);
    }
    const std::string main = files.front().name;
    LEMMA_TRY(auto source, tensor::open_memory(std::move(files), limits));
    return ModelFile{.format = format_of(main),
                     .path = main,
                     .name = fs::path(main).stem().string(),
                     .main = main,
                     .source = std::move(source)};
}

Result<ModelFile> find_model(const std::string& argument,
                             const std::vector<tensor::MemoryFile>& memory,
                             const tensor::SourceLimits& limits) {
    return memory.empty() ? find_model(argument, limits) : find_in_memory(memory, limits);
}

Result<std::string> read_main(const ModelFile& model) {
    if (model.main.empty()) return read_text(model.path, model.kind);
    return model.source->read_all(model.main, diag::kMaxSourceBytes);
}

sknd::ModuleReader module_reader(const ModelFile& model) {
    return [source = model.source](
               const std::string& module) -> Result<std::optional<sknd::ModuleText>> {
        std::string name = module;
        std::ranges::replace(name, '.', '/');
        name += ".sknd";
        if (!source->has(name)) return std::nullopt;
        LEMMA_TRY(std::string text, source->read_all(name, diag::kMaxSourceBytes));
        return sknd::ModuleText{.file_name = source->path_of(name), .text = std::move(text)};
    };
}

}  // namespace lemma::model
