// SPDX-License-Identifier: Apache-2.0
// base/store.h — Store owns nodes of one kind and hands out typed ids. Table adds a value per id,
// for the results of a later step.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/id.h"

namespace lemma {

template <class IdT, class T>
class Store {
public:
    IdT add(T item) { return emplace(std::move(item)); }
    // Constructs the item in place, which saves a move.
    template <class... Args>
    IdT emplace(Args&&... args) {
        items_.emplace_back(std::forward<Args>(args)...);
        return make_id<IdT>(items_.size() - 1);
    }
    T& operator[](IdT id) {
        LEMMA_CHECK(id.value < items_.size());
        return items_[id.value];
    }
    const T& operator[](IdT id) const {
        LEMMA_CHECK(id.value < items_.size());
        return items_[id.value];
    }
    void reserve(size_t count) { items_.reserve(count); }
    size_t size() const { return items_.size(); }
    bool empty() const { return items_.empty(); }
    auto begin() { return items_.begin(); }
    auto end() { return items_.end(); }
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }

private:
    std::vector<T> items_;
};

// A value per id of some Store, made on demand; ids that were never set read as T{}.
template <class IdT, class T>
class Table {
public:
    Table() = default;
    explicit Table(size_t size) : items_(size) {}
    T& operator[](IdT id) {
        if (id.value >= items_.size()) items_.resize(id.value + size_t{1});
        return items_[id.value];
    }
    const T& operator[](IdT id) const {
        static const T kEmpty{};
        return id.value < items_.size() ? items_[id.value] : kEmpty;
    }
    size_t size() const { return items_.size(); }

private:
    std::vector<T> items_;
};

}  // namespace lemma
