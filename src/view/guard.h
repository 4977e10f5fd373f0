// SPDX-License-Identifier: Apache-2.0
// view/guard.h — who may use the server of a page: the page itself, and nobody else. Other web
// pages in the same browser can send requests to this machine; other users of it can connect.
#pragma once

#include <optional>
#include <string>

#include "view/http.h"

namespace lemma::view {

// 256 random bits as text.
std::string make_token();

// The answer to a request that is refused: it names another host (DNS rebinding), comes from
// another page, or asks for data without the token.
std::optional<HttpResponse> refuse(const HttpRequest& request, int port, const std::string& token);

// Takes the same time for all texts of one length.
bool same_secret(const std::string& a, const std::string& b);

HttpResponse failure(int status, const std::string& message);

}  // namespace lemma::view
