// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "device/cuda_device.h"

namespace lemma::device {

Result<ChosenDevice> parse_device(const std::string& name) {
    using Kind = ChosenDevice::Kind;
    if (name.empty() || name == "cpu") return ChosenDevice{};
    if (name == "auto") return ChosenDevice{Kind::Any, 0};
    if (name == "cuda") return ChosenDevice{Kind::Cuda, 0};
    constexpr std::string_view kNumbered = "cuda:";
    if (name.starts_with(kNumbered)) {
        int number = 0;
        const char* const end = name.data() + name.size();
        const auto [rest, error] = std::from_chars(name.data() + kNumbered.size(), end, number);
        if (error == std::errc() && rest == end && number >= 0) {
            return ChosenDevice{Kind::Cuda, number};
        }
    }
    return std::unexpected(Error{
        fmt::format("there is no device `{}`: they are `cpu`, `cuda`, `cuda:N` and `auto`", name)});
}

Result<std::shared_ptr<runtime::Device>> open_device(const ChosenDevice& chosen,
                                                     std::string* trouble) {
    using Kind = ChosenDevice::Kind;
    if (chosen.kind == Kind::Processor) return nullptr;
    auto device = open_cuda_device(chosen.number);
    if (device || chosen.kind != Kind::Any) return device;
    if (trouble) *trouble = device.error().message;
    return nullptr;
}

}  // namespace lemma::device
