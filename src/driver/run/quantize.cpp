#include "driver/run/quantize.h"

namespace lemma::driver {

std::shared_ptr<Quantisation> Quantisation::prepare(const LoadedModel& model, Finding& finding) {
    auto quantizers = model.quantizers(model, finding);
    if (!quantizers) {
        finding.status = kWrong;
        return nullptr;
    }
    auto result = std::make_shared<Quantisation>();
    for (auto& [tensor, program] : *quantizers) {
        result->by_tensor_.emplace(tensor, loop::Interpreter(std::move(program)));
    }
    return result;
}

Result<void> Quantisation::apply(const ir::Tensor& tensor, loop::Array& array) {
    const auto found = by_tensor_.find(tensor.name);
    if (found == by_tensor_.end()) return {};
    LEMMA_TRY(auto outputs, found->second.run({{"x", {array}}}));
    array = std::move(outputs.at("y").at(0));
    return {};
}

}  // namespace lemma::driver
