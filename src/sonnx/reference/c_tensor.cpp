#include "sonnx/reference/c_tensor.h"

#include <fmt/format.h>

namespace lemma::sonnx::reference {

const CType* c_type(int64_t onnx_type) {
    static const std::map<int64_t, CType> kTypes = {
        {1, {"float", true, 4}},
        {2, {"uint8_t", false, 1}},
        {3, {"int8_t", false, 1}},
        {4, {"uint16_t", false, 2}},
        {5, {"int16_t", false, 2}},
        {6, {"int32_t", false, 4}},
        {7, {"int64_t", false, 8}},
        {9, {"uint8_t", false, 1}},  // bool: 0 and 1
        {11, {"double", true, 8}},
        {12, {"uint32_t", false, 4}},
        {13, {"uint64_t", false, 8}},
    };
    const auto found = kTypes.find(onnx_type);
    return found == kTypes.end() ? nullptr : &found->second;
}

std::string declaration(const CTensor& tensor) {
    std::string text = fmt::format("{} {}", tensor.type->name, tensor.name);
    for (const int64_t extent : tensor.extents) text += fmt::format("[{}]", extent);
    return text;
}

std::string element(const CTensor& tensor, const std::vector<std::string>& indices) {
    std::string text = tensor.name;
    for (const std::string& index : indices) text += fmt::format("[{}]", index);
    return text;
}

std::string elements(const CTensor& tensor) {
    std::string text = tensor.name;
    for (const int64_t extent : tensor.extents) text += fmt::format("[0 .. {}]", extent - 1);
    return text;
}

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// The result has no end of a comment, no trigraph and no line splice.
std::string safe_text(std::string_view text) {
    constexpr size_t kMaxShown = 200;
    std::string safe;
    for (const char c : text.substr(0, kMaxShown)) {
        const bool fine =
            is_letter(c) || is_digit(c) || std::string_view(" .,-_:/()[]").contains(c);
        safe += fine ? c : '_';
    }
    return safe;
}

std::string NameMaker::tensor_name(const std::string& onnx_name) {
    constexpr size_t kMaxLetters = 40;  // C99 distinguishes at least 31 letters of external names
    std::string name = "t_";
    for (const char c : onnx_name.substr(0, kMaxLetters))
        name += is_letter(c) || is_digit(c) ? c : '_';
    return taken_.make(name);
}

}  // namespace lemma::sonnx::reference
