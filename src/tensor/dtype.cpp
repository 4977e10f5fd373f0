// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <array>

namespace lemma::tensor {

namespace {

struct Row {
    std::string_view name;
    int64_t size;
};
constexpr std::array<Row, 14> kRows = {{{"f16", 2},
                                        {"bf16", 2},
                                        {"f32", 4},
                                        {"f64", 8},
                                        {"i8", 1},
                                        {"i16", 2},
                                        {"i32", 4},
                                        {"i64", 8},
                                        {"u8", 1},
                                        {"u16", 2},
                                        {"u32", 4},
                                        {"u64", 8},
                                        {"bool", 1},
                                        {"str", 8}}};

}  // namespace

std::string_view dtype_name(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
    for (size_t i = 0; i < kRows.size(); ++i) {
        if (kRows[i].name == name) return static_cast<DType>(i);
    }
    return std::nullopt;
}

int64_t dtype_size(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }

bool is_real(DType dtype) { return dtype <= DType::F64; }
bool is_integer(DType dtype) { return dtype >= DType::I8 && dtype <= DType::U64; }
bool is_signed(DType dtype) { return dtype >= DType::I8 && dtype <= DType::I64; }

}  // namespace lemma::tensor
