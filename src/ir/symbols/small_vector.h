// SPDX-License-Identifier: Apache-2.0
// ir/symbols/small_vector.h — a vector of plain values that stores the first few inline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace lemma::ir {

template <class T, size_t kInPlace>
class SmallVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    SmallVector() {}
    SmallVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
    explicit SmallVector(std::span<const T> items) { append(items.data(), items.size()); }
    SmallVector(const SmallVector& other) { append(other.data(), other.size_); }
    SmallVector(SmallVector&& other) noexcept { take(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this == &other) return *this;
        size_ = 0;
        append(other.data(), other.size_);
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this != &other) take(other);
        return *this;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return heap_ ? heap_.get() : items_; }
    const T* data() const { return heap_ ? heap_.get() : items_; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](size_t i) { return data()[i]; }
    const T& operator[](size_t i) const { return data()[i]; }
    T& back() { return data()[size_ - 1]; }
    const T& back() const { return data()[size_ - 1]; }

    void reserve(size_t count) {
        if (count > capacity_) grow(count);
    }
    void clear() { size_ = 0; }
    void push_back(T item) {
        if (size_ == capacity_) grow(size_ + 1);
        data()[size_++] = item;
    }
    void pop_back() { --size_; }
    void append(const T* items, size_t count) {
        if (count == 0) return;
        reserve(size_ + count);
        std::memcpy(static_cast<void*>(end()), items, count * sizeof(T));
        size_ += count;
    }
    void insert_front(T item) {
        push_back(item);
        std::rotate(begin(), end() - 1, end());
    }
    template <class Predicate>
    void erase_if(Predicate predicate) {
        size_ = static_cast<size_t>(std::remove_if(begin(), end(), predicate) - begin());
    }
    void erase_at(size_t index) {
        LEMMA_CHECK(index < size_);
        std::copy(begin() + index + 1, end(), begin() + index);
        --size_;
    }

private:
    void grow(size_t least) {
        const size_t capacity = std::max(least, 2 * capacity_);
        std::unique_ptr<T[]> heap(new T[capacity]);
        std::copy(begin(), end(), heap.get());
        heap_ = std::move(heap);
        capacity_ = capacity;
    }
    void take(SmallVector& other) noexcept {
        if (other.heap_) {
            heap_ = std::move(other.heap_);
            capacity_ = std::exchange(other.capacity_, kInPlace);
        } else if (other.size_ > 0) {  // fits, whether inline or on the heap
            std::memcpy(static_cast<void*>(data()), other.items_, other.size_ * sizeof(T));
        }
        size_ = std::exchange(other.size_, 0);
    }

    size_t size_ = 0;
    size_t capacity_ = kInPlace;
    std::unique_ptr<T[]> heap_;  // null while the items are inline
    union {
        T items_[kInPlace];
    };
};

}  // namespace lemma::ir
