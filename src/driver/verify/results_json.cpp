// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/results_json.h"

#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "session/tensors.h"

namespace lemma::driver {

namespace {

nlohmann::ordered_json values_of(const interpret::Array& array) {
    if (!array.strings.empty()) return array.strings;
    if (!array.reals.empty()) return array.reals;
    if (array.dtype != tensor::DType::Bool) return array.integers;
    nlohmann::ordered_json flags = nlohmann::ordered_json::array();
    for (const int64_t value : array.integers) flags.push_back(value != 0);
    return flags;
}

}  // namespace

std::string results_json(std::span<const ir::Port> ports,
                         const interpret::NamedArrays& outputs,
                         std::span<const diag::Note> remarks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ir::Port& port : ports) {
        const auto& items = outputs.at(port.name);
        const auto names = session::item_names(port, items.size());
        for (size_t i = 0; i < items.size(); ++i) {
            list.push_back({{"name", names[i]},
                            {"dtype", tensor::dtype_name(items[i].dtype)},
                            {"shape", items[i].shape},
                            {"values", values_of(items[i])}});
        }
    }
    nlohmann::ordered_json document = {{"outputs", std::move(list)}};
    for (const diag::Note& remark : remarks)
        document["remarks"].push_back({{"message", remark.message}});
    return diag::json_text(document);
}

}  // namespace lemma::driver
