// SPDX-License-Identifier: Apache-2.0
#include "certify/soundness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace lemma::testing_support {

namespace {

using certify::Range;
using interpret::NamedArrays;

class Sampler {
public:
    Sampler(const ir::Program& program,
            const std::map<std::string, certify::InputRange>& ranges,
            uint64_t seed)
        : program_(program), ranges_(ranges), random_(seed) {}

    // Points inside, corners, and points where most elements are at an end, in turn.
    NamedArrays next() {
        NamedArrays arrays;
        const int style = count_++ % 4;
        for (const ir::Port& port : program_.graphs[program_.main].inputs) {
            for (const ir::TensorId id : port.operand.items) {
                arrays[port.name].push_back(array(program_.tensors[id], port.name, style));
            }
        }
        return arrays;
    }

private:
    interpret::Array array(const ir::Tensor& tensor, const std::string& port, int style) {
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) shape.push_back(*program_.symbols.as_int(part));
        interpret::Array made = *interpret::Array::zeros(tensor.dtype, shape);
        auto found = ranges_.find(tensor.name);
        if (found == ranges_.end()) found = ranges_.find(port);
        const auto ranges =
            found == ranges_.end() ? std::vector<Range>{{0, 1}} : found->second.ranges;
        for (size_t i = 0; i < static_cast<size_t>(made.size); ++i) {
            const Range& range = ranges[ranges.size() == 1 ? 0 : i];
            if (!made.reals.empty()) made.reals[i] = real(range, style, tensor.dtype);
            if (!made.integers.empty())
                made.integers[i] = std::uniform_int_distribution<int64_t>(
                    static_cast<int64_t>(std::ceil(range.low)),
                    static_cast<int64_t>(std::floor(range.high)))(random_);
        }
        return made;
    }

    double real(const Range& range, int style, tensor::DType dtype) {
        double part = std::uniform_real_distribution<double>(0, 1)(random_);
        if (style == 1) part = part < 0.5 ? 0 : 1;
        if (style == 2 && part > 0.1) part = part < 0.9 ? 1 : 0;
        const double value = range.low + part * (range.high - range.low);
        if (dtype == tensor::DType::F64) return value;
        auto rounded = static_cast<float>(value);
        if (rounded < range.low) rounded = std::nextafterf(rounded, HUGE_VALF);
        if (rounded > range.high) rounded = std::nextafterf(rounded, -HUGE_VALF);
        return rounded;
    }

    const ir::Program& program_;
    const std::map<std::string, certify::InputRange>& ranges_;
    std::mt19937_64 random_;
    int count_ = 0;
};

template <class Real>
class Judge {
public:
    explicit Judge(Soundness& result) : result_(result) {}

    void judge(const certify::TensorBound& bound,
               Soundness::Output& output,
               const interpret::Array& got,
               const typename ExactRun<Real>::Values& exact,
               size_t lane,
               size_t lanes) {
        for (size_t i = 0; i < bound.elements.size(); ++i) {
            const certify::ElementBound& element = bound.elements[i];
            const bool real = !got.reals.empty();
            const Quad want = real ? static_cast<Quad>(exact.reals[i * lanes + lane])
                                   : static_cast<Quad>(exact.integers[i * lanes + lane]);
            const double computed = real ? got.reals[i] : static_cast<double>(got.integers[i]);
            const Quad distance = computed < want ? want - computed : computed - want;
            const auto error = static_cast<double>(distance);
            output.observed = std::max(output.observed, error);
            if (element.error > 0 && std::isfinite(element.error))
                output.closest = std::max(output.closest, error / element.error);
            const bool inside = want >= element.ideal.low && want <= element.ideal.high &&
                                computed >= element.computed.low &&
                                computed <= element.computed.high;
            // Without a bound, anything is within it.
            if ((distance <= element.error && inside) || std::isinf(element.error)) continue;
            ++result_.violations;
            if (!result_.first.empty()) continue;
            result_.first = fmt::format(
                "{}[{}]: computed {} in [{}, {}], exact {} in [{}, {}], distance {} within {}",
                bound.name,
                i,
                computed,
                element.computed.low,
                element.computed.high,
                static_cast<double>(want),
                element.ideal.low,
                element.ideal.high,
                error,
                element.error);
        }
    }

private:
    Soundness& result_;
};

template <class Real>
Result<Soundness> check(const ir::Program& program,
                        const certify::VariableReader& variables,
                        const Step& step,
                        const std::map<std::string, certify::InputRange>& ranges,
                        const certify::Certificate& certificate,
                        SoundnessOptions options) {
    Soundness result;
    Judge<Real> judge(result);
    for (const certify::TensorBound& bound : certificate.outputs)
        result.outputs.push_back({.name = bound.name, .bound = bound.error});
    ExactRun<Real> exact(program, variables, options.lanes);
    Sampler sampler(program, ranges, options.seed);
    while (result.samples < options.samples) {
        std::vector<NamedArrays> inputs, outputs;
        for (size_t lane = 0; lane < options.lanes; ++lane) {
            inputs.push_back(sampler.next());
            LEMMA_TRY(outputs.emplace_back(), step(inputs.back()));
        }
        LEMMA_TRY(const auto want, exact.run(inputs));
        for (size_t lane = 0; lane < options.lanes; ++lane, ++result.samples) {
            size_t number = 0;
            for (const ir::Port& port : program.graphs[program.main].outputs) {
                for (size_t k = 0; k < port.operand.items.size(); ++k, ++number) {
                    judge.judge(certificate.outputs[number],
                                result.outputs[number],
                                outputs[lane].at(port.name)[k],
                                want.at(program.tensors[port.operand.items[k]].name),
                                lane,
                                options.lanes);
                }
            }
        }
    }
    return result;
}

}  // namespace

Result<Soundness> check_soundness(const ir::Program& program,
                                  const certify::VariableReader& variables,
                                  const Step& step,
                                  const std::map<std::string, certify::InputRange>& ranges,
                                  const certify::Certificate& certificate,
                                  SoundnessOptions options) {
    const auto check =
        options.fast ? testing_support::check<DoubleDouble> : testing_support::check<Quad>;
    return check(program, variables, step, ranges, certificate, options);
}

}  // namespace lemma::testing_support
