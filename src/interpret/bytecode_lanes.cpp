// SPDX-License-Identifier: Apache-2.0
// The arithmetic of bytecode: one row of lanes per instruction.
#include <algorithm>
#include <cmath>

#include "interpret/bytecode.h"
#include "ir/program/lane_math.h"

namespace lemma::interpret {

template <class F>
void Bytecode::map1(const Instruction& in, size_t lanes, F f) {
    Register* const __restrict target = at(in.target);
    const Register* const a = at(in.a);
    const size_t step = step_of(in.a);
    for (size_t i = 0; i < lanes; ++i) f(target[i], a[i * step]);
}

// Combines rows with rows, and with values that all lanes share.
template <class F>
void Bytecode::map2(const Instruction& in, size_t lanes, F f) {
    Register* const __restrict target = at(in.target);
    const Register* const __restrict a = at(in.a);
    const Register* const __restrict b = at(in.b);
    if (step_of(in.a) && step_of(in.b)) {
        for (size_t i = 0; i < lanes; ++i) f(target[i], a[i], b[i]);
    } else if (step_of(in.a)) {
        const Register same = *b;
        for (size_t i = 0; i < lanes; ++i) f(target[i], a[i], same);
    } else if (step_of(in.b)) {
        const Register same = *a;
        for (size_t i = 0; i < lanes; ++i) f(target[i], same, b[i]);
    } else {
        for (size_t i = 0; i < lanes; ++i) f(target[i], *a, *b);
    }
}

bool Bytecode::execute(const std::vector<Instruction>& block, size_t lanes) {
    using R = Register;
    for (const Instruction& in : block) {
        switch (in.code) {
            case Code::AddI:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = ir::wrapping_add(a.integer, b.integer);
                });
                break;
            case Code::MulI:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = ir::wrapping_mul(a.integer, b.integer);
                });
                break;
            case Code::DivI:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = ir::total_div(a.integer, b.integer);
                });
                break;
            case Code::ModI:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = ir::total_mod(a.integer, b.integer);
                });
                break;
            case Code::PowI:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = ir::total_pow(a.integer, b.integer);
                });
                break;
            case Code::AddOverflows:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = !checked_add(a.integer, b.integer).has_value();
                });
                break;
            case Code::MulOverflows:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = !checked_mul(a.integer, b.integer).has_value();
                });
                break;
            case Code::PowOverflows:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = b.integer > 0 && !checked_pow(a.integer, b.integer).has_value();
                });
                break;
            case Code::MinI:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = std::min(a.integer, b.integer); });
                break;
            case Code::MaxI:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = std::max(a.integer, b.integer); });
                break;
            case Code::AddR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = a.real + b.real; });
                break;
            case Code::SubR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = a.real - b.real; });
                break;
            case Code::MulR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = a.real * b.real; });
                break;
            case Code::DivR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = a.real / b.real; });
                break;
            case Code::CeilDivR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = ir::real_ceil_div(a.real, b.real); });
                break;
            case Code::ModR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = ir::real_mod(a.real, b.real); });
                break;
            case Code::PowR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = std::pow(a.real, b.real); });
                break;
            case Code::MinR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = ir::real_min(a.real, b.real); });
                break;
            case Code::MaxR:
                map2(in, lanes, [](R& t, R a, R b) { t.real = ir::real_max(a.real, b.real); });
                break;
            case Code::NegR:
                map1(in, lanes, [](R& t, R a) { t.real = -a.real; });
                break;
            case Code::LessEqualI:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.integer <= b.integer; });
                break;
            case Code::EqualI:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.integer == b.integer; });
                break;
            case Code::NotEqualI:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.integer != b.integer; });
                break;
            case Code::LessR:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.real < b.real; });
                break;
            case Code::LessEqualR:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.real <= b.real; });
                break;
            case Code::EqualR:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.real == b.real; });
                break;
            case Code::NotEqualR:
                map2(in, lanes, [](R& t, R a, R b) { t.integer = a.real != b.real; });
                break;
            case Code::And:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = (a.integer != 0) & (b.integer != 0);
                });
                break;
            case Code::Or:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = (a.integer != 0) | (b.integer != 0);
                });
                break;
            case Code::Xor:
                map2(in, lanes, [](R& t, R a, R b) {
                    t.integer = (a.integer != 0) ^ (b.integer != 0);
                });
                break;
            case Code::Not:
                map1(in, lanes, [](R& t, R a) { t.integer = a.integer == 0; });
                break;
            case Code::RealToInt:
                map1(in, lanes, [](R& t, R a) { t.integer = ir::to_int(a.real); });
                break;
            case Code::IntToReal:
                map1(in, lanes, [](R& t, R a) { t.real = static_cast<double>(a.integer); });
                break;
            case Code::IntToFloat:
                map1(in, lanes, [](R& t, R a) { t.real = static_cast<float>(a.integer); });
                break;
            case Code::RoundR:
                map1(in, lanes, [](R& t, R a) { t.real = ir::to_float(a.real); });
                break;
            case Code::RealToBool:
                map1(in, lanes, [](R& t, R a) { t.integer = a.real != 0; });
                break;
            case Code::IntToBool:
                map1(in, lanes, [](R& t, R a) { t.integer = a.integer != 0; });
                break;
            case Code::Function: {
                double (*const function)(double) = functions_[in.b];
                map1(in, lanes, [function](R& t, R a) { t.real = function(a.real); });
                break;
            }
            case Code::AbsI:
                map1(in, lanes, [](R& t, R a) {
                    t.integer = a.integer < 0 ? ir::wrapping_mul(a.integer, -1) : a.integer;
                });
                break;
            case Code::SignI:
                map1(in, lanes, [](R& t, R a) { t.integer = (a.integer > 0) - (a.integer < 0); });
                break;
            case Code::Select: {
                Register* const target = at(in.target);
                const Register* const c = at(in.c);
                const size_t step = step_of(in.c);
                map2(in, lanes, [&](R& t, R a, R b) {
                    t = a.integer ? b : c[static_cast<size_t>(&t - target) * step];
                });
                break;
            }
            default:
                if (!execute_memory(in, lanes)) return false;
        }
    }
    return true;
}

}  // namespace lemma::interpret
