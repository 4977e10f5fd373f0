// SPDX-License-Identifier: Apache-2.0
#include "engine/exchange.h"

#include <algorithm>

namespace lemma::engine {

namespace {

using loop::Storage;
using loop::StorageId;
using loop::StorageRole;

// A smaller value is copied: that takes no time, and the value shares memory with other tensors.
constexpr int64_t kLeastBytes = int64_t{64} << 10;

// Whether other storages lie in this one, or become it at run time.
bool is_shared(const loop::Plan& plan, StorageId id) {
    const auto uses = [&](const Storage& other) {
        return other.base == id || std::ranges::find(other.targets, id) != other.targets.end();
    };
    const auto dynamic = [&](const auto& item) { return item.second.storage == id; };
    return std::ranges::any_of(plan.storages, uses) ||
           std::ranges::any_of(plan.dynamic_places, dynamic);
}

bool is_alone(const loop::Plan& plan, StorageId id) {
    const Storage& storage = plan.storages[id];
    return !storage.base.valid() && !storage.moves && !storage.needs_zeros && !storage.scratch &&
           !is_shared(plan, id);
}

bool can_exchange(const loop::Plan& plan, const Exchange& exchange) {
    const Storage& variable = plan.storages[exchange.variable];
    const Storage& value = plan.storages[exchange.value];
    return variable.role == StorageRole::Kept && value.role == StorageRole::Computed &&
           variable.dtype == value.dtype && variable.elements == value.elements &&
           value.elements * tensor::dtype_size(value.dtype) >= kLeastBytes &&
           is_alone(plan, exchange.variable) && is_alone(plan, exchange.value);
}

}  // namespace

std::vector<Exchange> find_exchanges(const ir::Program& program, const loop::Plan& plan) {
    std::vector<Exchange> all;
    for (const ir::Update& update : program.updates) {
        all.push_back(
            {plan.places.at(update.variable).storage, plan.places.at(update.value).storage});
    }
    std::vector<Exchange> result;
    for (const Exchange& one : all) {
        const bool unique = std::ranges::count(all, one.value, &Exchange::value) == 1 &&
                            std::ranges::count(all, one.variable, &Exchange::variable) == 1;
        result.push_back(unique && can_exchange(plan, one) ? one : Exchange{});
    }
    return result;
}

}  // namespace lemma::engine
