// SPDX-License-Identifier: Apache-2.0
// lsp/rpc/message.h — JSON-RPC 2.0: incoming messages, and the texts of answers.
#pragma once

#include <expected>
#include <string>

#include "lsp/rpc/json.h"

namespace lemma::lsp {

// Codes of JSON-RPC and of the protocol.
enum ErrorCode : int {
    kParseError = -32700,
    kInvalidRequest = -32600,
    kMethodNotFound = -32601,
    kInvalidParams = -32602,
    kInternalError = -32603,
    kNotInitialized = -32002,
    kRequestFailed = -32803,
    kRequestCancelled = -32800,
};

struct RpcError {
    int code = kInternalError;
    std::string message;
};
using Answer = std::expected<Json, RpcError>;

inline std::unexpected<RpcError> refused(int code, std::string message) {
    return std::unexpected(RpcError{code, std::move(message)});
}

enum class MessageKind : uint8_t { Request, Notification, Response };

struct Message {
    MessageKind kind{};
    Json id;  // a number or a text; null for notifications
    std::string method;
    Json params;
};

// The error has the id of the message, or null if it has none.
struct BadMessage {
    Json id;
    RpcError error;
};
std::expected<Message, BadMessage> read_message(const std::string& body);

std::string answer_text(const Json& id, const Answer& answer);
std::string notification_text(const std::string& method, Json params);
std::string request_text(int64_t id, const std::string& method, Json params);

}  // namespace lemma::lsp
