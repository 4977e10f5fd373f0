// SPDX-License-Identifier: Apache-2.0
#include "driver/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/open_file.h"
#include "image/preprocess.h"
#include "tensor/archive/npz_file.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

using Tensors = std::vector<tensor::NamedTensor>;

constexpr const char* kShownName = "<stdin>";

class Reader {
public:
    Reader(std::istream& input, std::optional<image::Recipe> recipe)
        : input_(input), recipe_(std::move(recipe)) {}

    Result<Tensors> read(const std::string& path) {
        if (const auto kept = kept_.find(path); kept != kept_.end()) return kept->second;
        LEMMA_TRY(Tensors tensors, read_now(path));
        std::error_code ignored;
        if (!fs::is_regular_file(path, ignored) || image::is_image_name(path))
            kept_[path] = tensors;
        return tensors;
    }

private:
    Result<Tensors> read_now(const std::string& path) {
        const bool standard = path == kStandardInput;
        const std::string shown = standard ? kShownName : path;
        LEMMA_TRY(std::string bytes,
                  standard ? read_standard_input(input_) : tensor::read_file(path, FileKind::Any));
        if (image::is_image(bytes) || image::is_image_name(path)) return picture(bytes, shown);
        return tensor::decode_tensors(std::move(bytes), shown);
    }
    Result<Tensors> picture(const std::string& bytes, const std::string& shown) const {
        if (!recipe_) {
            return cannot_read(shown,
                               "it is a picture: say how to make a tensor of it, for example with "
                               "--preprocess=imagenet; --preprocess=help lists the ways");
        }
        const auto picture = image::decode(bytes);
        if (!picture) return cannot_read(shown, picture.error().message);
        auto tensor = image::preprocess(*picture, *recipe_);
        if (!tensor) return cannot_read(shown, tensor.error().message);
        Tensors one;
        one.push_back({.name = "", .tensor = std::move(*tensor)});
        return one;
    }

    std::istream& input_;
    std::optional<image::Recipe> recipe_;
    std::map<std::string, Tensors> kept_;
};

}  // namespace

void declare_preprocess(Arguments& arguments, std::string& recipe) {
    arguments.text("--preprocess",
                   recipe,
                   "RECIPE",
                   "how pictures become tensors: imagenet, or resize=256,crop=224,…; help: the "
                   "recipes and their words");
    std::vector<std::string> names = image::recipe_names();
    names.emplace_back("help");
    arguments.suggest(names);
    arguments.topic("--preprocess", "help", image::recipe_help);
}

Result<model::InputReader> input_reader(std::istream& input, const std::string& recipe) {
    std::optional<image::Recipe> parsed;
    if (!recipe.empty()) {
        LEMMA_TRY(parsed, image::parse_recipe(recipe));
    }
    return [reader = std::make_shared<Reader>(input, std::move(parsed))](const std::string& path) {
        return reader->read(path);
    };
}

Result<void> check_standard_input(const std::vector<std::string>& arguments) {
    const auto named = std::ranges::count_if(arguments, [](const std::string& argument) {
        return argument == kStandardInput || argument.ends_with("=-");
    });
    if (named <= 1) return {};
    return std::unexpected(
        Error{"standard input is named twice; several inputs may come as one .npz file"});
}

Result<std::string> read_standard_input(std::istream& input) {
    std::string bytes;
    std::array<char, 1 << 16> buffer;
    while (input.read(buffer.data(), buffer.size()), input.gcount() > 0) {
        bytes.append(buffer.data(), static_cast<size_t>(input.gcount()));
        if (std::ssize(bytes) > kMaxStreamBytes) {
            return cannot_read(kShownName,
                               fmt::format("it has more than {} bytes", kMaxStreamBytes));
        }
    }
    return bytes;
}

}  // namespace lemma::driver
