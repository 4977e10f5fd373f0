// SPDX-License-Identifier: Apache-2.0
#include "driver/certify/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "session/tensors.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using certify::InputRange;
using certify::Range;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

std::optional<double> number(const std::string& text) {
    if (text.empty()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
    return value;
}

Result<void> check(const std::string& name, const InputRange& range) {
    for (const Range& one : range.ranges) {
        if (!std::isfinite(one.low) || !std::isfinite(one.high) || one.low > one.high) {
            return bad(fmt::format(
                "the range of `{}` from {} to {} is empty or infinite", name, one.low, one.high));
        }
    }
    if (range.error >= 0 && std::isfinite(range.error)) return {};
    return bad(fmt::format(
        "the error of `{}` is {}, expected a finite number from 0 on", name, range.error));
}

// A number, or a list of numbers of any nesting.
bool collect(const nlohmann::json& json, std::vector<double>& out) {
    if (json.is_number()) {
        out.push_back(json.get<double>());
        return true;
    }
    if (!json.is_array()) return false;
    return std::ranges::all_of(json,
                               [&](const nlohmann::json& item) { return collect(item, out); });
}

std::optional<InputRange> range_of(const nlohmann::json& json) {
    InputRange range;
    std::vector<double> low, high;
    if (json.is_array() && json.size() == 2 && json[0].is_number() && json[1].is_number()) {
        low = {json[0].get<double>()};
        high = {json[1].get<double>()};
    } else if (json.is_object() && json.contains("low") && json.contains("high")) {
        if (!collect(json["low"], low) || !collect(json["high"], high)) return std::nullopt;
        if (json.contains("error")) {
            if (!json["error"].is_number()) return std::nullopt;
            range.error = json["error"].get<double>();
        }
    }
    if (low.empty() || low.size() != high.size()) return std::nullopt;
    for (size_t i = 0; i < low.size(); ++i) range.ranges.push_back({low[i], high[i]});
    return range;
}

void widen(InputRange& range, double value) {
    if (range.ranges.empty()) range.ranges = {{value, value}};
    range.ranges[0].low = std::min(range.ranges[0].low, value);
    range.ranges[0].high = std::max(range.ranges[0].high, value);
}

Result<void> add_arrays(const interpret::NamedArrays& arrays, Ranges& ranges) {
    for (const auto& [name, items] : arrays) {
        for (const interpret::Array& array : items) {
            for (const double value : array.reals) {
                if (!std::isfinite(value))
                    return bad(
                        fmt::format("the data of `{}` has a value that is not finite", name));
                widen(ranges[name], value);
            }
            for (const int64_t value : array.integers)
                widen(ranges[name], static_cast<double>(value));
        }
    }
    return {};
}

// A folder with NAME.npy, or with folders 0, 1, … of such files.
Result<void> add_folder(const ir::Program& program, const std::string& folder, Ranges& ranges) {
    const auto& ports = program.graphs[program.main].inputs;
    LEMMA_TRY(const auto arrays, session::read_folder(program, ports, folder));
    LEMMA_TRY(add_arrays(arrays, ranges));
    for (int step = 0;; ++step) {
        const fs::path inner = fs::path(folder) / fmt::format("{}", step);
        std::error_code ignored;
        if (!fs::is_directory(inner, ignored)) return {};
        LEMMA_TRY(const auto items, session::read_folder(program, ports, inner.string()));
        LEMMA_TRY(add_arrays(items, ranges));
    }
}

Result<Ranges> ranges_of_data(const ir::Program& program, const RangeOptions& options) {
    Ranges ranges;
    std::vector<std::string> in_order;  // as for `-i`: without a name, for the inputs in order
    for (const std::string& argument : options.data) {
        std::error_code ignored;
        if (fs::is_directory(argument, ignored)) {
            LEMMA_TRY(add_folder(program, argument, ranges));
        } else if (argument.find('=') == std::string::npos) {
            in_order.push_back(argument);
        } else {
            LEMMA_TRY(const auto arrays, session::read_inputs(program, {argument}));
            LEMMA_TRY(add_arrays(arrays, ranges));
        }
    }
    LEMMA_TRY(const auto arrays, session::read_inputs(program, in_order));
    LEMMA_TRY(add_arrays(arrays, ranges));
    if (!options.data.empty() && ranges.empty())
        return bad("--data: no file of an input was found");
    double margin = 0.1;
    if (!options.margin.empty()) {
        const auto given = number(options.margin);
        if (!given || *given < 0)
            return bad(fmt::format("--margin: `{}` is not a number from 0 on", options.margin));
        margin = *given;
    }
    for (auto& [name, range] : ranges) {
        const double more = margin * (range.ranges[0].high - range.ranges[0].low);
        range.ranges[0].low -= more;
        range.ranges[0].high += more;
        LEMMA_TRY(check(name, range));
    }
    return ranges;
}

}  // namespace

Result<void> add_range(const std::string& argument, Ranges& ranges) {
    const auto wrong = [&] {
        return bad(fmt::format("--range: `{}` is not of the form NAME=LOW:HIGH", argument));
    };
    const size_t equals = argument.rfind('=');
    if (equals == std::string::npos || equals == 0) return wrong();
    const std::string name = argument.substr(0, equals);
    std::string bounds = argument.substr(equals + 1);
    InputRange range;
    if (const size_t tilde = bounds.find('~'); tilde != std::string::npos) {
        const auto error = number(bounds.substr(tilde + 1));
        if (!error) return wrong();
        range.error = *error;
        bounds.resize(tilde);
    }
    const size_t colon = bounds.find(':');
    if (colon == std::string::npos) return wrong();
    const auto low = number(bounds.substr(0, colon)), high = number(bounds.substr(colon + 1));
    if (!low || !high) return wrong();
    range.ranges = {{*low, *high}};
    LEMMA_TRY(check(name, range));
    ranges[name] = std::move(range);
    return {};
}

Result<void> add_range_file(const std::string& path, Ranges& ranges) {
    LEMMA_TRY(const std::string text, tensor::read_file(path));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return bad(fmt::format("`{}` is not a JSON object of ranges by input name", path));
    for (const auto& [name, value] : json.items()) {
        auto range = range_of(value);
        if (!range) {
            return bad(
                fmt::format("`{}`: the range of `{}` is neither [LOW, HIGH] nor an object with "
                            "`low` and `high` of the same length",
                            path,
                            name));
        }
        LEMMA_TRY(check(name, *range));
        ranges[name] = std::move(*range);
    }
    return {};
}

Result<Ranges> read_ranges(const ir::Program& program, const RangeOptions& options) {
    LEMMA_TRY(Ranges ranges, ranges_of_data(program, options));
    if (!options.file.empty()) {
        LEMMA_TRY(add_range_file(options.file, ranges));
    }
    for (const std::string& argument : options.ranges) {
        LEMMA_TRY(add_range(argument, ranges));
    }
    return ranges;
}

}  // namespace lemma::driver
