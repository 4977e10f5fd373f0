// SPDX-License-Identifier: Apache-2.0
#include "driver/standard_model.h"

#include <algorithm>

#include "driver/inputs.h"
#include "model/format_text.h"
#include "tensor/files/mapped_file.h"

namespace lemma::driver {

namespace {

bool is_archive(std::string_view bytes) {
    using namespace std::string_view_literals;
    constexpr size_t kTarMark = 257;
    for (const std::string_view magic : {"PK\x03\x04"sv,
                                         "\x1f\x8b"sv,
                                         "BZh"sv,
                                         "\xfd"
                                         "7zXZ"sv}) {
        if (bytes.starts_with(magic)) return true;
    }
    return bytes.size() > kTarMark && bytes.substr(kTarMark).starts_with("ustar");
}

// A model in ONNX begins with a field of its message, which no text contains.
bool is_text(std::string_view bytes) {
    return std::ranges::none_of(bytes.substr(0, 4096), [](unsigned char c) {
        return c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
    });
}

const char* ending_of(InputFormat format) {
    switch (format) {
        case InputFormat::Nnef1:
            return ".nnef";
        case InputFormat::Onnx:
            return ".onnx";
        case InputFormat::Archive:
            return ".tgz";  // the content decides between archives
        case InputFormat::ByContent:
        case InputFormat::SkriptND:
            break;
    }
    return ".sknd";
}

}  // namespace

void declare_format(Arguments& arguments, InputFormat& format) {
    const Choices<InputFormat> formats = {{"sknd", InputFormat::SkriptND},
                                          {"nnef1", InputFormat::Nnef1},
                                          {"onnx", InputFormat::Onnx},
                                          {"archive", InputFormat::Archive}};
    arguments.choice(
        "--format", format, formats, "format of a model on standard input (by its content)");
}

InputFormat format_of(std::string_view bytes) {
    if (is_archive(bytes)) return InputFormat::Archive;
    if (!is_text(bytes)) return InputFormat::Onnx;
    return model::language_of(bytes) == model::TextLanguage::Nnef1 ? InputFormat::Nnef1
                                                                   : InputFormat::SkriptND;
}

Result<std::vector<tensor::MemoryFile>> standard_model(const std::string& argument,
                                                       std::istream& input,
                                                       InputFormat format) {
    std::vector<tensor::MemoryFile> files;
    if (argument != kStandardInput) return files;
    LEMMA_TRY(std::string bytes, read_standard_input(input));
    if (bytes.empty()) return cannot_read("<stdin>", "it is empty");
    if (format == InputFormat::ByContent) format = format_of(bytes);
    files.push_back({.name = std::string("<stdin>") + ending_of(format),
                     .bytes = tensor::share(std::move(bytes))});
    return files;
}

}  // namespace lemma::driver
