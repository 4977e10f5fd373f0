// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>

#include "diag/source.h"
#include "lsp/language/operators.h"
#include "lsp/text/uri.h"
#include "lsp/workspace/library_files.h"
#include "lsp/workspace/overlay.h"
#include "sknd/modules/embedded.h"

namespace lemma::lsp {

namespace {

namespace fs = std::filesystem;

Language language_of_path(std::string_view path) {
    return path.ends_with(".nnef") ? Language::Nnef1 : Language::SkriptND;
}

constexpr std::string_view kNnef1Standard = "stdlib/nnef1/standard.nnef";

}  // namespace

std::string import_folder(const Workspace& workspace, const std::string& path) {
    if (const Document* const open = workspace.find_path(path))
        return model_place(path, open->text(), workspace.roots, workspace.buffers()).folder;
    const auto text = workspace.text_of_file(path);
    return model_place(path, text.value_or(""), workspace.roots, workspace.buffers()).folder;
}

std::shared_ptr<const View> Views::of(const Document& document) {
    std::shared_ptr<const View>& view = views_[document.uri()];
    if (!view || view->text != document.shared_text())
        view = make_view(document.shared_text(), document.language());
    auto result = view;
    if (views_.size() > kMaxViews) views_.clear();
    return result;
}

std::shared_ptr<const View> Views::of_file(const Workspace& workspace, const std::string& path) {
    if (const Document* const open = workspace.find_path(path)) return of(*open);
    auto text = workspace.text_of_file(path);
    if (!text) return nullptr;
    std::shared_ptr<const View>& view = views_[path];
    if (!view || *view->text != *text) {
        view = make_view(std::make_shared<const std::string>(std::move(*text)),
                         language_of_path(path));
    }
    auto result = view;
    if (views_.size() > kMaxViews) views_.clear();
    return result;
}

std::shared_ptr<const View> Views::standard(std::string_view file) {
    const auto found = standard_.find(file);
    if (found != standard_.end()) return found->second;
    const std::string_view text = library_text(file);
    if (text.empty()) return nullptr;
    auto view = make_view(std::make_shared<const std::string>(text), language_of_path(file));
    return standard_.emplace(file, std::move(view)).first->second;
}

std::vector<ViewedFile> Views::module(const Workspace& workspace,
                                      const std::string& path,
                                      const std::string& name) {
    std::vector<ViewedFile> files;
    const bool in_library = !library_name(path).empty();
    if (!path.empty() && !in_library) {
        const std::string folder = import_folder(workspace, path);
        std::string relative = name;
        std::ranges::replace(relative, '.', '/');
        const std::string file = normal_path(folder + "/" + relative + ".sknd");
        if (auto view = of_file(workspace, file))
            return {{workspace.uri_of(file), file, std::move(view)}};
    }
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) {
        if (file.module != name) continue;
        const std::string own = "stdlib/" + std::string(file.path);
        const auto copy = library_file(own);
        files.push_back({copy ? uri_of_path(*copy) : "", own, standard(own)});
    }
    return files;
}

ViewedFile Views::nnef1_standard() {
    const auto copy = library_file(kNnef1Standard);
    return {copy ? uri_of_path(*copy) : "", std::string(kNnef1Standard), standard(kNnef1Standard)};
}

std::vector<std::string> Views::module_names(const Workspace& workspace, const std::string& path) {
    std::set<std::string> names;
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) names.emplace(file.module);
    if (!path.empty()) {
        const std::string folder = import_folder(workspace, path);
        Workspace only;  // the folder of the model alone
        for (const std::string& file : only.files(".sknd", folder)) {
            if (file == path) continue;
            std::string name =
                fs::path(file).lexically_relative(folder).replace_extension().string();
            std::ranges::replace(name, '/', '.');
            if (name != "main") names.insert(std::move(name));
        }
    }
    return {names.begin(), names.end()};
}

std::optional<Views::Found> Views::find(const Workspace& workspace,
                                        const Document& in,
                                        const External& external) {
    if (in.language() == Language::Nnef1) {
        ViewedFile file = nnef1_standard();
        auto op = describe_operator(*file.view, external.op, "");
        if (!op) return std::nullopt;
        return Found{std::move(file), std::move(*op)};
    }
    for (ViewedFile& file : module(workspace, in.path(), external.module)) {
        if (!file.view) continue;
        auto op = describe_operator(*file.view, external.op, external.module);
        if (op) return Found{std::move(file), std::move(*op)};
    }
    return std::nullopt;
}

}  // namespace lemma::lsp
