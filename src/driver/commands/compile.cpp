#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "base/version.h"
#include "diag/utf8.h"
#include "driver/certified.h"
#include "driver/commands/command.h"
#include "driver/compile/object.h"
#include "driver/options.h"
#include "emit/fast/fast.h"
#include "emit/intrinsics.h"
#include "engine/freeze.h"
#include "model/files.h"
#include "session/session.h"
#include "sonnx/sha256.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

enum class Form { Certified, Fast };

class Compile final : public Command {
public:
    explicit Compile(bool reference) : reference_(reference) {}

    std::string name() const override { return reference_ ? "reference" : "compile"; }
    std::string summary() const override {
        return reference_ ? "the same as `lemma compile --form=certified`"
                          : "writes a model as C code";
    }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<void> write(model::Finding& finding) const;
    Result<std::vector<emit::CFile>> certified(session::Session& session,
                                               model::Finding& finding) const;
    Result<std::vector<emit::CFile>> fast(const session::Session& session,
                                          model::Finding& finding) const;
    Result<std::map<std::string, session::Session::ShapeRange>> given_shapes() const;
    bool to_object() const { return !reference_ && is_object_file(out_); }
    std::string origin() const;

    bool reference_;  // the older name of the certified form
    std::string model_;
    std::string out_;
    std::string prefix_ = "model";
    Form form_ = Form::Certified;
    std::vector<std::string> shapes_;
    CertifiedOptions certified_;
    session::SessionOptions options_;
    ProblemStyle style_;
};

void Compile::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelHelp);
    arguments.group("Output");
    if (reference_) {
        arguments.text("-o,--output", out_, "DIR", "folder to write (.)");
    } else {
        arguments.text("-o,--output",
                       out_,
                       "DIR|FILE.o|FILE.so",
                       "folder to write (.); an object file or a shared library: the fast form as "
                       "machine code, with its header FILE.h");
        const Choices<Form> forms = {{"certified", Form::Certified}, {"fast", Form::Fast}};
        arguments.choice(
            "--form",
            form_,
            forms,
            "certified: C99 with contracts, for proofs; fast: C with vectors (certified)");
        arguments.text("--target",
                       options_.compile.target,
                       "NAME",
                       "processor of the fast form: generic, avx2, avx512 or neon (this one)");
        declare_numerics(
            arguments, options_.compile.numerics, "precision of the fast form (default)");
        arguments.texts("--shape",
                        shapes_,
                        "NAME=1..8x3x224x224",
                        "the shape of an input with runtime extents, in the fast form; `1..8` "
                        "leaves an extent to each run, within these bounds");
    }
    arguments.text("--name", prefix_, "NAME", "prefix of files and functions (model)");
    arguments.group("Input");
    arguments.texts(
        "-i,--input", options_.inputs, "[NAME=]FILE", "the value of an input that decides shapes");
    declare_certified(arguments, certified_);
    declare_loading(arguments, options_);
    declare_problem_style(arguments, style_);
    arguments.remark(
        "Writes NAME.c and NAME.h, the constants in weights*.c, the arithmetic in sx.c, an example "
        "in main.c, "
        "a Makefile, and NAME.json with the names of inputs and outputs. The same model gives the "
        "same bytes.");
    if (reference_) {
        arguments.example("lemma reference net.onnx -o code", "Writes certified C to a folder.");
        return;
    }
    arguments.example("lemma compile net.onnx -o code", "Writes certified C99 to a folder.");
    arguments.example("lemma compile net.onnx --form=fast --target=avx2 -o code",
                      "Writes C with vectors for a processor.");
    arguments.example("lemma compile net.onnx --name=net -o libnet.so",
                      "Writes a shared library and its header libnet.h.");
}

std::string Compile::origin() const {
    std::string name = fs::path(model_).filename().string();
    return emit::comment_text(fmt::format("lemma {}, from {}", kVersion, name));
}

Result<std::vector<emit::CFile>> Compile::certified(session::Session& session,
                                                    model::Finding& finding) const {
    auto model = certified_model(session, certified_, prefix_, origin(), finding);
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
Result<std::map<std::string, session::Session::ShapeRange>> Compile::given_shapes() const {
    std::map<std::string, session::Session::ShapeRange> result;
    for (const std::string& text : shapes_) {
        const auto wrong = [&] {
            return std::unexpected(
                Error{fmt::format("`--shape {}` is no shape: write `NAME=1x3x224x224`, or "
                                  "`NAME=1..32x3x224x224` for an extent that each run gives",
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

Result<std::vector<emit::CFile>> Compile::fast(const session::Session& session,
                                               model::Finding& finding) const {
    LEMMA_TRY(const codegen::MachineTarget target, codegen::any_target(options_.compile.target));
    LEMMA_TRY(const auto shapes, given_shapes());
    engine::FreezeOptions wanted;
    wanted.target = target;
    if (!to_object()) {
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
    if (to_object()) {
        LEMMA_TRY(write_object(frozen.plan,
                               target,
                               {.path = out_,
                                .name = prefix_,
                                .origin = origin(),
                                .compiler = session::compiler_options(options_.compile)}));
        return std::vector<emit::CFile>();
    }
    // A C compiler needs about 15 times the memory.
    constexpr size_t kMostConstants = size_t{512} << 20;
    if (frozen.plan.constants.size() > kMostConstants) {
        return std::unexpected(Error{fmt::format(
            "constants of {} MiB are too large for C: write machine code with `-o FILE.o`",
            frozen.plan.constants.size() >> 20)});
    }
    return emit::write_fast(frozen.plan,
                            {.name = prefix_, .origin = origin(), .program = &session.program()});
}

Result<void> Compile::write(model::Finding& finding) const {
    if (!emit::is_identifier(prefix_)) {
        return std::unexpected(
            Error{fmt::format("`{}` is no name for C: give letters, digits and `_`", prefix_)});
    }
    session::SessionOptions options = options_;
    const bool fast_form = form_ == Form::Fast || to_object();
    options.engine = fast_form ? session::EngineKind::Jit : session::EngineKind::Interpret;
    if (fast_form) options.compile.target.clear();  // the session runs nothing
    options.run.accumulate = certified_.precision();
    LEMMA_TRY(const bool kept, keeps_profile(model_, certified_, options, finding));
    if (!kept) return {};
    const auto session = session::Session::open(model_, options, finding);
    if (!session) return {};
    LEMMA_TRY(const auto files, fast_form ? fast(*session, finding) : certified(*session, finding));
    if (finding.diag.has_errors() || to_object()) return {};
    const fs::path folder = out_.empty() ? fs::path(".") : fs::path(out_);
    LEMMA_TRY(tensor::make_folder(folder.string()));
    for (const emit::CFile& file : files) {
        LEMMA_TRY(tensor::write_file((folder / file.name).string(), file.text));
    }
    return {};
}

Outcome Compile::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    if (const auto done = write(finding); !done) {
        finding.fail(done.error());
    } else if (finding.diag.has_errors()) {
        finding.status = model::kWrong;
    }
    return problems_of(std::move(finding), style_, terminal);
}

}  // namespace

std::unique_ptr<Command> compile_command() { return std::make_unique<Compile>(false); }
std::unique_ptr<Command> reference_command() { return std::make_unique<Compile>(true); }

}  // namespace lemma::driver
