// SPDX-License-Identifier: Apache-2.0
#include "view/api.h"

#include <fmt/format.h>

#include <charconv>

#include "view/guard.h"
#include "view/page.h"

namespace lemma::view {

namespace {

constexpr int kMostThreads = 1024;
constexpr size_t kMostAxes = 64;

struct Endpoint {
    const char* path;
    const char* method;
};
constexpr Endpoint kEndpoints[] = {{"/api/document", "GET"},
                                   {"/api/tensor", "GET"},
                                   {"/api/run", "POST"},
                                   {"/api/profile", "POST"},
                                   {"/api/compare", "POST"},
                                   {"/api/memory", "GET"},
                                   {"/api/kernels", "GET"}};

std::optional<int64_t> number_of(std::string_view text) {
    int64_t number = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (trouble != std::errc() || end != text.data() + text.size() || number < 0)
        return std::nullopt;
    return number;
}

std::unexpected<Error> bad(const std::string& message) { return std::unexpected(Error{message}); }

Result<SliceWish> slice_wish(const HttpRequest& request) {
    SliceWish wish;
    if (const auto axis = request.query.find("axis"); axis != request.query.end()) {
        const auto number = number_of(axis->second);
        if (!number) return bad("`axis` is a number");
        wish.axis = static_cast<size_t>(*number);
    }
    const auto index = request.query.find("index");
    if (index == request.query.end()) return wish;
    std::string_view rest = index->second;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(','), rest.size());
        const auto number = number_of(rest.substr(0, end));
        if (!number || wish.index.size() >= kMostAxes)
            return bad("`index` is a list of numbers, such as `0,3`");
        wish.index.push_back(*number);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return wish;
}

// A whole number of the body; the body may be empty.
Result<int64_t> body_number(const HttpRequest& request, const char* key, int64_t otherwise) {
    if (request.body.empty()) return otherwise;
    const Json body = Json::parse(request.body, nullptr, false);
    if (!body.is_object()) return bad("the body is a JSON object");
    const auto found = body.find(key);
    if (found == body.end()) return otherwise;
    if (!found->is_number_integer()) return bad(fmt::format("`{}` is a whole number", key));
    return found->get<int64_t>();
}

void add_security(HttpResponse& response) {
    response.headers.insert(response.headers.end(),
                            {{"X-Content-Type-Options", "nosniff"},
                             {"Cache-Control", "no-store"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"X-Frame-Options", "DENY"}});
    const std::string policy = response.type.starts_with("text/html")
                                   ? fmt::format("{}; frame-ancestors 'none'", kViewerPolicy)
                                   : std::string("default-src 'none'; frame-ancestors 'none'");
    response.headers.emplace_back("Content-Security-Policy", policy);
}

}  // namespace

Api::Api(const ViewedModel& viewed, WorkbenchOptions options, std::string token)
    : document_(compact_text(viewed.document)),
      bench_(viewed, std::move(options)),
      token_(std::move(token)) {}

HttpResponse Api::answer(const HttpRequest& request, int port) {
    HttpResponse response;
    if (auto refused = refuse(request, port, token_)) {
        response = std::move(*refused);
    } else if (request.path == "/") {
        response = request.method == "GET" ? HttpResponse{.type = "text/html; charset=utf-8",
                                                          .body = std::string(kViewerPage)}
                                           : failure(405, "GET only");
        if (response.status == 405) response.headers.emplace_back("Allow", "GET");
    } else {
        response = answer_api(request);
    }
    add_security(response);
    return response;
}

HttpResponse Api::answer_api(const HttpRequest& request) {
    const Endpoint* known = nullptr;
    for (const Endpoint& one : kEndpoints)
        if (request.path == one.path) known = &one;
    if (!known) return failure(404, "no such path");
    if (request.method != known->method) {
        HttpResponse response = failure(405, fmt::format("{} only", known->method));
        response.headers.emplace_back("Allow", known->method);
        return response;
    }
    if (request.path == "/api/document") return {.body = document_};
    const std::lock_guard lock(one_at_a_time_);
    if (ended_) return failure(503, "the server ends");
    const RunControl control(&ended_, 0, {});
    const auto result = work(request, control);
    if (result) return {.body = compact_text(*result)};
    return failure(ended_ ? 503 : 422, result.error().message);
}

Result<Json> Api::work(const HttpRequest& request, const RunControl& control) {
    const std::string what = request.path.substr(5);
    if (what == "tensor") {
        const auto name = request.query.find("name");
        if (name == request.query.end()) return bad("`name` is missing");
        LEMMA_TRY(const SliceWish wish, slice_wish(request));
        return bench_.tensor(name->second, wish);
    }
    if (what == "run") {
        LEMMA_TRY(const int64_t seed, body_number(request, "seed", 1));
        return bench_.run(static_cast<uint64_t>(seed), control);
    }
    if (what == "profile") {
        LEMMA_TRY(const int64_t threads, body_number(request, "threads", 1));
        if (threads < 1 || threads > kMostThreads)
            return bad(fmt::format("`threads` is from 1 to {}", kMostThreads));
        return bench_.profile(static_cast<int>(threads), control);
    }
    if (what == "compare") return bench_.compare(control);
    if (what == "memory") return bench_.memory(control);
    std::optional<uint32_t> operation;
    if (const auto given = request.query.find("operation"); given != request.query.end()) {
        const auto number = number_of(given->second);
        if (!number || *number > UINT32_MAX) return bad("`operation` is the id of an operation");
        operation = static_cast<uint32_t>(*number);
    }
    return bench_.kernels(operation, control);
}

}  // namespace lemma::view
