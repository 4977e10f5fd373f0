// SPDX-License-Identifier: Apache-2.0
// The functions of the public header that inspect a model.
#include <algorithm>

#include "api/model.h"
#include "api/report.h"

namespace lemma::api {

int hand_over(lemma_model& model, model::Finding& finding, lemma_report** report) {
    if (!report || !has_news(finding)) return finding.status;
    const std::lock_guard lock(model.places);
    std::swap(finding.sources, model.texts);
    const int status = hand_over(finding, report);
    std::swap(finding.sources, model.texts);
    return status;
}

}  // namespace lemma::api

const char* lemma_model_name(const lemma_model* model) {
    return model ? model->program().name.c_str() : "";
}

const char* lemma_model_format(const lemma_model* model) {
    using lemma::model::Format;
    if (!model) return "";
    switch (model->loaded->format()) {
        case Format::Onnx:
            return "onnx";
        case Format::Nnef1:
            return "nnef1";
        case Format::SkriptND:
            break;
    }
    return "sknd";
}

int lemma_model_engine(const lemma_model* model) {
    if (!model) return LEMMA_AUTO;
    return model->loaded->code() ? LEMMA_COMPILE : LEMMA_INTERPRET;
}

const char* lemma_model_target(const lemma_model* model) {
    return model ? model->target.c_str() : "";
}

const char* lemma_model_engine_reason(const lemma_model* model) {
    return model ? model->loaded->engine_reason().c_str() : "";
}

size_t lemma_count(const lemma_model* model, int group) {
    const auto* const all = model ? model->about.group(group) : nullptr;
    return all ? all->size() : 0;
}

const lemma_tensor_info* lemma_info(const lemma_model* model, int group, size_t index) {
    return index < lemma_count(model, group) ? &(*model->about.group(group))[index].view : nullptr;
}

size_t lemma_find(const lemma_model* model, int group, const char* name) {
    const auto* const all = model && name ? model->about.group(group) : nullptr;
    if (!all) return SIZE_MAX;
    const auto found = std::ranges::find(*all, name, &lemma::api::TensorDeclaration::name);
    return found != all->end() ? static_cast<size_t>(found - all->begin()) : SIZE_MAX;
}

size_t lemma_operation_count(const lemma_model* model) {
    return model ? model->about.operations.size() : 0;
}

const char* lemma_operation_name(const lemma_model* model, size_t index) {
    const bool there = index < lemma_operation_count(model);
    return there ? model->about.operations[index].op.c_str() : "";
}

const char* lemma_operation_label(const lemma_model* model, size_t index) {
    const bool there = index < lemma_operation_count(model);
    return there ? model->about.operations[index].label.c_str() : "";
}
