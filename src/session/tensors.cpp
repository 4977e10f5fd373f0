// SPDX-License-Identifier: Apache-2.0
#include "session/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "diag/diagnostic.h"
#include "diag/utf8.h"
#include "interpret/random.h"
#include "model/input_names.h"
#include "tensor/archive/npz_file.h"
#include "tensor/files/tensor_file.h"

namespace lemma::session {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

const std::vector<ir::Port>& inputs_of(const ir::Program& program) {
    return program.graphs[program.main].inputs;
}

// A tensor of a port, by its name in files.
struct Target {
    const ir::Port* port = nullptr;
    size_t item = 0;
};

std::vector<std::string> all_names(const std::vector<ir::Port>& ports) {
    std::vector<std::string> names;
    for (const ir::Port& port : ports) {
        const auto items = item_names(port, port.operand.items.size());
        names.insert(names.end(), items.begin(), items.end());
    }
    return names;
}

std::optional<Target> find_target(const std::vector<ir::Port>& ports, const std::string& name) {
    for (const ir::Port& port : ports) {
        const auto items = item_names(port, port.operand.items.size());
        const auto found = std::ranges::find(items, name);
        if (found != items.end()) return Target{&port, static_cast<size_t>(found - items.begin())};
    }
    return std::nullopt;
}

// Whole numbers in JSON become reals where reals are expected, because JSON writes both alike.
Result<interpret::Array> array_for(const ir::Program& program,
                                   const std::vector<ir::Port>& ports,
                                   const std::string& name,
                                   const std::string& path,
                                   const tensor::Tensor& tensor) {
    LEMMA_TRY(interpret::Array array, interpret::to_array(tensor));
    const auto target = find_target(ports, name);
    if (!target || !path.ends_with(".json")) return array;
    const ir::TensorId id = target->port->operand.items[target->item];
    const tensor::DType wanted = program.tensors[id].dtype;
    if (!tensor::is_real(wanted) || !tensor::is_integer(array.dtype)) return array;
    array.reals.assign(array.integers.begin(), array.integers.end());
    array.integers.clear();
    array.dtype = wanted;
    return array;
}

// The inputs given so far, by port and item.
class GivenInputs {
public:
    explicit GivenInputs(const std::vector<ir::Port>& ports) : ports_(ports) {}

    bool has(const std::string& name) const { return given_.contains(name); }
    void set(const std::string& name, interpret::Array array) { given_[name] = std::move(array); }
    Result<interpret::NamedArrays> take() {
        interpret::NamedArrays arrays;
        for (const ir::Port& port : ports_) {
            const auto names = item_names(port, port.operand.items.size());
            const auto missing =
                std::ranges::find_if(names, [&](const std::string& name) { return !has(name); });
            const bool later = std::any_of(
                missing, names.end(), [&](const std::string& name) { return has(name); });
            if (later) return bad(fmt::format("the input `{}` is missing", *missing));
            if (missing == names.begin() && !names.empty()) continue;
            auto& items = arrays[port.name];
            for (auto name = names.begin(); name != missing; ++name) {
                items.push_back(std::move(given_[*name]));
            }
        }
        return arrays;
    }

private:
    const std::vector<ir::Port>& ports_;
    std::map<std::string, interpret::Array> given_;
};

}  // namespace

std::string file_name_of(const std::string& tensor) {
    std::string name = tensor;
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        if (!plain) c = '_';
    }
    return name;
}

Result<interpret::Array> read_array(const std::string& path, FileKind kind) {
    LEMMA_TRY(const tensor::NamedTensor named, tensor::read_tensor_file(path, kind));
    return interpret::to_array(named.tensor);
}

std::string find_file(const std::string& folder, const std::string& tensor) {
    const std::string stem = (fs::path(folder) / file_name_of(tensor)).string();
    std::error_code ignored;
    for (const char* ending : {".npy", ".dat", ".pb", ".json"}) {
        if (fs::exists(stem + ending, ignored)) return stem + ending;
    }
    return stem + ".npy";
}

Result<void> write_array(const std::string& path, const interpret::Array& array) {
    LEMMA_TRY(const tensor::Tensor tensor, interpret::to_tensor(array));
    return tensor::write_tensor_file(path, {.name = "", .tensor = tensor});
}

std::vector<std::string> item_names(const ir::Port& port, size_t count) {
    if (!port.operand.packed) return {port.name};
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}.{}", port.name, i));
    return names;
}

Result<interpret::NamedArrays> read_inputs(const ir::Program& program,
                                           const std::vector<std::string>& arguments,
                                           const model::InputReader& read) {
    const std::vector<ir::Port>& ports = inputs_of(program);
    LEMMA_TRY(const auto inputs,
              model::read_given(all_names(ports), {arguments, read}, model::GivenWhen::ForTheRun));
    GivenInputs given(ports);
    for (const model::GivenInput& input : inputs) {
        LEMMA_TRY(interpret::Array array,
                  array_for(program, ports, input.name, input.path, input.tensor));
        given.set(input.name, std::move(array));
    }
    return given.take();
}

Result<interpret::NamedArrays> read_folder(const ir::Program& program,
                                           const std::vector<ir::Port>& ports,
                                           const std::string& folder) {
    GivenInputs given(ports);
    for (const std::string& name : all_names(ports)) {
        const std::string path = find_file(folder, name);
        std::error_code ignored;
        if (!fs::exists(path, ignored)) continue;
        LEMMA_TRY(const tensor::NamedTensor named, tensor::read_tensor_file(path));
        LEMMA_TRY(interpret::Array array, array_for(program, ports, name, path, named.tensor));
        given.set(name, std::move(array));
    }
    return given.take();
}

Result<void> write_folder(std::span<const ir::Port> ports,
                          const interpret::NamedArrays& arrays,
                          const std::string& folder) {
    LEMMA_TRY(tensor::make_folder(folder));
    for (const ir::Port& port : ports) {
        const auto found = arrays.find(port.name);
        if (found == arrays.end()) continue;
        const auto names = item_names(port, found->second.size());
        for (size_t i = 0; i < found->second.size(); ++i) {
            const fs::path path = fs::path(folder) / (file_name_of(names[i]) + ".npy");
            LEMMA_TRY(write_array(path.string(), found->second[i]));
        }
    }
    return {};
}

Result<void> write_npz(std::span<const ir::Port> ports,
                       const interpret::NamedArrays& arrays,
                       const std::string& path) {
    std::vector<tensor::NamedTensor> tensors;
    for (const ir::Port& port : ports) {
        const auto found = arrays.find(port.name);
        if (found == arrays.end()) continue;
        const auto names = item_names(port, found->second.size());
        for (size_t i = 0; i < found->second.size(); ++i) {
            LEMMA_TRY(tensor::Tensor tensor, interpret::to_tensor(found->second[i]));
            tensors.push_back({.name = names[i], .tensor = std::move(tensor)});
        }
    }
    return tensor::write_npz(path, tensors);
}

Result<interpret::NamedArrays> gather_inputs(const ir::Program& program,
                                             std::map<std::string, interpret::Array> items) {
    const std::vector<ir::Port>& ports = inputs_of(program);
    GivenInputs given(ports);
    for (auto& [name, array] : items) {
        if (!find_target(ports, name))
            return std::unexpected(model::no_such_input(name, all_names(ports)));
        given.set(name, std::move(array));
    }
    LEMMA_TRY(interpret::NamedArrays arrays, given.take());
    for (const ir::Port& port : ports) {
        if (port.operand.length.valid()) arrays.try_emplace(port.name);
    }
    return arrays;
}

// ---- Random inputs ------------------------------------------------------------------------------

std::vector<std::string> missing_inputs(const ir::Program& program,
                                        const interpret::NamedArrays& inputs) {
    std::vector<std::string> missing;
    for (const ir::Port& port : inputs_of(program)) {
        // A missing pack is named by its first item.
        if (!inputs.contains(port.name)) missing.push_back(item_names(port, 1).front());
    }
    return missing;
}

namespace {

Result<interpret::Array> random_array(const ir::Program& program,
                                      const ir::Tensor& tensor,
                                      uint64_t seed) {
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program.symbols.as_int(part);
        const int64_t most = program.symbols.range(part).high;
        shape.push_back(extent ? *extent : most < INT64_MAX ? most : 1);
    }
    LEMMA_TRY(interpret::Array array, interpret::Array::zeros(tensor.dtype, std::move(shape)));
    for (const char c : tensor.name) seed = interpret::mix_bits(seed + static_cast<uint8_t>(c));
    for (size_t i = 0; i < array.reals.size(); ++i)
        array.reals[i] = interpret::random_unit(seed, i);
    for (size_t i = 0; i < array.integers.size(); ++i) {
        array.integers[i] = static_cast<int64_t>(interpret::random_bits(seed, i) & 1);
    }
    array.round();
    return array;
}

}  // namespace

Result<void> add_random_inputs(const ir::Program& program,
                               uint64_t seed,
                               interpret::NamedArrays& inputs) {
    for (const ir::Port& port : inputs_of(program)) {
        if (inputs.contains(port.name)) continue;
        auto& items = inputs[port.name];
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(interpret::Array array, random_array(program, program.tensors[id], seed));
            items.push_back(std::move(array));
        }
    }
    return {};
}

// ---- Summaries ----------------------------------------------------------------------------------

namespace {

constexpr size_t kShownItems = 8;

std::string number_text(const interpret::Array& array, size_t index) {
    if (!array.strings.empty()) return "'" + diag::printable(array.strings[index]) + "'";
    if (!array.reals.empty()) return fmt::format("{:.6g}", array.reals[index]);
    if (array.dtype == tensor::DType::Bool) return array.integers[index] ? "true" : "false";
    return fmt::format("{}", array.integers[index]);
}

std::string range_text(const interpret::Array& array) {
    if (array.reals.empty()) return "";
    const auto [least, most] = std::ranges::minmax_element(array.reals);
    const double sum = std::accumulate(array.reals.begin(), array.reals.end(), 0.0);
    return fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}",
                       *least,
                       *most,
                       sum / static_cast<double>(array.size));
}

}  // namespace

std::string summary(const std::string& name, const interpret::Array& array) {
    std::string text = fmt::format("{}: {}{}{}",
                                   diag::printable(name),
                                   tensor::dtype_name(array.dtype),
                                   tensor::shape_text(array.shape),
                                   range_text(array));
    const auto size = static_cast<size_t>(array.size);
    for (size_t i = 0; i < std::min(size, kShownItems); ++i) {
        text += (i == 0 ? ": " : " ") + number_text(array, i);
    }
    return text + (size > kShownItems ? " …\n" : "\n");
}

std::string top_classes(const interpret::Array& array,
                        int64_t count,
                        const std::vector<std::string>& labels) {
    if (array.shape.empty() || array.reals.empty()) return "";
    const auto classes = static_cast<size_t>(array.shape.back());
    const auto shown = std::min(static_cast<size_t>(count), classes);
    std::string text;
    for (size_t row = 0; row < array.reals.size() / classes; ++row) {
        const double* const scores = &array.reals[row * classes];
        std::vector<size_t> order(classes);
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
        for (size_t i = 0; i < shown; ++i) {
            const bool named = order[i] < labels.size() && !labels[order[i]].empty();
            const std::string name =
                named ? diag::printable(labels[order[i]]) : fmt::format("class {:<6}", order[i]);
            text += fmt::format("  {:>3}. {:<12} {:.6g}\n", i + 1, name, scores[order[i]]);
        }
    }
    return text;
}

}  // namespace lemma::session
