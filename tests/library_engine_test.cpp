// SPDX-License-Identifier: Apache-2.0
// library_engine_test [--all] [--strict] [--device=NAME] [FILTER…]: the operators of the standard
// library in compiled code, against the interpreter. Each case of tests/stdlib/*/*.numbers runs
// with random values, and some (with `--all` every case) also with larger shapes. With `--strict`,
// strict code must have the interpreter's bits, with sums in f64 and in f32. With a device, such as
// `test` (support/test_device.h) or `cuda`, kernels run there. With filters, only files whose path
// contains one of them.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "codegen/compiler.h"
#include "interpret/random.h"
#include "loop/plan/plan.h"
#include "support/number_engine.h"
#include "support/number_files.h"
#include "support/number_run.h"
#include "support/number_variant.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSeed = 7;
constexpr Growth kGrowths[] = {Growth::All, Growth::Axis, Growth::Extent};
// Compiling is slow, so one in this many variants is tried. All variants with weights are tried,
// because they have the tiled sums.
constexpr uint64_t kOneOf = 8;
// The interpreter is slow, too.
constexpr double kMostSteps = 4e5;

class LibraryTest {
public:
    LibraryTest(bool all, bool strict, std::string device, std::string cache_folder)
        : all_(all),
          strict_(strict),
          device_(std::move(device)),
          cache_folder_(std::move(cache_folder)) {}

    void test_cases(const std::string& name,
                    const std::vector<NumberCase>& cases,
                    NumberCounts& counts) const {
        for (const NumberCase& test : cases) {
            if (!test.steps.front().samples.empty()) continue;  // random results differ
            uint64_t seed = kSeed;
            for (const char c : name + test.compose + test.name) {
                seed = interpret::mix_bits(seed + static_cast<uint8_t>(c));
            }
            test_case(name, test, seed, counts);
            if ((strict_ || !device_.empty()) && !all_) continue;  // they take long
            const auto weighty = with_weights(test);
            if (weighty) test_case(name, *weighty, seed, counts);
            for (size_t i = 0; i < std::size(kGrowths); ++i) {
                const uint64_t own = interpret::random_bits(seed, i);
                if (all_ || own % kOneOf == 0) test_variant(name, test, kGrowths[i], own, counts);
                if (weighty) test_variant(name, *weighty, kGrowths[i], own, counts);
            }
        }
    }

private:
    void test_case(const std::string& name,
                   const NumberCase& test,
                   uint64_t seed,
                   NumberCounts& counts) const {
        auto program = compose_numbers(test);
        if (!program) return fail(name, test, program.error().message, counts);
        const EngineReport report = compare(test, std::move(*program), seed);
        if (report.outcome == EngineOutcome::Differs) return fail(name, test, report.text, counts);
        count_steps(report, counts);
        // Where the file expects an error, the engine must fail, too.
        const bool refused = report.outcome == EngineOutcome::Refused;
        if (refused && test.steps.front().error.empty()) {
            return fail(name, test, report.text, counts);
        }
        ++counts.passed;
    }

    void test_variant(const std::string& name,
                      const NumberCase& test,
                      Growth growth,
                      uint64_t seed,
                      NumberCounts& counts) const {
        auto factor = static_cast<int64_t>(2 + (seed >> 32) % 6);
        for (; factor > 1; factor = factor / 2) {
            const auto larger = grown(test, growth, factor, seed);
            if (!larger) continue;
            auto program = compose_numbers(*larger);
            if (!program) break;
            if (test.declared.empty() && loop::steps_of(*program, kMostSteps) >= kMostSteps) {
                continue;
            }
            const EngineReport report = compare(*larger, std::move(*program), seed);
            if (report.outcome == EngineOutcome::Refused) break;
            ++counts.varied;
            count_steps(report, counts);
            if (report.outcome == EngineOutcome::Agrees) {
                ++counts.passed;
            } else {
                fail(name, *larger, report.text, counts);
            }
            return;
        }
        ++counts.refused;
    }

    EngineReport compare(const NumberCase& test, ir::Program program, uint64_t seed) const {
        EngineRun run{seed, cache_folder_};
        run.device = device_;
        return strict_ ? compare_strict(test, std::move(program), run)
                       : compare_engine(test, std::move(program), run);
    }

    static void count_steps(const EngineReport& report, NumberCounts& counts) {
        counts.kernels += report.kernels;
        counts.tiled += report.tiled;
        counts.interpreted += report.interpreted;
        counts.direct += report.direct;
        counts.on_device += report.on_device;
    }

    void fail(const std::string& name,
              const NumberCase& test,
              const std::string& report,
              NumberCounts& counts) const {
        ++counts.failed;
        std::string shapes;
        for (const NumberTensor& input : test.steps.front().inputs) {
            shapes += fmt::format(" {}{}: {}{}",
                                  test.weights.contains(input.name) ? "weight " : "",
                                  input.name,
                                  input.type,
                                  tensor::shape_text(input.values.shape));
        }
        say(fmt::format("FAILED {}:{}: {}\n{}with{}\n{}\n",
                        name,
                        test.line,
                        test.name,
                        test.compose,
                        shapes,
                        report));
    }

    bool all_, strict_;
    std::string device_;
    std::string cache_folder_;
};

int run(std::vector<std::string> filters) {
    const bool all = std::erase(filters, "--all") > 0;
    const bool strict = std::erase(filters, "--strict") > 0;
    std::string device;
    std::erase_if(filters, [&](const std::string& word) {
        constexpr std::string_view kDevice = "--device=";
        if (!word.starts_with(kDevice)) return false;
        device = word.substr(kDevice.size());
        return true;
    });
    std::string folder = (fs::temp_directory_path() / "library_engine_test.XXXXXX").string();
    if (!::mkdtemp(folder.data())) return 2;
    // Loaded here once, instead of in the process of each file.
    if (const auto compiler = codegen::Compiler::create(); !compiler) {
        say(compiler.error().message + "\n");
        return 2;
    }
    const LibraryTest test(all, strict, device, folder);
    const NumberCounts counts = test_number_files(
        filters,
        [&](const auto& name, const auto& cases, auto& to) { test.test_cases(name, cases, to); });
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    say(fmt::format(
        "{} with other shapes, of {} that were tried ({} of those there are), seed {}\n",
        counts.varied,
        counts.varied + counts.refused,
        all ? "all" : fmt::format("one in {}", kOneOf),
        kSeed));
    say(fmt::format(
        "{} kernels, {} of them tiled; {} operations left to the interpreter; {} direct runs\n",
        counts.kernels,
        counts.tiled,
        counts.interpreted,
        counts.direct));
    if (!device.empty()) say(fmt::format("{} kernels on the device\n", counts.on_device));
    say(fmt::format("{} passed, {} failed\n", counts.passed, counts.failed));
    return counts.failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) { return lemma::testing::run({argv + 1, argv + argc}); }
