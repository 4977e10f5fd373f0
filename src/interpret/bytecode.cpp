// SPDX-License-Identifier: Apache-2.0
#include "interpret/bytecode.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/program/lane_math.h"

namespace lemma::interpret {

Result<void> Bytecode::run(std::span<Array* const> arrays, const RunControl* control) {
    control_ = control;
    counter_ = 0;
    error_.clear();
    masked_ = false;
    const bool empty = std::ranges::any_of(extents_, [](int64_t extent) { return extent == 0; });
    if (empty) return {};
    bind(arrays);
    if (execute(blocks_[0], 1)) loop(0);
    if (!error_.empty()) return std::unexpected(Error{error_});
    give_back_texts(arrays);
    return {};
}

void Bytecode::bind(std::span<Array* const> arrays) {
    slots_.clear();
    text_numbers_.assign(arrays.size(), {});
    texts_ = constant_texts_;
    std::unordered_map<std::string, int64_t> known;
    for (size_t i = 0; i < texts_.size(); ++i) known.emplace(texts_[i], i);
    for (size_t slot = 0; slot < arrays.size(); ++slot) {
        Array& array = *arrays[slot];
        for (const std::string& text : array.strings) {
            const auto [at, fresh] = known.emplace(text, texts_.size());
            if (fresh) texts_.push_back(text);
            text_numbers_[slot].push_back(at->second);
        }
        auto& integers = array.strings.empty() ? array.integers : text_numbers_[slot];
        slots_.push_back({array.reals.data(), integers.data(), array.size});
    }
}

void Bytecode::give_back_texts(std::span<Array* const> arrays) const {
    for (const BytecodeWrite& write : writes_) {
        Array& array = *arrays[write.array];
        for (size_t i = 0; i < array.strings.size(); ++i) {
            array.strings[i] = texts_[static_cast<size_t>(text_numbers_[write.array][i])];
        }
    }
}

void Bytecode::place_registers() {
    wide_.assign(initial_.size(), 0);
    wide_[index_registers_.back()] = 1;
    for (const Instruction& instruction : blocks_.back()) {
        const bool fills = instruction.code != Code::CheckIndex &&
                           instruction.code != Code::CheckFits &&
                           instruction.code != Code::GuardIndex;
        if (fills) wide_[instruction.target] = 1;
    }
    places_.clear();
    size_t size = 0;
    for (const uint8_t wide : wide_) {
        places_.push_back(static_cast<uint32_t>(size));
        size += wide ? max_lanes_ : 1;
    }
    storage_.assign(size, Register{.integer = 0});
    for (size_t reg = 0; reg < initial_.size(); ++reg) storage_[places_[reg]] = initial_[reg];
    active_.assign(max_lanes_, 1);
}

// ---- Loops --------------------------------------------------------------------------------------

// False: an error occurred.
bool Bytecode::loop(size_t depth) {
    if (depth + 1 == extents_.size()) return inner_loop();
    Register& index = *at(index_registers_[depth]);
    for (int64_t i = 0; i < extents_[depth]; ++i) {
        index.integer = i;
        if (execute(blocks_[depth + 1], 1)) {
            if (!loop(depth + 1)) return false;
        } else if (!error_.empty()) {
            return false;
        }
    }
    return true;
}

bool Bytecode::inner_loop() {
    Register* const index = at(index_registers_.back());
    const auto extent = static_cast<size_t>(extents_.back());
    for (size_t begin = 0; begin < extent; begin += max_lanes_) {
        const size_t lanes = std::min(max_lanes_, extent - begin);
        for (size_t i = 0; i < lanes; ++i) index[i].integer = static_cast<int64_t>(begin + i);
        const bool done = execute(blocks_.back(), lanes) && store(lanes);
        masked_ = false;
        if (!done && !error_.empty()) return false;
        if (control_ && stopped()) return false;
    }
    return true;
}

// A look at the clock takes as long as a short row.
bool Bytecode::stopped() {
    constexpr uint32_t kRows = 256;
    if (patience_ > 0) {
        --patience_;
        return false;
    }
    patience_ = kRows;
    if (!control_->stop()) return false;
    error_ = control_->error().message;
    return true;
}

// ---- Memory -------------------------------------------------------------------------------------

// Disables the lane for the following instructions.
void Bytecode::mask(size_t lane) {
    if (!masked_) std::fill(active_.begin(), active_.end(), uint8_t{1});
    masked_ = true;
    active_[lane] = 0;
}

bool Bytecode::check_fits(const Instruction& in, size_t lanes) {
    const Register* const overflows = at(in.a);
    const Register* const needed = in.optional ? at(in.c) : nullptr;
    for (size_t i = 0; i < lanes; ++i) {
        if (overflows[i * step_of(in.a)].integer == 0 || !active(i)) continue;
        if (needed && needed[i * step_of(in.c)].integer == 0) continue;
        error_ = fmt::format("an index of `{}` does not fit 64 bits", names_[in.target]);
        return false;
    }
    return true;
}

bool Bytecode::check_index(const Instruction& in, size_t lanes) {
    const Register* index = at(in.a);
    const size_t step = step_of(in.a);
    const auto extent = static_cast<uint64_t>(at(in.b)->integer);
    uint64_t most = 0;  // negative indices become the largest
    for (size_t i = 0; i < lanes; ++i) {
        most = std::max(most, static_cast<uint64_t>(index[i * step].integer));
    }
    if (most < extent) return true;
    const Register* needed = in.optional ? at(in.c) : nullptr;
    for (size_t i = 0; i < lanes; ++i) {
        const int64_t value = index[i * step].integer;
        if (static_cast<uint64_t>(value) < extent || !active(i)) continue;
        if (needed && needed[i * step_of(in.c)].integer == 0) continue;
        error_ = fmt::format(
            "index {} of `{}` is outside of its extent {}", value, names_[in.target], extent);
        return false;
    }
    return true;
}

bool Bytecode::guard_index(const Instruction& in, size_t lanes) {
    const Register* index = at(in.a);
    const size_t step = step_of(in.a);
    const auto extent = static_cast<uint64_t>(at(in.b)->integer);
    if (lanes == 1) return static_cast<uint64_t>(index->integer) < extent;
    uint64_t most = 0;
    for (size_t i = 0; i < lanes; ++i) {
        most = std::max(most, static_cast<uint64_t>(index[i * step].integer));
    }
    if (most < extent) return true;
    size_t left = 0;
    for (size_t i = 0; i < lanes; ++i) {
        if (static_cast<uint64_t>(index[i * step].integer) >= extent) mask(i);
        left += active(i);
    }
    return left != 0;
}

bool Bytecode::load(const Instruction& in, size_t lanes) {
    const Slot& slot = slots_[in.a];
    Register* const target = at(in.target);
    const Register* const offset = at(in.b);
    const Register* const needed = in.code == Code::LoadIf ? at(in.c) : nullptr;
    const size_t step = step_of(in.b);
    const size_t needed_step = needed ? step_of(in.c) : 0;
    const auto size = static_cast<uint64_t>(slot.size);
    if (!needed && !masked_) {
        uint64_t most = 0;
        for (size_t i = 0; i < lanes; ++i) {
            most = std::max(most, static_cast<uint64_t>(offset[i * step].integer));
        }
        if (most < size) {
            if (slot.reals) {
                for (size_t i = 0; i < lanes; ++i) {
                    target[i].real = slot.reals[offset[i * step].integer];
                }
            } else {
                for (size_t i = 0; i < lanes; ++i) {
                    target[i].integer = slot.integers[offset[i * step].integer];
                }
            }
            return true;
        }
    }
    for (size_t i = 0; i < lanes; ++i) {
        target[i].integer = 0;
        if (!active(i) || (needed && needed[i * needed_step].integer == 0)) continue;
        const int64_t at = offset[i * step].integer;
        if (static_cast<uint64_t>(at) >= size) {
            error_ =
                fmt::format("element {} of `{}` is read, which has {}", at, names_[in.a], size);
            return false;
        }
        if (slot.reals) {
            target[i].real = slot.reals[at];
        } else {
            target[i].integer = slot.integers[at];
        }
    }
    return true;
}

bool Bytecode::execute_memory(const Instruction& in, size_t lanes) {
    switch (in.code) {
        case Code::CheckFits:
            return check_fits(in, lanes);
        case Code::CheckIndex:
            return check_index(in, lanes);
        case Code::GuardIndex:
            return guard_index(in, lanes);
        case Code::Remap: {
            Register* const target = at(in.target);
            const int64_t extent = at(in.b)->integer;
            for (size_t i = 0; i < lanes; ++i) {
                const int64_t index = at(in.a)[i * step_of(in.a)].integer;
                target[i].integer = index < 0         ? at(in.c)[i * step_of(in.c)].integer
                                    : index >= extent ? at(in.d)[i * step_of(in.d)].integer
                                                      : index;
            }
            return true;
        }
        default:
            return load(in, lanes);
    }
}

// ---- Stores -------------------------------------------------------------------------------------

bool Bytecode::out_of_bounds(const BytecodeWrite& write, int64_t offset) {
    error_ = fmt::format("element {} of `{}` is written, which has {}",
                         offset,
                         names_[write.array],
                         slots_[write.array].size);
    return false;
}

template <auto kMember, class Element, class Combine>
bool Bytecode::store_elements(
    const BytecodeWrite& write, size_t from, size_t to, Element* elements, Combine combine) {
    const int64_t size = slots_[write.array].size;
    const Register* const offset = at(write.offset);
    const Register* const value = at(write.value);
    const size_t offset_step = step_of(write.offset);
    const size_t value_step = step_of(write.value);
    for (size_t i = from; i < to; ++i) {
        if (!active(i)) continue;
        const int64_t at = offset[i * offset_step].integer + counter_ * write.counter_stride;
        if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size)) {
            return out_of_bounds(write, at);
        }
        elements[at] = combine(elements[at], value[i * value_step].*kMember);
    }
    return true;
}

bool Bytecode::store_lanes(const BytecodeWrite& write, size_t from, size_t to) {
    using Op = ir::FormulaOp;
    const Slot& slot = slots_[write.array];
    if (write.real) {
        const auto with = [&](auto combine) {
            return store_elements<&Register::real>(write, from, to, slot.reals, combine);
        };
        switch (op_) {
            case Op::Sum:
                if (in_float_) return with([](double a, double b) { return ir::to_float(a + b); });
                return with([](double a, double b) { return a + b; });
            case Op::Product:
                if (in_float_) return with([](double a, double b) { return ir::to_float(a * b); });
                return with([](double a, double b) { return a * b; });
            case Op::Min:
                return with(ir::real_min);
            case Op::Max:
                return with(ir::real_max);
            default:
                return with([](double, double b) { return b; });
        }
    }
    using Int = int64_t;
    const auto with = [&](auto combine) {
        return store_elements<&Register::integer>(write, from, to, slot.integers, combine);
    };
    switch (op_) {
        case Op::Sum:
            return with(ir::wrapping_add);
        case Op::Product:
            return with(ir::wrapping_mul);
        case Op::All:
            return with([](Int a, Int b) { return Int{a && b}; });
        case Op::Any:
            return with([](Int a, Int b) { return Int{a || b}; });
        case Op::Min:
            return with([](Int a, Int b) { return std::min(a, b); });
        case Op::Max:
            return with([](Int a, Int b) { return std::max(a, b); });
        default:
            return with([](Int, Int b) { return b; });
    }
}

bool Bytecode::store(size_t lanes) {
    if (condition_ != UINT32_MAX) {
        const Register* const condition = at(condition_);
        const size_t step = step_of(condition_);
        for (size_t i = 0; i < lanes; ++i) {
            if (condition[i * step].integer == 0) mask(i);
        }
    }
    if (counter_register_ != UINT32_MAX && !active(0)) return true;
    if (writes_.size() == 1) {
        if (!store_lanes(writes_[0], 0, lanes)) return false;
    } else {
        for (size_t i = 0; i < lanes; ++i) {
            for (const BytecodeWrite& write : writes_) {
                if (!store_lanes(write, i, i + 1)) return false;
            }
        }
    }
    if (counter_register_ != UINT32_MAX) at(counter_register_)->integer = ++counter_;
    return true;
}

}  // namespace lemma::interpret
