// SPDX-License-Identifier: Apache-2.0
#include "driver/labels.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/open_file.h"

namespace lemma::driver {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxBytes = int64_t{64} << 20;
constexpr size_t kMaxClasses = 10'000'000;

// A name, or a pair such as ["n01440764", "tench"].
std::optional<std::string> name_in(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array() && !value.empty() && value.back().is_string())
        return value.back().get<std::string>();
    return std::nullopt;
}

std::optional<size_t> class_in(const std::string& text) {
    size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number >= kMaxClasses) return std::nullopt;
    return number;
}

class JsonLabels {
public:
    explicit JsonLabels(const std::string& path) : path_(path) {}

    Result<std::vector<std::string>> read(const Json& json) {
        if (!json.is_array() && !json.is_object())
            return cannot_read(path_, "labels are a list or an object in JSON");
        size_t place = 0;
        for (const auto& [key, value] : json.items()) {
            if (!add(json.is_array() ? std::to_string(place) : key, value)) {
                return cannot_read(
                    path_,
                    fmt::format("entry {} is no label: expected a name, a pair of an id and a "
                                "name, or a name with its number",
                                place));
            }
            ++place;
        }
        return std::move(labels_);
    }

private:
    bool add(const std::string& key, const Json& value) {
        if (value.is_number_unsigned()) {  // {"tench": 0}
            const auto number = value.get<uint64_t>();
            return number < kMaxClasses && set(static_cast<size_t>(number), key);
        }
        const auto number = class_in(key);
        const auto name = name_in(value);
        return number && name && set(*number, *name);
    }
    bool set(size_t number, const std::string& name) {
        if (labels_.size() <= number) labels_.resize(number + 1);
        if (!labels_[number].empty()) return false;
        labels_[number] = name;
        return true;
    }

    const std::string& path_;
    std::vector<std::string> labels_;
};

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

}  // namespace

Result<std::vector<std::string>> read_labels(const std::string& path) {
    LEMMA_TRY(const std::string text, read_whole(path, FileKind::Any, kMaxBytes));
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return cannot_read(path, "it has no labels");
    const bool json = text[first] == '{' || text[first] == '[' || path.ends_with(".json");
    if (!json) return lines_of(text);
    // A nesting limit: labels are two levels deep.
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= 3; };
    const Json document = Json::parse(text, shallow, false);
    if (document.is_discarded()) return cannot_read(path, "it is no JSON document");
    return JsonLabels(path).read(document);
}

}  // namespace lemma::driver
