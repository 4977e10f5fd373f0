// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace lemma::tensor {

namespace {

enum class Kind : uint8_t { Real, Integer, Bool, Str };

Kind kind_of(DType dtype) {
    if (is_real(dtype)) return Kind::Real;
    if (is_integer(dtype)) return Kind::Integer;
    return dtype == DType::Bool ? Kind::Bool : Kind::Str;
}

template <class T>
T load(const Tensor& tensor, int64_t index) {
    T value;
    std::memcpy(&value, tensor.bytes().data() + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void store(Tensor& tensor, int64_t index, T value) {
    std::memcpy(tensor.bytes().data() + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Calls `use` with a zero of the C++ type of an integer dtype.
template <class Use>
auto with_integer_type(DType dtype, Use use) {
    switch (dtype) {
        case DType::I8:
            return use(int8_t{});
        case DType::I16:
            return use(int16_t{});
        case DType::I32:
            return use(int32_t{});
        case DType::I64:
            return use(int64_t{});
        case DType::U8:
            return use(uint8_t{});
        case DType::U16:
            return use(uint16_t{});
        case DType::U32:
            return use(uint32_t{});
        default:
            LEMMA_CHECK(dtype == DType::U64);
            return use(uint64_t{});
    }
}

// ---- Elements one by one: the converters return the first element that does not fit -------------

using Misfit = std::optional<int64_t>;

Misfit between_reals(const Tensor& from, Tensor& to) {
    if (from.dtype() == DType::F64 && to.dtype() == DType::F32) {
        for (int64_t i = 0; i < from.size(); ++i) {
            store(to, i, static_cast<float>(load<double>(from, i)));
        }
    } else if (from.dtype() == DType::F32 && to.dtype() == DType::F64) {
        for (int64_t i = 0; i < from.size(); ++i) {
            store(to, i, static_cast<double>(load<float>(from, i)));
        }
    } else {
        for (int64_t i = 0; i < from.size(); ++i) to.set_real(i, from.real(i));
    }
    return std::nullopt;
}

Misfit between_integers(const Tensor& from, Tensor& to) {
    return with_integer_type(from.dtype(), [&](auto source) {
        return with_integer_type(to.dtype(), [&](auto target) -> Misfit {
            for (int64_t i = 0; i < from.size(); ++i) {
                const auto value = load<decltype(source)>(from, i);
                if (!std::in_range<decltype(target)>(value)) return i;
                store(to, i, static_cast<decltype(target)>(value));
            }
            return std::nullopt;
        });
    });
}

// Whether the whole real number lies in the range of the integer type.
template <class T>
bool holds(double value) {
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return value < end && value >= (std::is_signed_v<T> ? -end : 0.0);
}

Misfit real_to_integer(const Tensor& from, Tensor& to) {
    return with_integer_type(to.dtype(), [&](auto target) -> Misfit {
        using T = decltype(target);
        for (int64_t i = 0; i < from.size(); ++i) {
            const double value = from.real(i);
            if (std::trunc(value) != value || !holds<T>(value)) return i;
            store(to, i, static_cast<T>(value));
        }
        return std::nullopt;
    });
}

Misfit integer_to_real(const Tensor& from, Tensor& to) {
    return with_integer_type(from.dtype(), [&](auto source) -> Misfit {
        using T = decltype(source);
        for (int64_t i = 0; i < from.size(); ++i) {
            const T value = load<T>(from, i);
            to.set_real(i, static_cast<double>(value));
            const double stored = to.real(i);
            if (!holds<T>(stored) || static_cast<T>(stored) != value) return i;
        }
        return std::nullopt;
    });
}

Misfit from_bool(const Tensor& from, Tensor& to) {
    for (int64_t i = 0; i < from.size(); ++i) to.set_integer(i, from.integer(i));
    return std::nullopt;
}

Misfit to_bool(const Tensor& from, Tensor& to) {
    for (int64_t i = 0; i < from.size(); ++i) {
        const double value = from.real(i);
        if (value != 0 && value != 1) return i;
        to.set_integer(i, value == 1);
    }
    return std::nullopt;
}

Misfit fill(const Tensor& from, Tensor& to) {
    const Kind source = kind_of(from.dtype());
    const Kind target = kind_of(to.dtype());
    if (source == Kind::Bool) return from_bool(from, to);
    if (target == Kind::Bool) return to_bool(from, to);
    if (source == Kind::Real) {
        return target == Kind::Real ? between_reals(from, to) : real_to_integer(from, to);
    }
    return target == Kind::Real ? integer_to_real(from, to) : between_integers(from, to);
}

std::string value_text(const Tensor& tensor, int64_t element) {
    if (is_real(tensor.dtype())) return fmt::format("{}", tensor.real(element));
    if (tensor.dtype() == DType::U64) return fmt::format("{}", load<uint64_t>(tensor, element));
    return fmt::format("{}", tensor.integer(element));
}

}  // namespace

std::string element_text(const Shape& shape, int64_t element) {
    Shape place(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
        place[axis] = element % shape[axis];
        element /= shape[axis];
    }
    return place.empty() ? "the element" : "element " + shape_text(place);
}

std::unexpected<Error> does_not_fit(const Tensor& tensor, int64_t element, std::string_view what) {
    return std::unexpected(Error{fmt::format("{} is {}, which {} cannot hold",
                                             element_text(tensor.shape(), element),
                                             value_text(tensor, element),
                                             what)});
}

Result<Tensor> convert(const Tensor& tensor, DType dtype, KindChange change) {
    if (tensor.dtype() == dtype) return tensor;
    const Kind from = kind_of(tensor.dtype());
    const Kind to = kind_of(dtype);
    if (from == Kind::Str || to == Kind::Str || (from != to && change == KindChange::Refuse)) {
        return std::unexpected(Error{fmt::format("a tensor of {} cannot become one of {}",
                                                 dtype_name(tensor.dtype()),
                                                 dtype_name(dtype))});
    }
    LEMMA_TRY(Tensor result, Tensor::zeros(dtype, tensor.shape()));
    if (const Misfit misfit = fill(tensor, result)) {
        return does_not_fit(tensor, *misfit, dtype_name(dtype));
    }
    return result;
}

IntegerRange integer_range(DType dtype) {
    const int64_t bits = 8 * dtype_size(dtype);
    if (!is_integer(dtype) || bits == 64) {
        const bool natural = is_integer(dtype) && !is_signed(dtype);
        return {natural ? 0 : std::numeric_limits<int64_t>::min(),
                std::numeric_limits<int64_t>::max()};
    }
    const int64_t count = int64_t{1} << (is_signed(dtype) ? bits - 1 : bits);
    return {is_signed(dtype) ? -count : 0, count - 1};
}

}  // namespace lemma::tensor
