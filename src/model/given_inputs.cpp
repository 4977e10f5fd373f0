// SPDX-License-Identifier: Apache-2.0
#include "model/given_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "model/input_names.h"
#include "tensor/archive/npz_file.h"

namespace lemma::model {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// NumPy's name for an array without one: `arr_3` is 3.
std::optional<size_t> position_of(std::string_view name) {
    constexpr std::string_view kPrefix = "arr_";
    size_t position = 0;
    if (!name.starts_with(kPrefix)) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    const auto read = std::from_chars(name.data(), name.data() + name.size(), position);
    if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
    return position;
}

class Given {
public:
    Given(const std::vector<std::string>& names, const GivenFiles& files, GivenWhen when)
        : names_(names), files_(files), early_(when == GivenWhen::BeforeTheRun) {}

    Result<void> add(const std::string& argument);
    std::vector<GivenInput> take() { return std::move(inputs_); }

private:
    bool knows(const std::string& name) const {
        return std::ranges::find(names_, name) != names_.end();
    }
    bool has(const std::string& name) const {
        return std::ranges::find(inputs_, name, &GivenInput::name) != inputs_.end();
    }
    Result<std::vector<tensor::NamedTensor>> read(const std::string& path) const {
        if (files_.read) return files_.read(path);
        return tensor::read_tensors(path, FileKind::Any);
    }
    // A pipe can be read only once, by the run.
    bool left_to_the_run(const std::string& path) const {
        std::error_code ignored;
        return early_ && !files_.read && fs::exists(path, ignored) &&
               !fs::is_regular_file(path, ignored);
    }
    Result<void> set(const std::string& name, const std::string& path, tensor::Tensor tensor);
    Result<void> set_next(const std::string& path, tensor::Tensor tensor);
    Result<void> add_for(const std::string& name, const std::string& path);
    Result<void> add_all(const std::string& path, std::vector<tensor::NamedTensor> arrays);

    const std::vector<std::string>& names_;
    const GivenFiles& files_;
    bool early_;
    bool order_left_ = false;
    std::vector<GivenInput> inputs_;
};

Result<void> Given::set(const std::string& name, const std::string& path, tensor::Tensor tensor) {
    if (has(name)) return bad(fmt::format("the input `{}` is given twice", name));
    inputs_.push_back({.name = name, .path = path, .tensor = std::move(tensor)});
    return {};
}

// The next input without a value.
Result<void> Given::set_next(const std::string& path, tensor::Tensor tensor) {
    const auto next = std::ranges::find_if(names_, [&](const auto& name) { return !has(name); });
    if (next != names_.end()) return set(*next, path, std::move(tensor));
    if (early_) return {};
    return bad(fmt::format("`{}` is one input too many", path));
}

// `-i NAME=FILE`: the only array of the file, or the one of this name.
Result<void> Given::add_for(const std::string& name, const std::string& path) {
    if (left_to_the_run(path)) return {};
    LEMMA_TRY(auto arrays, read(path));
    if (arrays.size() == 1) return set(name, path, std::move(arrays[0].tensor));
    const auto own = std::ranges::find(arrays, name, &tensor::NamedTensor::name);
    if (own != arrays.end()) return set(name, path, std::move(own->tensor));
    std::vector<std::string> has;
    for (const auto& array : arrays) has.push_back("`" + array.name + "`");
    if (has.empty()) return bad(fmt::format("`{}` has no array", path));
    return bad(fmt::format("`{}` has no array `{}`; it has {}", path, name, fmt::join(has, ", ")));
}

// `-i FILE.npz`: every array is an input.
Result<void> Given::add_all(const std::string& path, std::vector<tensor::NamedTensor> arrays) {
    for (tensor::NamedTensor& array : arrays) {
        std::string name = array.name;
        const auto position = position_of(name);
        if (!knows(name) && position && *position < names_.size()) name = names_[*position];
        if (!knows(name)) {
            return bad(fmt::format("`{}`: {}; `-i NAME={}` takes one array alone",
                                   path,
                                   no_such_input(name, names_).message,
                                   path));
        }
        LEMMA_TRY(set(name, path, std::move(array.tensor)));
    }
    return {};
}

Result<void> Given::add(const std::string& argument) {
    const size_t middle = argument.find('=');
    const std::string name = argument.substr(0, middle);
    if (middle != std::string::npos && knows(name))
        return add_for(name, argument.substr(middle + 1));
    std::error_code ignored;
    if (middle != std::string::npos && !fs::exists(argument, ignored))
        return std::unexpected(no_such_input(name, names_));
    // After a file that is not read yet, nobody knows which input is the next.
    order_left_ = order_left_ || left_to_the_run(argument);
    if (order_left_) return {};
    LEMMA_TRY(auto arrays, read(argument));
    if (arrays.size() == 1 && !tensor::is_npz_name(argument))
        return set_next(argument, std::move(arrays[0].tensor));
    return add_all(argument, std::move(arrays));
}

}  // namespace

Result<std::vector<GivenInput>> read_given(const std::vector<std::string>& names,
                                           const GivenFiles& files,
                                           GivenWhen when) {
    Given given(names, files, when);
    for (const std::string& argument : files.arguments) {
        LEMMA_TRY(given.add(argument));
    }
    return given.take();
}

}  // namespace lemma::model
