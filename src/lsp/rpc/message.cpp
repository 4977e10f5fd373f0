// SPDX-License-Identifier: Apache-2.0
#include "lsp/rpc/message.h"

#include <utility>

namespace lemma::lsp {

namespace {

bool is_id(const Json& id) { return id.is_number_integer() || id.is_string(); }

std::unexpected<BadMessage> bad(Json id, int code, std::string message) {
    return std::unexpected(BadMessage{std::move(id), {code, std::move(message)}});
}

}  // namespace

std::expected<Message, BadMessage> read_message(const std::string& body) {
    Json value = Json::parse(body, nullptr, false);
    if (value.is_discarded()) return bad(nullptr, kParseError, "the message is not valid JSON");
    if (!value.is_object()) return bad(nullptr, kInvalidRequest, "a message is an object");
    Message message;
    const Json& id = member(value, "id");
    const bool has_id = is_id(id);
    if (!id.is_null() && !has_id)
        return bad(nullptr, kInvalidRequest, "`id` is neither a number nor a text");
    message.id = id;
    if (text_of(member(value, "jsonrpc")) != "2.0")
        return bad(id, kInvalidRequest, "expected `\"jsonrpc\": \"2.0\"`");
    const Json& method = member(value, "method");
    if (!method.is_string()) {
        const bool response = has_id && (value.contains("result") || value.contains("error"));
        if (!response) return bad(id, kInvalidRequest, "a message without a method");
        message.kind = MessageKind::Response;
        return message;
    }
    message.kind = has_id ? MessageKind::Request : MessageKind::Notification;
    message.method = text_of(method);
    const auto params = value.find("params");
    if (params != value.end()) message.params = std::move(*params);
    return message;
}

std::string answer_text(const Json& id, const Answer& answer) {
    Json value = {{"jsonrpc", "2.0"}, {"id", id}};
    if (answer) {
        value["result"] = *answer;
    } else {
        value["error"] = {{"code", answer.error().code}, {"message", answer.error().message}};
    }
    return written(value);
}

std::string notification_text(const std::string& method, Json params) {
    return written({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

std::string request_text(int64_t id, const std::string& method, Json params) {
    return written(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

}  // namespace lemma::lsp
