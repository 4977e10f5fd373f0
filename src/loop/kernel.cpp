#include "loop/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "ir/scalar_math.h"

namespace lemma::loop {

namespace {

// Integers wrap around and a division by zero gives 0: a branch that is not taken may do either.
int64_t wrapping_mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t to_int(double value) { return ir::truncate_to_int(value).value_or(0); }

}  // namespace

Result<void> Kernel::run() {
    counter_ = 0;
    error_.clear();
    if (execute(blocks_[0])) {
        if (extents_.empty()) {
            step();
        } else {
            loop(0);
        }
    }
    if (!error_.empty()) return std::unexpected(Error{error_});
    return {};
}

bool Kernel::loop(size_t depth) {
    const bool last = depth + 1 == extents_.size();
    const std::vector<Instruction>& block = blocks_[depth + 1];
    for (int64_t i = 0; i < extents_[depth]; ++i) {
        registers_[index_registers_[depth]].integer = i;
        if (!execute(block)) {
            if (!error_.empty()) return false;
            continue;
        }
        if (!(last ? step() : loop(depth + 1))) return false;
    }
    return true;
}

bool Kernel::step() {
    if (condition_ != UINT32_MAX && registers_[condition_].integer == 0) return true;
    for (const KernelWrite& each : writes_) {
        write(each);
        if (!error_.empty()) return false;
    }
    if (counter_register_ != UINT32_MAX) {
        registers_[counter_register_].integer = ++counter_;
    }
    return true;
}

void Kernel::write(const KernelWrite& each) {
    Array& array = *arrays_[each.array];
    const int64_t offset =
        counter_register_ == UINT32_MAX ? registers_[each.offset].integer : append_offset(each);
    if (offset < 0 || offset >= array.size) {
        error_ = fmt::format(
            "element {} of `{}` is written, which has {}", offset, names_[each.array], array.size);
        return;
    }
    const auto at = static_cast<size_t>(offset);
    const Register value = registers_[each.value];
    if (each.real) {
        double& target = array.reals[at];
        switch (op_) {
            case ir::FormulaOp::Sum:
                target += value.real;
                break;
            case ir::FormulaOp::Product:
                target *= value.real;
                break;
            case ir::FormulaOp::Min:
                target = ir::real_min(target, value.real);
                break;
            case ir::FormulaOp::Max:
                target = ir::real_max(target, value.real);
                break;
            default:
                target = value.real;
        }
        return;
    }
    int64_t& target = array.integers[at];
    switch (op_) {
        case ir::FormulaOp::Sum:
            target = wrapping_add(target, value.integer);
            break;
        case ir::FormulaOp::Product:
            target = wrapping_mul(target, value.integer);
            break;
        case ir::FormulaOp::All:
            target = target && value.integer;
            break;
        case ir::FormulaOp::Any:
            target = target || value.integer;
            break;
        case ir::FormulaOp::Min:
            target = std::min(target, value.integer);
            break;
        case ir::FormulaOp::Max:
            target = std::max(target, value.integer);
            break;
        default:
            target = value.integer;
    }
}

// The counter grows inside of the loops, behind the instructions: its part is added here.
int64_t Kernel::append_offset(const KernelWrite& each) const {
    return registers_[each.offset].integer + counter_ * each.counter_stride;
}

bool Kernel::execute(const std::vector<Instruction>& block) {
    for (const Instruction& in : block) {
        Register& target = registers_[in.target];
        const Register a = registers_[in.a];
        const Register b = registers_[in.b];
        switch (in.code) {
            case Code::AddI:
                target.integer = wrapping_add(a.integer, b.integer);
                break;
            case Code::MulI:
                target.integer = wrapping_mul(a.integer, b.integer);
                break;
            case Code::DivI:
                target.integer = floor_div(a.integer, b.integer).value_or(0);
                break;
            case Code::ModI:
                target.integer = floor_mod(a.integer, b.integer).value_or(0);
                break;
            case Code::PowI:
                target.integer = checked_pow(a.integer, b.integer).value_or(0);
                break;
            case Code::MinI:
                target.integer = std::min(a.integer, b.integer);
                break;
            case Code::MaxI:
                target.integer = std::max(a.integer, b.integer);
                break;
            case Code::AddR:
                target.real = a.real + b.real;
                break;
            case Code::SubR:
                target.real = a.real - b.real;
                break;
            case Code::MulR:
                target.real = a.real * b.real;
                break;
            case Code::DivR:
                target.real = a.real / b.real;
                break;
            case Code::CeilDivR:
                target.real = ir::real_ceil_div(a.real, b.real);
                break;
            case Code::ModR:
                target.real = ir::real_mod(a.real, b.real);
                break;
            case Code::PowR:
                target.real = std::pow(a.real, b.real);
                break;
            case Code::MinR:
                target.real = ir::real_min(a.real, b.real);
                break;
            case Code::MaxR:
                target.real = ir::real_max(a.real, b.real);
                break;
            case Code::NegR:
                target.real = -a.real;
                break;
            case Code::LessEqualI:
                target.integer = a.integer <= b.integer;
                break;
            case Code::EqualI:
                target.integer = a.integer == b.integer;
                break;
            case Code::NotEqualI:
                target.integer = a.integer != b.integer;
                break;
            case Code::LessR:
                target.integer = a.real < b.real;
                break;
            case Code::LessEqualR:
                target.integer = a.real <= b.real;
                break;
            case Code::EqualR:
                target.integer = a.real == b.real;
                break;
            case Code::NotEqualR:
                target.integer = a.real != b.real;
                break;
            case Code::And:
                target.integer = a.integer && b.integer;
                break;
            case Code::Or:
                target.integer = a.integer || b.integer;
                break;
            case Code::Xor:
                target.integer = (a.integer != 0) != (b.integer != 0);
                break;
            case Code::Not:
                target.integer = !a.integer;
                break;
            case Code::Select:
                target = a.integer ? b : registers_[in.c];
                break;
            case Code::RealToInt:
                target.integer = to_int(a.real);
                break;
            case Code::IntToReal:
                target.real = static_cast<double>(a.integer);
                break;
            case Code::RealToBool:
                target.integer = a.real != 0;
                break;
            case Code::IntToBool:
                target.integer = a.integer != 0;
                break;
            case Code::Function:
                target.real = functions_[in.b](a.real);
                break;
            case Code::AbsI:
                target.integer = a.integer < 0 ? wrapping_mul(a.integer, -1) : a.integer;
                break;
            case Code::SignI:
                target.integer = (a.integer > 0) - (a.integer < 0);
                break;
            default:
                if (!execute_memory(in)) return false;
        }
    }
    return true;
}

bool Kernel::execute_memory(const Instruction& in) {
    Register& target = registers_[in.target];
    const int64_t a = registers_[in.a].integer;
    const int64_t b = registers_[in.b].integer;
    switch (in.code) {
        case Code::CheckIndex:
            if (a >= 0 && a < b) return true;
            if (in.optional && registers_[in.c].integer == 0) return true;
            error_ = fmt::format(
                "index {} of `{}` is outside of its extent {}", a, names_[in.target], b);
            return false;
        case Code::GuardIndex:
            return a >= 0 && a < b;
        case Code::Remap:
            target.integer = a < 0    ? registers_[in.c].integer
                             : a >= b ? registers_[in.c + 1].integer
                                      : a;
            return true;
        case Code::Load:
        case Code::LoadIf: {
            const Array& array = *arrays_[in.a];
            target.integer = 0;
            if (in.code == Code::LoadIf && registers_[in.c].integer == 0) return true;
            if (b < 0 || b >= array.size) {
                error_ = fmt::format(
                    "element {} of `{}` is read, which has {}", b, names_[in.a], array.size);
                return false;
            }
            if (array.reals.empty()) {
                target.integer = array.integers[static_cast<size_t>(b)];
            } else {
                target.real = array.reals[static_cast<size_t>(b)];
            }
            return true;
        }
        default:
            return true;
    }
}

}  // namespace lemma::loop
