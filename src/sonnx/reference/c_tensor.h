// sonnx/reference/c_tensor.h — the tensors of a model as arrays of a C program.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/unique_names.h"
#include "sonnx/view.h"

namespace lemma::sonnx::reference {

// An element type in C. Only reals have arithmetic.
struct CType {
    std::string_view name;  // `float`
    bool real = false;
    int64_t bytes = 0;
};
// Null for types without a counterpart in C99.
const CType* c_type(int64_t onnx_type);

struct CTensor {
    std::string name;  // `t_x`
    const CType* type = nullptr;
    Extents extents;
};
// `float t_x[1][3]`
std::string declaration(const CTensor& tensor);
// `t_x[n][c]`
std::string element(const CTensor& tensor, const std::vector<std::string>& indices);
// `t_x[0 .. 0][0 .. 2]`, all elements in the notation of contracts.
std::string elements(const CTensor& tensor);

// Keeps letters that are safe in comments and names; others become `_`.
std::string safe_text(std::string_view text);

// Makes valid C names, unique for each tensor.
class NameMaker {
public:
    std::string tensor_name(const std::string& onnx_name);

private:
    UniqueNames taken_;
};

// By the name in the model.
using CTensors = std::map<std::string, CTensor>;

}  // namespace lemma::sonnx::reference
