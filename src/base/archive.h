// SPDX-License-Identifier: Apache-2.0
// base/archive.h — values as bytes and back, for files that only this version of Lemma reads. A
// struct lists its fields in a function `fields(archive, value)` of its namespace, which serves
// both directions:
//
//     template <class Archive>
//     void fields(Archive& archive, like<Storage, Archive>& storage) {
//         auto& [role, dtype, elements] = storage;  // does not compile if one is missing
//         archive(role, dtype, elements);
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/store.h"

namespace lemma {

// Whether a vector of these values goes into the archive as one piece. Such a type has no padding
// and no value that its bytes cannot have.
template <class T>
inline constexpr bool kPlainBytes = std::is_base_of_v<Id<T>, T>;
template <class T>
    requires std::is_arithmetic_v<T>
inline constexpr bool kPlainBytes<T> = !std::is_same_v<T, bool> && !std::is_same_v<T, long double>;

class ArchiveWriter {
public:
    static constexpr bool kReads = false;
    std::string bytes;

    template <class... Ts>
    void operator()(const Ts&... values) {
        (put(values), ...);
    }

private:
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    void put(const T& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T>
        requires std::is_base_of_v<Id<T>, T>
    void put(const T& id) {
        put(id.value);
    }
    void put(std::string_view text) {
        put(static_cast<uint64_t>(text.size()));
        bytes.append(text);
    }
    void put(const std::string& text) { put(std::string_view(text)); }
    template <class T>
    void put_all(const T& items) {
        put(static_cast<uint64_t>(items.size()));
        for (const auto& item : items) put(item);
    }
    template <class T>
    void put(const std::vector<T>& items) {
        if constexpr (kPlainBytes<T>) {
            put(static_cast<uint64_t>(items.size()));
            bytes.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
        } else {
            put_all(items);
        }
    }
    template <class IdT, class T>
    void put(const Store<IdT, T>& items) {
        put_all(items);
    }
    template <class K, class V, class H>
    void put(const std::unordered_map<K, V, H>& items) {
        put_all(items);
    }
    template <class A, class B>
    void put(const std::pair<A, B>& pair) {
        put(pair.first);
        put(pair.second);
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class... Ts>
    void put(const std::variant<Ts...>& value) {
        put(static_cast<uint64_t>(value.index()));
        std::visit([this](const auto& chosen) { this->put(chosen); }, value);
    }
    template <class T, size_t N>
    void put(const T (&items)[N]) {
        for (const T& item : items) put(item);
    }
    void put(const std::monostate&) {}
    template <class T>
        requires(std::is_class_v<T> && !std::is_base_of_v<Id<T>, T>)
    void put(const T& value) {
        fields(*this, value);
    }
};

// Trusts nothing: after bytes that are no such value, `good` is false and the values are any.
class ArchiveReader {
public:
    static constexpr bool kReads = true;
    explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

    template <class... Ts>
    void operator()(Ts&... values) {
        (get(values), ...);
    }
    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }

private:
    // A number of items, each of at least one byte.
    size_t count() {
        uint64_t size = 0;
        get(size);
        if (size > rest_.size()) good_ = false;
        return good_ ? static_cast<size_t>(size) : 0;
    }
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    void get(T& value) {
        if (rest_.size() < sizeof value) {
            good_ = false;
            return;
        }
        if constexpr (std::is_same_v<T, bool>) {
            value = rest_[0] != 0;
        } else {
            std::memcpy(&value, rest_.data(), sizeof value);
        }
        rest_.remove_prefix(sizeof value);
    }
    template <class T>
        requires std::is_base_of_v<Id<T>, T>
    void get(T& id) {
        get(id.value);
    }
    void get(std::string_view& text) {
        text = rest_.substr(0, count());
        rest_.remove_prefix(text.size());
    }
    void get(std::string& text) {
        std::string_view view;
        get(view);
        text = view;
    }
    template <class T>
    void get(std::vector<T>& items) {
        items.clear();
        const size_t size = count();
        if constexpr (kPlainBytes<T>) {
            if (size > rest_.size() / sizeof(T)) {
                good_ = false;
                return;
            }
            items.resize(size);
            if (size > 0) std::memcpy(items.data(), rest_.data(), size * sizeof(T));
            rest_.remove_prefix(size * sizeof(T));
        } else {
            for (size_t left = size; left > 0 && good_; --left) get(items.emplace_back());
        }
    }
    template <class IdT, class T>
    void get(Store<IdT, T>& items) {
        items = {};
        for (size_t left = count(); left > 0 && good_; --left) get(items[items.emplace()]);
    }
    template <class K, class V, class H>
    void get(std::unordered_map<K, V, H>& items) {
        items.clear();
        for (size_t left = count(); left > 0 && good_; --left) {
            K key{};
            get(key);
            get(items[key]);
        }
    }
    template <class A, class B>
    void get(std::pair<A, B>& pair) {
        get(pair.first);
        get(pair.second);
    }
    template <class T>
    void get(std::optional<T>& value) {
        bool has = false;
        get(has);
        value.reset();
        if (has) get(value.emplace());
    }
    template <class... Ts>
    void get(std::variant<Ts...>& value) {
        uint64_t index = 0;
        get(index);
        if (index >= sizeof...(Ts)) {
            good_ = false;
            return;
        }
        choose(value, index, std::index_sequence_for<Ts...>());
    }
    template <class... Ts, size_t... I>
    void choose(std::variant<Ts...>& value, uint64_t index, std::index_sequence<I...>) {
        (void)((index == I && (get(value.template emplace<I>()), true)) || ...);
    }
    template <class T, size_t N>
    void get(T (&items)[N]) {
        for (T& item : items) get(item);
    }
    void get(std::monostate&) {}
    template <class T>
        requires(std::is_class_v<T> && !std::is_base_of_v<Id<T>, T>)
    void get(T& value) {
        fields(*this, value);
    }

    std::string_view rest_;
    bool good_ = true;
};

// The type of a struct as the archive takes it.
template <class T, class Archive>
using like = std::conditional_t<Archive::kReads, T, const T>;

}  // namespace lemma
