// SPDX-License-Identifier: Apache-2.0
// Decides which bytes of a model's file are held at once: all but the elements of large tensors.
#include <algorithm>
#include <optional>
#include <vector>

#include "onnx/fields.h"
#include "onnx/read.h"
#include "tensor/files/mapped_file.h"

namespace lemma::onnx {

namespace {

constexpr size_t kSmallFile = size_t{1} << 20;
constexpr size_t kLeastRead = size_t{1} << 14;
constexpr size_t kMostRead = size_t{1} << 22;

enum class Message : uint8_t { Model, Graph, Tensor };

// Walks through the file once and holds the bytes it reads.
class Holder {
public:
    explicit Holder(std::string_view file) : file_(file) {}

    Result<void> hold() { return walk(Message::Model, 0, file_.size()); }
    // The file without the elements of large tensors.
    std::vector<std::string_view> parts() const;

private:
    // Holds everything before `end` that was not skipped.
    Result<void> reach(size_t end);
    Result<void> walk(Message message, size_t begin, size_t end);
    Result<std::optional<uint64_t>> varint(size_t& at, size_t end);
    static std::optional<Message> inside(Message message, uint64_t field);

    std::string_view file_;
    size_t held_ = 0;  // up to here
    size_t next_read_ = kLeastRead;
    std::vector<std::string_view> elements_;
};

std::vector<std::string_view> Holder::parts() const {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    for (const std::string_view elements : elements_) {
        const auto end = static_cast<size_t>(elements.data() - file_.data());
        parts.push_back(file_.substr(begin, end - begin));
        begin = end + elements.size();
    }
    parts.push_back(file_.substr(begin));
    return parts;
}

Result<void> Holder::reach(size_t end) {
    if (end <= held_) return {};
    const size_t to = std::min(std::max(end, held_ + next_read_), file_.size());
    next_read_ = std::min(2 * next_read_, kMostRead);
    auto done = tensor::hold_bytes(file_.substr(held_, to - held_));
    held_ = to;
    return done;
}

std::optional<Message> Holder::inside(Message message, uint64_t field) {
    if (message == Message::Model && field == model_field::Graph) return Message::Graph;
    if (message == Message::Graph && field == graph_field::Initializer) return Message::Tensor;
    return std::nullopt;
}

// Empty if there is none.
Result<std::optional<uint64_t>> Holder::varint(size_t& at, size_t end) {
    constexpr size_t kLongest = 10;
    LEMMA_TRY(reach(std::min(at + kLongest, end)));
    uint64_t value = 0;
    for (size_t i = 0; i < kLongest && at < end; ++i) {
        const auto byte = static_cast<uint8_t>(file_[at++]);
        value |= uint64_t{byte & 0x7FU} << (7 * i);
        if (byte < 0x80) return value;
    }
    return std::nullopt;
}

// Malformed parts are held to the end: the reader of the model reports them.
Result<void> Holder::walk(Message message, size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
        LEMMA_TRY(const auto key, varint(at, end));
        const uint64_t type = key.value_or(0) & 7;
        if (!key || type == 3 || type == 4) return reach(end);
        std::optional<uint64_t> bytes = type == 1 ? 8 : 4;
        if (type == 0 || type == 2) {
            LEMMA_TRY(bytes, varint(at, end));
            if (type == 0 && bytes) bytes = 0;
        }
        if (!bytes || *bytes > end - at) return reach(end);
        const size_t behind = at + static_cast<size_t>(*bytes);
        const auto part = type == 2 ? inside(message, *key >> 3) : std::nullopt;
        const bool elements = message == Message::Tensor && *key >> 3 == tensor_field::Raw &&
                              *bytes >= uint64_t{kLargeElements} && type == 2;
        if (part) {
            LEMMA_TRY(walk(*part, at, behind));
        } else if (elements) {
            elements_.push_back(file_.substr(at, behind - at));
            held_ = std::max(held_, behind);
            next_read_ = kLeastRead;
        } else {
            LEMMA_TRY(reach(behind));
        }
        at = behind;
    }
    return {};
}

}  // namespace

Result<std::vector<std::string_view>> hold_model(const tensor::SharedBytes& bytes) {
    if (bytes->size() <= kSmallFile) {
        LEMMA_TRY(tensor::hold_bytes(*bytes));
        return std::vector<std::string_view>{*bytes};
    }
    Holder holder(*bytes);
    LEMMA_TRY(holder.hold());
    return holder.parts();
}

}  // namespace lemma::onnx
