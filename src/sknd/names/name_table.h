// SPDX-License-Identifier: Apache-2.0
// sknd/names/name_table.h — values by name, in nested scopes; inner names hide outer ones. Names
// are views of texts that outlive the table: those of the syntax tree.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace lemma::sknd {

// A name for fast comparison: names of up to eight characters are equal if size and word are.
struct NameKey {
    explicit NameKey(std::string_view name)
        : data(name.data()), size(static_cast<uint32_t>(name.size())) {
        if (size > 8) {
            for (size_t i = 0; i + 8 < size; i += 8) word = mixed(word ^ read<uint64_t>(i));
            word = mixed(word ^ read<uint64_t>(size - 8));
        } else if (size >= 4) {
            word = uint64_t{read<uint32_t>(0)} << 32 | read<uint32_t>(size - 4);
        } else if (size > 0) {
            word = uint64_t{read<uint8_t>(0)} << 16 | read<uint8_t>(size / 2) << 8 |
                   read<uint8_t>(size - 1);
        }
    }
    std::string_view name() const { return {data, size}; }
    uint64_t hash() const { return mixed(word + size); }
    friend bool operator==(const NameKey& a, const NameKey& b) {
        return a.word == b.word && a.size == b.size &&
               (a.size <= 8 || std::memcmp(a.data, b.data, a.size) == 0);
    }

    const char* data;
    uint32_t size;
    uint64_t word = 0;

private:
    template <class T>
    T read(size_t at) const {
        T value;
        std::memcpy(&value, data + at, sizeof value);
        return value;
    }
    static uint64_t mixed(uint64_t value) {
        value *= 0x9e3779b97f4a7c15ull;
        value = (value ^ (value >> 32)) * 0xff51afd7ed558ccdull;
        return value ^ (value >> 29);
    }
};

// Most definitions have a handful of names, which are compared one by one; larger tables are
// hashed.
template <class T>
class NameTable {
public:
    void push() { scopes_.push_back(static_cast<uint32_t>(entries_.size())); }
    void pop() {
        while (entries_.size() > scopes_.back()) remove_last();
        scopes_.pop_back();
    }
    void clear() {
        entries_.clear();
        scopes_.clear();
        slots_.clear();
    }
    void reserve(size_t count) { entries_.reserve(count); }
    bool empty() const { return entries_.empty(); }

    // The innermost value; null if there is none. It keeps its address until the next `set`.
    const T* find(std::string_view name) const { return value_at(position(NameKey(name))); }
    T* find(std::string_view name) { return value_at(position(NameKey(name))); }
    bool contains(std::string_view name) const { return position(NameKey(name)) != kNone; }
    // In the innermost scope only, and in all others only.
    const T* find_here(std::string_view name) const {
        const uint32_t at = position(NameKey(name));
        return at != kNone && at >= scope_begin() ? value_at(at) : nullptr;
    }
    const T* find_outer(std::string_view name) const {
        uint32_t at = position(NameKey(name));
        if (at != kNone && at >= scope_begin()) at = entries_[at].hidden;
        return value_at(at);
    }

    // In the innermost scope.
    T& set(std::string_view name, T value) {
        const NameKey key(name);
        const uint32_t at = position(key);
        if (at != kNone && at >= scope_begin()) return entries_[at].value = std::move(value);
        return add(key, at, std::move(value));
    }
    // False, without a change, if the innermost scope has the name.
    bool insert(std::string_view name, T value) {
        const NameKey key(name);
        const uint32_t at = position(key);
        if (at != kNone && at >= scope_begin()) return false;
        add(key, at, std::move(value));
        return true;
    }
    // Only for a table without inner scopes.
    void erase(std::string_view name) {
        const uint32_t at = position(NameKey(name));
        if (at == kNone) return;
        entries_.erase(entries_.begin() + at);
        slots_.clear();
    }

    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const Entry& entry : entries_) visit(entry.key.name(), entry.value);
    }

private:
    static constexpr uint32_t kNone = UINT32_MAX;
    static constexpr size_t kFew = 16;

    struct Entry {
        NameKey key;
        uint32_t hidden;  // the entry of an outer scope with this name, or kNone
        T value;
    };

    uint32_t scope_begin() const { return scopes_.empty() ? 0 : scopes_.back(); }
    T* value_at(uint32_t at) { return at == kNone ? nullptr : &entries_[at].value; }
    const T* value_at(uint32_t at) const { return at == kNone ? nullptr : &entries_[at].value; }

    uint32_t position(const NameKey& key) const {
        if (!slots_.empty()) return slots_[slot(key)];
        for (size_t i = entries_.size(); i-- > 0;) {
            if (entries_[i].key == key) return static_cast<uint32_t>(i);
        }
        return kNone;
    }
    // The slot of the name, or the free one for it.
    size_t slot(const NameKey& key) const {
        const size_t mask = slots_.size() - 1;
        size_t i = key.hash() & mask;
        while (slots_[i] != kNone && !(entries_[slots_[i]].key == key)) i = (i + 1) & mask;
        return i;
    }

    T& add(const NameKey& key, uint32_t hidden, T value) {
        entries_.push_back({key, hidden, std::move(value)});
        if (!slots_.empty() && entries_.size() * 2 <= slots_.size()) {
            slots_[slot(key)] = static_cast<uint32_t>(entries_.size() - 1);
        } else if (entries_.size() > kFew) {
            rebuild();
        }
        return entries_.back().value;
    }
    void rebuild() {
        size_t size = 4 * kFew;
        while (size < entries_.size() * 4) size *= 2;
        slots_.assign(size, kNone);
        for (size_t i = 0; i < entries_.size(); ++i) {
            slots_[slot(entries_[i].key)] = static_cast<uint32_t>(i);
        }
    }
    // Entries are removed in reverse order, so no other probe sequence passes this slot.
    void remove_last() {
        const Entry& last = entries_.back();
        if (!slots_.empty()) slots_[slot(last.key)] = last.hidden;
        entries_.pop_back();
    }

    std::vector<Entry> entries_;
    std::vector<uint32_t> scopes_;  // beginnings of the open scopes
    std::vector<uint32_t> slots_;   // open addressing: the innermost entry of a name, or kNone
};

class NameSet {
public:
    // False if the name exists.
    bool insert(std::string_view name) { return names_.insert(name, {}); }
    bool contains(std::string_view name) const { return names_.contains(name); }
    template <class Visit>
    void for_each(const Visit& visit) const {
        names_.for_each([&](std::string_view name, Nothing) { visit(name); });
    }

private:
    struct Nothing {};
    NameTable<Nothing> names_;
};

}  // namespace lemma::sknd
