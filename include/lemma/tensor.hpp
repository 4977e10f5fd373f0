// SPDX-License-Identifier: Apache-2.0
// lemma/tensor.hpp — the inputs and outputs of a model, and their declarations. C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lemma {

// The values are those of lemma_type in lemma.h.
enum class DataType : int {
    F16 = 1,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    Str,
};

// The DataType of a C++ type: `type_of<float>::value`. Half precision has no C++ type; write
// its bits to Tensor::bytes.
template <class T>
struct type_of;
template <DataType type>
using TypeConstant = std::integral_constant<DataType, type>;
template <>
struct type_of<float> : TypeConstant<DataType::F32> {};
template <>
struct type_of<double> : TypeConstant<DataType::F64> {};
template <>
struct type_of<std::int8_t> : TypeConstant<DataType::I8> {};
template <>
struct type_of<std::int16_t> : TypeConstant<DataType::I16> {};
template <>
struct type_of<std::int32_t> : TypeConstant<DataType::I32> {};
template <>
struct type_of<std::int64_t> : TypeConstant<DataType::I64> {};
template <>
struct type_of<std::uint8_t> : TypeConstant<DataType::U8> {};
template <>
struct type_of<std::uint16_t> : TypeConstant<DataType::U16> {};
template <>
struct type_of<std::uint32_t> : TypeConstant<DataType::U32> {};
template <>
struct type_of<std::uint64_t> : TypeConstant<DataType::U64> {};
template <>
struct type_of<bool> : TypeConstant<DataType::Bool> {};
template <>
struct type_of<std::string> : TypeConstant<DataType::Str> {};

using Shape = std::vector<std::int64_t>;

struct Tensor {
    DataType type = DataType::F32;
    Shape shape;                       // empty: a scalar
    std::vector<std::byte> bytes;      // elements in row-major order; a bool takes one byte
    std::vector<std::string> strings;  // elements of type Str, which has no bytes

    // `Tensor::of<float>({2, 2}, {1, 2, 3, 4})`. A model refuses a tensor whose number of
    // elements does not match its shape.
    template <class T>
    static Tensor of(Shape shape, const std::vector<T>& values);
    template <class T>
    static Tensor scalar(const T& value) {
        return of<T>({}, {value});
    }

    template <class T>
    bool is() const {
        return type == type_of<T>::value;
    }
    // The elements in order; empty if they have another type.
    template <class T>
    std::vector<T> values() const;
};

// Tensors by name. The items of a pack `xs` are `xs.0`, `xs.1`, …
using Tensors = std::map<std::string, Tensor>;

// The declaration of an input, an output or a variable.
struct TensorInfo {
    std::string name;
    DataType type = DataType::F32;
    Shape shape;                       // -1: a runtime extent
    Shape bounds;                      // upper bound of each extent; -1: no bound
    std::vector<std::string> extents;  // each extent as text, such as `224` or `2*n`
    bool optional = false;             // an item of a pack with a runtime length
    bool updated = false;              // a variable that runs change
};

// Elements in memory of somebody else, in row-major order: an input that is read in place, memory
// for an output, or an output in the memory of a session. Type Str has pointers to C strings.
struct TensorView {
    DataType type = DataType::F32;
    Shape shape;
    void* data = nullptr;
    std::size_t size = 0;    // bytes
    bool on_device = false;  // `data` is an address in the memory of the model's device

    // An input: `TensorView::of(pixels, {1, 3, 224, 224})`.
    template <class T>
    static TensorView of(const T* elements, Shape shape);
    // Memory for an output of at most `count` elements.
    template <class T>
    static TensorView room(T* elements, std::size_t count) {
        return {type_of<T>::value, {}, elements, count * sizeof(T)};
    }

    // The elements; null if they have another type. Use `uint8_t` for bool.
    template <class T>
    const T* elements() const {
        const bool bytes = std::is_same_v<T, std::uint8_t> && type == DataType::Bool;
        return bytes || type == type_of<T>::value ? static_cast<const T*>(data) : nullptr;
    }
};

template <class T>
Tensor Tensor::of(Shape shape, const std::vector<T>& values) {
    Tensor tensor;
    tensor.type = type_of<T>::value;
    tensor.shape = std::move(shape);
    if constexpr (std::is_same_v<T, std::string>) {
        tensor.strings = values;
    } else if constexpr (std::is_same_v<T, bool>) {
        for (const bool value : values) tensor.bytes.push_back(std::byte{value});
    } else {
        tensor.bytes.resize(values.size() * sizeof(T));
        if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
    return tensor;
}

template <class T>
TensorView TensorView::of(const T* elements, Shape shape) {
    std::size_t size = sizeof(T);
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    return {type_of<T>::value, std::move(shape), const_cast<T*>(elements), size};
}

template <class T>
std::vector<T> Tensor::values() const {
    std::vector<T> values;
    if (!is<T>()) return values;
    if constexpr (std::is_same_v<T, std::string>) {
        values = strings;
    } else if constexpr (std::is_same_v<T, bool>) {
        for (const std::byte byte : bytes) values.push_back(byte != std::byte{0});
    } else {
        values.resize(bytes.size() / sizeof(T));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    }
    return values;
}

}  // namespace lemma
