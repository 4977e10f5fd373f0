// SPDX-License-Identifier: Apache-2.0
#include "view/recorded.h"

#include <map>

#include "view/engine_view.h"

namespace lemma::view {

namespace {

double number_field(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_field(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<Json> recorded_times(const ir::Program& program, const std::string& text) {
    const Json bench = Json::parse(text, nullptr, false);
    if (!bench.is_object() || !bench.contains("profile") || !bench["profile"].is_array())
        return std::unexpected(Error{"no profile: it comes from `lemma bench --profile --json`"});
    // Operations of one operator and label are taken in their order, like the steps.
    std::multimap<std::pair<std::string, std::string>, ir::OpId> open;
    for (size_t i = 0; i < program.operations.size(); ++i) {
        const auto id = make_id<ir::OpId>(i);
        const ir::Operation& op = program.operations[id];
        if (!op.compound()) open.emplace(std::pair{op.op, op.label}, id);
    }
    const ProgramIndex index(program);
    const double peak = number_field(bench, "peak_gflops");
    struct Sum {
        double ms = 0, gflop = 0;
    };
    std::map<uint32_t, Sum> sums;
    Json kernels = Json::array();
    size_t unknown = 0;
    for (const Json& step : bench["profile"]) {
        if (!step.is_object()) continue;
        const std::pair key{text_field(step, "operation"), text_field(step, "label")};
        const double ms = number_field(step, "min_us") / 1e3;
        const double gflops = number_field(step, "gflops");
        const auto found = open.find(key);
        Json kernel = {{"name", key.first + (key.second.empty() ? "" : " " + key.second)},
                       {"ms", ms},
                       {"operations", Json::array()},
                       {"macs", gflops * ms * 1e6 / 2}};
        if (step.contains("schedule")) kernel["schedule"] = text_field(step, "schedule");
        if (peak > 0) kernel["share_of_peak"] = gflops / peak;
        if (found == open.end()) {
            ++unknown;
        } else {
            kernel["operations"].push_back(found->second.value);
            for (const ir::OpId id : index.around(found->second)) {
                sums[id.value].ms += ms;
                sums[id.value].gflop += gflops * ms;
            }
            open.erase(found);
        }
        kernels.push_back(std::move(kernel));
    }
    if (unknown > 0 && unknown == kernels.size())
        return std::unexpected(Error{"the profile is of another model"});
    Json operations = Json::object(), shares = Json::object();
    for (const auto& [id, sum] : sums) {
        operations[std::to_string(id)] = sum.ms;
        if (peak > 0 && sum.ms > 0) shares[std::to_string(id)] = sum.gflop / sum.ms / peak;
    }
    return Json{{"threads", static_cast<int64_t>(number_field(bench, "threads"))},
                {"total_ms", number_field(bench, "min_ms")},
                {"peak_gflops", peak},
                {"operations", std::move(operations)},
                {"share_of_peak", std::move(shares)},
                {"kernels", std::move(kernels)}};
}

}  // namespace lemma::view
