// SPDX-License-Identifier: Apache-2.0
#include "serve/core/http_api.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "serve/core/json_codec.h"
#include "serve/core/json_reader.h"

namespace lemma::serve {

namespace {

enum class Page : uint8_t {
    None,
    Live,
    Ready,
    Server,
    Metrics,
    Model,
    ModelReady,
    Infer,
};

struct Route {
    Page page = Page::None;
    std::string model;
    std::string version;
};

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    size_t begin = 0;
    while (begin < path.size()) {
        const size_t end = std::min(path.find('/', begin), path.size());
        if (end > begin) parts.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// v2/models/NAME[/versions/VERSION][/ready|/infer]
Route model_route(const std::vector<std::string>& parts) {
    Route route{.page = Page::Model, .model = parts[2]};
    size_t next = 3;
    if (parts.size() >= next + 2 && parts[next] == "versions") {
        route.version = parts[next + 1];
        next += 2;
    }
    if (parts.size() == next) return route;
    if (parts.size() == next + 1 && parts[next] == "ready") {
        route.page = Page::ModelReady;
    } else if (parts.size() == next + 1 && parts[next] == "infer") {
        route.page = Page::Infer;
    } else {
        route.page = Page::None;
    }
    return route;
}

Route route_of(const std::string& path) {
    const std::vector<std::string> parts = parts_of(path);
    if (parts.size() == 1 && parts[0] == "metrics") return {.page = Page::Metrics};
    if (parts.empty() || parts[0] != "v2") return {};
    if (parts.size() == 1) return {.page = Page::Server};
    if (parts.size() == 3 && parts[1] == "health" && parts[2] == "live")
        return {.page = Page::Live};
    if (parts.size() == 3 && parts[1] == "health" && parts[2] == "ready") {
        return {.page = Page::Ready};
    }
    if (parts.size() >= 3 && parts[1] == "models") return model_route(parts);
    return {};
}

HttpResponse with_status(int status, Code code, std::string body) {
    HttpResponse response;
    response.code = code;
    response.status = status;
    response.body = std::move(body);
    return response;
}

HttpResponse readiness(bool ready, std::string body) {
    return with_status(ready ? 200 : 503, ready ? Code::Good : Code::Unavailable, std::move(body));
}

HttpResponse quick_response(Server& server, const Route& route) {
    HttpResponse response;
    switch (route.page) {
        case Page::Live:
            response.body = "{\"live\":true}";
            return response;
        case Page::Ready:
            return readiness(server.ready(), fmt::format("{{\"ready\":{}}}", server.ready()));
        case Page::Server:
            response.body = fmt::format(
                "{{\"name\":\"lemma\",\"version\":\"{}\",\"extensions\":[\"binary_tensor_data\"]}}",
                lemma_version());
            return response;
        case Page::Metrics:
            response.content_type = "text/plain; version=0.0.4";
            response.body = server.metrics_text();
            return response;
        case Page::Model: {
            const auto metadata = server.metadata(route.model, route.version);
            if (!metadata) return failure_response(metadata.error());
            response.body = encode_metadata(*metadata);
            return response;
        }
        case Page::ModelReady: {
            const auto ready = server.model_ready(route.model, route.version);
            if (!ready) return failure_response(ready.error());
            return readiness(
                *ready,
                fmt::format("{{\"name\":{},\"ready\":{}}}", json_string(route.model), *ready));
        }
        case Page::Infer:
        case Page::None:
            break;
    }
    return failure_response({Code::NotFound,
                             "there is no such path; the server has /v2, /v2/health/live, "
                             "/v2/health/ready, /v2/models/NAME[/versions/VERSION][/ready|/infer] "
                             "and /metrics"});
}

Answer<std::optional<size_t>> json_size_of(const HttpRequest& request) {
    if (request.json_size.empty()) return std::nullopt;
    size_t size = 0;
    const char* const end = request.json_size.data() + request.json_size.size();
    const auto read = std::from_chars(request.json_size.data(), end, size);
    if (read.ec != std::errc() || read.ptr != end) {
        return fails(Code::Invalid, "Inference-Header-Content-Length is not a number of bytes");
    }
    return size;
}

HttpResponse inference_response(const Answer<InferResponse>& response) {
    if (!response) return failure_response(response.error());
    auto encoded = encode_response(*response);
    if (!encoded) return failure_response(encoded.error());
    HttpResponse result;
    result.timing = response->timing;
    result.body = std::move(encoded->body);
    result.json_size = encoded->json_size;
    if (encoded->json_size) result.content_type = "application/octet-stream";
    return result;
}

bool needs_token(Page page) {
    return page != Page::Live && page != Page::Ready && page != Page::ModelReady;
}

}  // namespace

HttpResponse failure_response(const Failure& failure) {
    return with_status(http_status(failure.code), failure.code, encode_error(failure.message));
}

std::optional<HttpResponse> early_response(const Server& server, const HttpRequest& request) {
    const Route route = route_of(request.path);
    if (needs_token(route.page) && !server.allowed(request.authorization)) {
        return failure_response(
            {Code::Unauthenticated, "the request needs the header `Authorization: Bearer TOKEN`"});
    }
    const std::string allow = route.page == Page::Infer ? "POST" : "GET, HEAD";
    const bool get = request.method == "GET" || request.method == "HEAD";
    const bool fits = route.page == Page::Infer ? request.method == "POST" : get;
    if (route.page != Page::None && !fits) {
        HttpResponse response = with_status(
            405, Code::Invalid, encode_error(fmt::format("this path takes {} only", allow)));
        response.allow = allow;
        return response;
    }
    if (route.page == Page::Infer && !request.content_encoding.empty() &&
        request.content_encoding != "identity") {
        return with_status(415, Code::Invalid, encode_error("compressed bodies are not supported"));
    }
    return std::nullopt;
}

bool is_quick(const HttpRequest& request) { return route_of(request.path).page != Page::Infer; }

void handle(Server& server, HttpRequest request, std::function<void(HttpResponse)> reply) {
    const Route route = route_of(request.path);
    if (route.page != Page::Infer) return reply(quick_response(server, route));
    const auto json_size = json_size_of(request);
    if (!json_size) return reply(failure_response(json_size.error()));
    auto decoded = decode_request(std::move(request.body), *json_size);
    if (!decoded) return reply(failure_response(decoded.error()));
    decoded->model = route.model;
    decoded->version = route.version;
    decoded->abandoned = std::move(request.abandoned);
    server.infer(std::move(*decoded),
                 [reply](Answer<InferResponse> response) { reply(inference_response(response)); });
}

}  // namespace lemma::serve
