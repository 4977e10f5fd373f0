#include "driver/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/open_file.h"
#include "tensor/archive/npz_file.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

using Tensors = std::vector<tensor::NamedTensor>;

constexpr const char* kShownName = "<stdin>";

class Reader {
public:
    explicit Reader(std::istream& input) : input_(input) {}

    Result<Tensors> read(const std::string& path) {
        if (const auto kept = kept_.find(path); kept != kept_.end()) return kept->second;
        LEMMA_TRY(Tensors tensors, read_now(path));
        std::error_code ignored;
        if (!fs::is_regular_file(path, ignored)) kept_[path] = tensors;
        return tensors;
    }

private:
    Result<Tensors> read_now(const std::string& path) {
        if (path != kStandardInput) return tensor::read_tensors(path, FileKind::Any);
        LEMMA_TRY(std::string bytes, read_standard_input(input_));
        return tensor::decode_tensors(std::move(bytes), kShownName);
    }

    std::istream& input_;
    std::map<std::string, Tensors> kept_;
};

}  // namespace

model::InputReader input_reader(std::istream& input) {
    return [reader = std::make_shared<Reader>(input)](const std::string& path) {
        return reader->read(path);
    };
}

Result<void> check_standard_input(const std::vector<std::string>& arguments) {
    const auto named = std::ranges::count_if(arguments, [](const std::string& argument) {
        return argument == kStandardInput || argument.ends_with("=-");
    });
    if (named <= 1) return {};
    return std::unexpected(
        Error{"standard input is named twice; give several inputs as one .npz file"});
}

Result<std::string> read_standard_input(std::istream& input) {
    std::string bytes;
    std::array<char, 1 << 16> buffer;
    while (input.read(buffer.data(), buffer.size()), input.gcount() > 0) {
        bytes.append(buffer.data(), static_cast<size_t>(input.gcount()));
        if (std::ssize(bytes) > kMaxStreamBytes) {
            return cannot_read(kShownName,
                               fmt::format("it has more than {} bytes", kMaxStreamBytes));
        }
    }
    return bytes;
}

}  // namespace lemma::driver
