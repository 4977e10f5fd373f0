#include "driver/convert/convert.h"

#include <fmt/format.h>

#include <filesystem>

namespace lemma::driver {

Result<tensor::Tensor> variable_data(const LoadedModel& model, const ir::Tensor& variable) {
    LEMMA_TRY(auto data, model.data(variable));
    if (data) return std::move(*data);
    return std::unexpected(Error{fmt::format(
        "the variable `{}` has no data (--no-data converts the graph alone)", variable.name)});
}

Result<void> make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (!failed) return {};
    return std::unexpected(
        Error{fmt::format("cannot make the folder `{}`: {}", folder, failed.message())});
}

}  // namespace lemma::driver
