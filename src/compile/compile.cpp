// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "base/version.h"
#include "compile/object.h"
#include "diag/utf8.h"
#include "emit/fast/fast.h"
#include "emit/intrinsics.h"
#include "engine/freeze.h"
#include "tensor/files/file_io.h"

namespace lemma::compile {

namespace {

namespace fs = std::filesystem;

bool to_object(const Request& request) { return !request.folder && is_object_file(request.out); }

std::string origin_of(const Request& request) {
    const std::string name = fs::path(request.model).filename().string();
    return emit::comment_text(fmt::format("lemma {}, from {}", kVersion, name));
}

Result<std::vector<emit::CFile>> certified(const Request& request,
                                           session::Session& session,
                                           model::Finding& finding) {
    auto model =
        certified_model(session, request.certified, request.name, origin_of(request), finding);
    if (!model) return std::vector<emit::CFile>();
    return std::move(model->files);
}

// A number, or the bounds of an extent that each run gives: `1..32`.
std::optional<ir::Interval> read_extent(const char*& at, const char* end) {
    const auto number = [&](int64_t& value) {
        const auto [next, trouble] = std::from_chars(at, end, value);
        at = next;
        return trouble == std::errc() && value >= 0;
    };
    ir::Interval extent{};
    if (!number(extent.low)) return std::nullopt;
    extent.high = extent.low;
    if (std::string_view(at, end).starts_with("..")) {
        at += 2;
        if (!number(extent.high) || extent.high < extent.low) return std::nullopt;
    }
    return extent;
}

// `x=1x3x224x224` or `x=1,3,224,224`; `x=` is a scalar.
Result<std::map<std::string, session::Session::ShapeRange>> given_shapes(
    const std::vector<std::string>& texts) {
    std::map<std::string, session::Session::ShapeRange> result;
    for (const std::string& text : texts) {
        const auto wrong = [&] {
            return std::unexpected(
                Error{fmt::format("`{}` is no shape of an input: write `NAME=1x3x224x224`, or "
                                  "`NAME=1..8x3x224x224` for an extent that each run gives",
                                  diag::printable(text))});
        };
        const size_t equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0) return wrong();
        session::Session::ShapeRange& shape = result[text.substr(0, equals)];
        shape.clear();
        const char* at = text.data() + equals + 1;
        const char* const end = text.data() + text.size();
        while (at != end) {
            const auto extent = read_extent(at, end);
            if (!extent) return wrong();
            shape.push_back(*extent);
            if (at == end) break;
            if ((*at != 'x' && *at != ',') || ++at == end) return wrong();
        }
    }
    return result;
}

Result<std::vector<emit::CFile>> fast(const Request& request,
                                      const session::Session& session,
                                      model::Finding& finding) {
    LEMMA_TRY(const codegen::MachineTarget target,
              codegen::any_target(request.session.compile.target));
    LEMMA_TRY(const auto shapes, given_shapes(request.shapes));
    const bool object = to_object(request);
    engine::FreezeOptions wanted;
    wanted.target = target;
    // The process that loads the code may not have tile registers.
    wanted.target.schedule.byte_tiles = wanted.target.schedule.bf16_tiles = false;
    wanted.target.schedule.byte_dots = object;  // C does not have them
    wanted.target.schedule.bf16_dots &= object;
    if (!object) {
        wanted.integer_powers = true;
        wanted.has_function = [](const ir::Operation& op, const std::vector<tensor::Shape>& in) {
            return emit::intrinsic_call(op, in).has_value();
        };
    }
    LEMMA_TRY(engine::Frozen frozen, session.freeze(wanted, shapes));
    std::vector<emit::Obstacle> obstacles;
    for (const engine::Obstacle& obstacle : frozen.obstacles) {
        obstacles.push_back({obstacle.op, obstacle.why});
    }
    emit::report_obstacles(session.program(), obstacles, finding.diag);
    if (!obstacles.empty()) return std::vector<emit::CFile>();
    if (object) {
        LEMMA_TRY(write_object(frozen.plan,
                               target,
                               {.path = request.out,
                                .name = request.name,
                                .origin = origin_of(request),
                                .compiler = session::compiler_options(request.session.compile)}));
        return std::vector<emit::CFile>();
    }
    // A C compiler needs about 15 times the memory.
    constexpr size_t kMostConstants = size_t{512} << 20;
    if (frozen.plan.constants.size() > kMostConstants) {
        return std::unexpected(Error{fmt::format(
            "constants of {} MiB are too large for C: write machine code with `-o FILE.o`",
            frozen.plan.constants.size() >> 20)});
    }
    return emit::write_fast(
        frozen.plan,
        {.name = request.name, .origin = origin_of(request), .program = &session.program()});
}

Result<void> write(const Request& request, model::Finding& finding) {
    if (!emit::is_identifier(request.name)) {
        return std::unexpected(Error{
            fmt::format("`{}` is no name for C: give letters, digits and `_`", request.name)});
    }
    session::SessionOptions options = request.session;
    const bool fast_form = request.form == Form::Fast || to_object(request);
    options.engine = fast_form ? session::EngineKind::Jit : session::EngineKind::Interpret;
    if (fast_form) options.compile.target.clear();  // the session runs nothing
    options.run.accumulate = request.certified.precision();
    LEMMA_TRY(const bool kept, keeps_profile(request.model, request.certified, options, finding));
    if (!kept) return {};
    const auto session = session::Session::open(request.model, options, finding);
    if (!session) return {};
    LEMMA_TRY(const auto files,
              fast_form ? fast(request, *session, finding) : certified(request, *session, finding));
    if (finding.diag.has_errors() || to_object(request)) return {};
    const fs::path folder = request.out.empty() ? fs::path(".") : fs::path(request.out);
    LEMMA_TRY(tensor::make_folder(folder.string()));
    for (const emit::CFile& file : files) {
        LEMMA_TRY(tensor::write_file((folder / file.name).string(), file.text));
    }
    return {};
}

}  // namespace

void compile_model(const Request& request, model::Finding& finding) {
    if (const auto done = write(request, finding); !done) {
        finding.fail(done.error());
    } else if (finding.diag.has_errors()) {
        finding.status = std::max<int>(finding.status, model::kWrong);
    }
}

}  // namespace lemma::compile
