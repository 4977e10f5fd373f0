// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "image/preprocess.h"

namespace lemma::image {

namespace {

struct NamedRecipe {
    std::string_view name;
    std::string_view text;  // spelled out
    std::string_view use;
};

constexpr std::array kNamed = {
    NamedRecipe{"imagenet",
                "resize=256,crop=224,scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225",
                "torchvision's classifiers, and most ONNX models of ImageNet"},
    NamedRecipe{"imagenet-bgr",
                "channels=bgr,resize=256,crop=224,scale=1,mean=103.939:116.779:123.68",
                "Caffe's classifiers: VGG, SqueezeNet, GoogLeNet"},
    NamedRecipe{"mobilenet",
                "resize=256,crop=224,scale=1/127.5,mean=1,layout=nhwc",
                "numbers from -1 to 1, channels last: TensorFlow's MobileNet and Inception"},
    NamedRecipe{"clip",
                "resize=224,filter=bicubic,crop=224,scale=1/255,mean=0.48145466:0.4578275:"
                "0.40821073,std=0.26862954:0.26130258:0.27577711",
                "CLIP"},
    NamedRecipe{"mnist",
                "channels=grey,resize=28x28,scale=1/255",
                "digits, white on black; `mnist,invert=yes` for ink on paper"},
    NamedRecipe{"unit", "scale=1/255", "numbers from 0 to 1 in the size of the file"},
    NamedRecipe{"raw", "scale=1,type=u8,layout=nhwc", "the bytes, channels last"},
};

struct Word {
    std::string_view name;
    std::string_view values;
    std::string_view text;
};

constexpr std::array kWords = {
    Word{"channels", "rgb|bgr|grey", "order of the channels (rgb)"},
    Word{"invert", "yes|no", "255 - pixel (no)"},
    Word{"resize", "N|HEIGHTxWIDTH|no", "N: the shorter side; else both sides (no)"},
    Word{"filter", "bilinear|bicubic|nearest", "as PIL, against aliasing (bilinear)"},
    Word{"crop", "N|HEIGHTxWIDTH|no", "the middle part (no)"},
    Word{"scale", "X|X/Y", "factor of the pixels, which are 0 to 255 (1/255)"},
    Word{"mean", "X|X:Y:Z", "subtracted then, for all channels or each (0)"},
    Word{"std", "X|X:Y:Z", "divides then (1)"},
    Word{"layout", "nchw|nhwc|chw|hwc|hw", "order of the axes; hw: of a grey picture (nchw)"},
    Word{"type", "f32|f16|u8", "type of the elements (f32)"},
};

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{"--preprocess: " + std::move(message)});
}

std::unexpected<Error> not_a_value(const Word& word, std::string_view value) {
    return bad(fmt::format("`{}={}` is not {}={}", word.name, value, word.name, word.values));
}

std::vector<std::string_view> split(std::string_view text, char mark) {
    std::vector<std::string_view> parts;
    while (true) {
        const size_t end = std::min(text.find(mark), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<int64_t> length_of(std::string_view text) {
    constexpr int64_t kMostLength = 1 << 16;
    int64_t length = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, length);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    if (length < 1 || length > kMostLength) return std::nullopt;
    return length;
}

std::optional<Size> size_of(std::string_view text) {
    const auto parts = split(text, 'x');
    if (parts.size() > 2) return std::nullopt;
    const auto height = length_of(parts.front()), width = length_of(parts.back());
    if (!height || !width || *height > kMaxPixels / *width) return std::nullopt;
    return Size{*height, *width};
}

std::optional<float> number_of(std::string_view text) {
    float number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) return std::nullopt;
    return number;
}

// One number, or one for each of three channels.
std::optional<std::vector<float>> numbers_of(std::string_view text) {
    std::vector<float> numbers;
    for (const std::string_view part : split(text, ':')) {
        const auto number = number_of(part);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    if (numbers.size() != 1 && numbers.size() != 3) return std::nullopt;
    return numbers;
}

template <class T>
bool choose(std::string_view value,
            std::initializer_list<std::pair<std::string_view, T>> choices,
            T& result) {
    for (const auto& [name, choice] : choices) {
        if (name != value) continue;
        result = choice;
        return true;
    }
    return false;
}

bool set_resize(std::string_view value, Recipe& recipe) {
    recipe.shorter_side = 0;
    recipe.exact.reset();
    if (value == "no") return true;
    const auto size = size_of(value);
    if (!size) return false;
    if (value.find('x') == std::string_view::npos) {
        recipe.shorter_side = size->height;
    } else {
        recipe.exact = *size;
    }
    return true;
}

bool set_crop(std::string_view value, Recipe& recipe) {
    recipe.crop.reset();
    if (value == "no") return true;
    recipe.crop = size_of(value);
    return recipe.crop.has_value();
}

bool set_scale(std::string_view value, Recipe& recipe) {
    const auto parts = split(value, '/');
    const auto above = number_of(parts.front());
    const auto below = parts.size() == 2 ? number_of(parts.back()) : 1.0F;
    if (parts.size() > 2 || !above || !below || *above == 0 || *below == 0) return false;
    recipe.multiplier = *above;
    recipe.divisor = *below;
    return true;
}

bool set_numbers(std::string_view value, bool divides, std::vector<float>& result) {
    auto numbers = numbers_of(value);
    if (!numbers) return false;
    if (divides && std::ranges::find(*numbers, 0.0F) != numbers->end()) return false;
    result = std::move(*numbers);
    return true;
}

// False if the value is none of the word's values.
bool set_word(std::string_view name, std::string_view value, Recipe& recipe) {
    using tensor::DType;
    if (name == "channels") {
        return choose<Channels>(
            value,
            {{"rgb", Channels::Rgb}, {"bgr", Channels::Bgr}, {"grey", Channels::Grey}},
            recipe.channels);
    }
    if (name == "invert") return choose<bool>(value, {{"yes", true}, {"no", false}}, recipe.invert);
    if (name == "resize") return set_resize(value, recipe);
    if (name == "filter") {
        return choose<Filter>(value,
                              {{"bilinear", Filter::Bilinear},
                               {"bicubic", Filter::Bicubic},
                               {"nearest", Filter::Nearest}},
                              recipe.filter);
    }
    if (name == "crop") return set_crop(value, recipe);
    if (name == "scale") return set_scale(value, recipe);
    if (name == "mean") return set_numbers(value, false, recipe.mean);
    if (name == "std") return set_numbers(value, true, recipe.deviation);
    if (name == "layout") {
        return choose<Layout>(value,
                              {{"nchw", Layout::Nchw},
                               {"nhwc", Layout::Nhwc},
                               {"chw", Layout::Chw},
                               {"hwc", Layout::Hwc},
                               {"hw", Layout::Hw}},
                              recipe.layout);
    }
    return choose<DType>(
        value, {{"f32", DType::F32}, {"f16", DType::F16}, {"u8", DType::U8}}, recipe.dtype);
}

Result<void> apply(std::string_view text, Recipe& recipe) {
    for (const std::string_view part : split(text, ',')) {
        const size_t middle = part.find('=');
        const std::string_view name = part.substr(0, middle);
        const auto* const word = std::ranges::find(kWords, name, &Word::name);
        if (word == kWords.end()) {
            std::vector<std::string_view> names;
            for (const Word& each : kWords) names.push_back(each.name);
            return bad(
                fmt::format("`{}` is no word of it; there are {}", name, fmt::join(names, ", ")));
        }
        const std::string_view value =
            middle == std::string_view::npos ? std::string_view() : part.substr(middle + 1);
        if (!set_word(name, value, recipe)) return not_a_value(*word, value);
    }
    return {};
}

}  // namespace

std::vector<std::string> recipe_names() {
    std::vector<std::string> names;
    for (const NamedRecipe& named : kNamed) names.emplace_back(named.name);
    return names;
}

Result<Recipe> parse_recipe(std::string_view text) {
    Recipe recipe;
    const std::string_view first = text.substr(0, text.find(','));
    if (first.find('=') == std::string_view::npos) {
        const auto* const named = std::ranges::find(kNamed, first, &NamedRecipe::name);
        if (named == kNamed.end()) {
            return bad(fmt::format("there is no recipe `{}`; there are {}, and --preprocess=help",
                                   first,
                                   fmt::join(recipe_names(), ", ")));
        }
        LEMMA_TRY(apply(named->text, recipe));
        text.remove_prefix(std::min(first.size() + 1, text.size()));
    }
    if (!text.empty()) {
        LEMMA_TRY(apply(text, recipe));
    }
    const bool grey = recipe.channels == Channels::Grey;
    if (grey && (recipe.mean.size() > 1 || recipe.deviation.size() > 1))
        return bad("a grey picture has one channel: give one number for mean and std");
    if (!grey && recipe.layout == Layout::Hw)
        return bad("layout=hw has no axis for colours: add channels=grey");
    return recipe;
}

std::string recipe_help() {
    std::string text =
        "--preprocess=RECIPE makes a tensor of a picture (.png, .jpg). A recipe is a name, words,\n"
        "or a name and words that change it: --preprocess=imagenet,resize=232\n\nNames:\n";
    for (const NamedRecipe& named : kNamed)
        text += fmt::format("  {:<14}{}\n{:16}{}\n", named.name, named.use, "", named.text);
    text += "\nWords, in the order of the steps:\n";
    for (const Word& word : kWords)
        text +=
            fmt::format("  {:<34}{}\n", fmt::format("{}={}", word.name, word.values), word.text);
    return text +
           "\nAn element is (pixel * scale - mean) / std, in f32. Resizing, greys and JPEG give "
           "the\n"
           "numbers of Pillow (PIL). Transparency is dropped; the orientation of a camera is not "
           "applied.\n";
}

}  // namespace lemma::image
