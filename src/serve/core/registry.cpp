// SPDX-License-Identifier: Apache-2.0
#include "serve/core/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/open_file.h"

namespace lemma::serve {

namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
    return !text.empty() && text.size() <= 18 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Names are parts of paths in the protocol.
bool is_name(const std::string& text) {
    return !text.empty() && text.size() <= 200 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    });
}

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// The folders named by numbers.
std::vector<fs::path> version_folders(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code ignored;
        if (is_number(entry->path().filename().string()) && entry->is_directory(ignored)) {
            found.push_back(entry->path());
        }
    }
    std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
        return version_before(a.filename().string(), b.filename().string());
    });
    return found;
}

// The model in a folder: the folder itself, if it has `main.sknd` or `graph.nnef`; else its only
// model file.
Result<std::string> model_in(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored) || is_there(path / "main.sknd") ||
        is_there(path / "graph.nnef")) {
        return path.string();
    }
    if (is_there(path / "model.onnx")) return (path / "model.onnx").string();
    std::vector<std::string> files;
    std::error_code failed;
    for (fs::directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::string ending = entry->path().extension().string();
        const bool model = ending == ".onnx" || ending == ".sknd" || ending == ".nnef" ||
                           ending == ".tgz" || ending == ".zip" || ending == ".tar";
        if (model) files.push_back(entry->path().string());
    }
    if (files.size() == 1) return files.front();
    if (files.empty()) return path.string();  // loading says what is missing
    std::ranges::sort(files);
    return bad(fmt::format("`{}` has several models: `{}`; name one of them",
                           path.string(),
                           fmt::join(files, "`, `")));
}

}  // namespace

bool version_before(const std::string& a, const std::string& b) {
    const bool number_a = is_number(a);
    const bool number_b = is_number(b);
    if (number_a != number_b) return number_a;
    if (number_a && std::stoll(a) != std::stoll(b)) return std::stoll(a) < std::stoll(b);
    return a < b;
}

Result<std::vector<ModelPlace>> find_places(const std::string& argument) {
    const size_t equal = argument.find('=');
    std::string name = equal == std::string::npos ? "" : argument.substr(0, equal);
    const fs::path path = equal == std::string::npos ? argument : argument.substr(equal + 1);
    std::string version;
    if (const size_t colon = name.find(':'); colon != std::string::npos) {
        version = name.substr(colon + 1);
        name.resize(colon);
        if (!is_name(version)) {
            return bad(fmt::format(
                "`{}` in `{}` is not a version; use letters, digits and `._-`", version, argument));
        }
    }
    if (equal == std::string::npos) {
        const fs::path plain = path.has_filename() ? path : path.parent_path();
        name = plain.stem().string();
        if (const size_t dot = name.find('.'); dot != std::string::npos && dot > 0)
            name.resize(dot);
    }
    if (!is_name(name)) {
        return bad(
            fmt::format("`{}` in `{}` is not a name for a model; use letters, digits and "
                        "`._-`, as in `NAME=PATH`",
                        name,
                        argument));
    }
    if (!is_there(path)) return cannot_read(path.string(), file_trouble(ENOENT));
    std::vector<ModelPlace> places;
    std::error_code ignored;
    const bool folder = fs::is_directory(path, ignored);
    if (folder && version.empty() && !is_there(path / "main.sknd") &&
        !is_there(path / "graph.nnef")) {
        for (const fs::path& one : version_folders(path)) {
            LEMMA_TRY(std::string file, model_in(one));
            places.push_back({name, one.filename().string(), std::move(file)});
        }
    }
    if (places.empty()) {
        LEMMA_TRY(std::string file, model_in(path));
        places.push_back({name, version.empty() ? "1" : version, std::move(file)});
    }
    return places;
}

Result<std::unique_ptr<Registry>> Registry::create(std::vector<ModelPlace> places) {
    auto registry = std::make_unique<Registry>();
    std::ranges::stable_sort(places, [](const ModelPlace& a, const ModelPlace& b) {
        return a.name != b.name ? a.name < b.name : version_before(a.version, b.version);
    });
    for (ModelPlace& place : places) {
        const auto& last = registry->versions_;
        if (!last.empty() && last.back()->place.name == place.name &&
            last.back()->place.version == place.version) {
            return bad(
                fmt::format("there are two models `{}` of version {}: `{}` and `{}`; name "
                            "one as `NAME=PATH` or `NAME:VERSION=PATH`",
                            place.name,
                            place.version,
                            last.back()->place.path,
                            place.path));
        }
        registry->versions_.push_back(std::make_unique<Version>());
        registry->versions_.back()->place = std::move(place);
    }
    return registry;
}

Version* Registry::find(const std::string& name, const std::string& version) const {
    Version* found = nullptr;
    for (const auto& one : versions_) {
        const ModelPlace& place = one->place;
        if (place.name == name && (version.empty() || place.version == version)) found = one.get();
    }
    return found;
}

std::vector<std::string> Registry::versions(const std::string& name) const {
    std::vector<std::string> result;
    for (const auto& one : versions_) {
        if (one->place.name == name) result.push_back(one->place.version);
    }
    return result;
}

bool Registry::ready() const {
    return std::ranges::all_of(versions_, [](const auto& one) { return one->ready.load(); });
}

}  // namespace lemma::serve
