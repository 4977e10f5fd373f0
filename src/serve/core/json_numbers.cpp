// SPDX-License-Identifier: Apache-2.0
#include "serve/core/json_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>

#include "serve/core/json_reader.h"

namespace lemma::serve {

namespace {

// Calls `use` with a value of the C++ type of numbers; false for types without a JSON form.
template <class Use>
bool with_number_type(int type, const Use& use) {
    switch (type) {
        case LEMMA_F32:
            use(float());
            return true;
        case LEMMA_F64:
            use(double());
            return true;
        case LEMMA_I8:
            use(int8_t());
            return true;
        case LEMMA_I16:
            use(int16_t());
            return true;
        case LEMMA_I32:
            use(int32_t());
            return true;
        case LEMMA_I64:
            use(int64_t());
            return true;
        case LEMMA_U8:
            use(uint8_t());
            return true;
        case LEMMA_U16:
            use(uint16_t());
            return true;
        case LEMMA_U32:
            use(uint32_t());
            return true;
        case LEMMA_U64:
            use(uint64_t());
            return true;
        default:
            return false;
    }
}

std::unexpected<Failure> no_json_form(const TensorValue& value) {
    return fails(Code::Invalid,
                 fmt::format("`{}` is of type {}, which JSON cannot express; use binary data "
                             "(`binary_data_size` for inputs, `binary_data` for outputs)",
                             value.name,
                             datatype_name(value.type)));
}

// Visits the elements of a flat array, or of one that is nested as the shape.
class Elements {
public:
    Elements(std::string_view array, const TensorValue& value) : reader_(array), value_(value) {}

    // `read` takes an element from the reader.
    template <class Read>
    Answer<void> visit(const Read& read) {
        nested(0, read);
        reader_.end();
        if (reader_.failed()) {
            return fails(
                Code::Invalid,
                fmt::format("the data of `{}`: {}", value_.name, reader_.failure().message));
        }
        const auto wanted = volume(value_.shape);
        if (!wanted || *wanted != count_) {
            return fails(Code::Invalid,
                         fmt::format("the input `{}` of shape {} has {} elements in its data",
                                     value_.name,
                                     shape_text(value_.shape),
                                     count_));
        }
        return {};
    }

private:
    template <class Read>
    void nested(size_t depth, const Read& read) {
        int64_t items = 0;
        bool arrays = false;
        for (bool more = reader_.first('[', ']'); more; more = reader_.next(']'), ++items) {
            const bool array = reader_.peek() == '[';
            if (items > 0 && array != arrays) reader_.fail("arrays and elements are mixed");
            arrays = array;
            if (!array) {
                read(reader_);
                ++count_;
            } else if (depth + 1 >= value_.shape.size()) {
                reader_.fail("the data has more axes than the shape");
            } else {
                nested(depth + 1, read);
            }
            if (reader_.failed()) return;
        }
        // A flat array has all elements on the outermost level.
        const bool flat = depth == 0 && !arrays;
        if (!flat && items != value_.shape[depth]) {
            reader_.fail(fmt::format("axis {} has {} items, but the shape is {}",
                                     depth,
                                     items,
                                     shape_text(value_.shape)));
        } else if (!flat && !arrays && depth + 1 != value_.shape.size() && items > 0) {
            reader_.fail("the data has fewer axes than the shape");
        }
    }

    JsonReader reader_;
    const TensorValue& value_;
    int64_t count_ = 0;
};

template <class T>
T read_number(JsonReader& reader) {
    const std::string_view text = reader.number();
    T number = 0;
    if (reader.failed()) return number;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc::result_out_of_range && std::is_floating_point_v<T>) {
        // Too large or too small for the type. The smallest numbers round to zero.
        double wide = 0;
        const auto again = std::from_chars(text.data(), end, wide);
        const bool tiny = again.ec == std::errc()
                              ? std::abs(wide) < 1
                              : text.find("e-") != std::string_view::npos ||
                                    text.find("E-") != std::string_view::npos ||
                                    text.starts_with("0.") || text.starts_with("-0.");
        if (tiny) return static_cast<T>(text.starts_with('-') ? -0.0 : 0.0);
    }
    if (read.ec != std::errc() || read.ptr != end) {
        reader.fail(fmt::format("`{}` is not a number of this datatype", text.substr(0, 40)));
    }
    return number;
}

// Elements never outnumber the characters of their text, so the text bounds the memory.
template <class T, class Read>
Answer<void> read_vector(std::string_view array, TensorValue& value, const Read& read) {
    auto numbers = std::make_shared<std::vector<T>>();
    const auto wanted = volume(value.shape);
    if (wanted && static_cast<uint64_t>(*wanted) <= array.size()) {
        numbers->reserve(static_cast<size_t>(*wanted));
    }
    auto done =
        Elements(array, value).visit([&](JsonReader& reader) { numbers->push_back(read(reader)); });
    if (!done) return done;
    value.data = numbers->data();
    value.size = numbers->size() * sizeof(T);
    value.owner = std::move(numbers);
    return {};
}

uint8_t read_bool(JsonReader& reader) {
    const char first = reader.peek();
    if (first == 't' || first == 'f') return reader.boolean() ? 1 : 0;
    const int64_t number = reader.integer();
    if (number != 0 && number != 1) reader.fail("a BOOL is neither true nor false");
    return number == 1 ? 1 : 0;
}

}  // namespace

Answer<void> read_elements(std::string_view array, TensorValue& value) {
    if (value.type == LEMMA_STR) {
        return Elements(array, value).visit([&](JsonReader& reader) {
            value.strings.push_back(reader.string());
        });
    }
    if (value.type == LEMMA_BOOL) return read_vector<uint8_t>(array, value, read_bool);
    Answer<void> done;
    const bool known = with_number_type(value.type, [&](auto number) {
        using T = decltype(number);
        done = read_vector<T>(array, value, read_number<T>);
    });
    return known ? done : no_json_form(value);
}

Answer<void> write_elements(const TensorValue& value, std::string& json) {
    json += '[';
    const char* comma = "";
    const auto put = [&](const auto& element) {
        fmt::format_to(std::back_inserter(json), "{}{}", comma, element);
        comma = ",";
    };
    bool finite = true;
    bool known = true;
    if (value.type == LEMMA_STR) {
        for (const std::string& text : value.strings) put(json_string(text));
    } else if (value.type == LEMMA_BOOL) {
        const auto* const bytes = static_cast<const uint8_t*>(value.data);
        for (size_t i = 0; i < value.size; ++i) put(bytes[i] != 0);
    } else {
        known = with_number_type(value.type, [&](auto number) {
            using T = decltype(number);
            const auto* const numbers = static_cast<const T*>(value.data);
            for (size_t i = 0; i < value.size / sizeof(T); ++i) {
                if constexpr (std::is_floating_point_v<T>)
                    finite = finite && std::isfinite(numbers[i]);
                put(numbers[i]);
            }
        });
    }
    if (!known) return no_json_form(value);
    if (!finite) {
        return fails(Code::Invalid,
                     fmt::format("the output `{}` has infinite numbers or NaN, which JSON cannot "
                                 "express; ask for binary data",
                                 value.name));
    }
    json += ']';
    return {};
}

}  // namespace lemma::serve
