// SPDX-License-Identifier: Apache-2.0
#include "runtime/control.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/executable.h"
#include "tensor/convert.h"

namespace lemma::runtime {

Step::Step() = default;
Step::~Step() = default;
Step::Step(Step&&) noexcept = default;
Step& Step::operator=(Step&&) noexcept = default;

namespace {

template <class T>
void store(void* to, int64_t number) {
    const auto value = static_cast<T>(number);
    std::memcpy(to, &value, sizeof value);
}

std::byte* shifted(void* piece, int64_t bytes) { return static_cast<std::byte*>(piece) + bytes; }

}  // namespace

int64_t Executable::number(const Number& number) const {
    return tensor::integer_at(number.dtype, read(number.piece, tensor::dtype_size(number.dtype)));
}

void Executable::set_number(const Number& number, int64_t value) const {
    void* const at = write(number.piece, tensor::dtype_size(number.dtype));
    switch (tensor::dtype_size(number.dtype)) {
        case 1:
            return store<uint8_t>(at, value);
        case 2:
            return store<uint16_t>(at, value);
        case 4:
            return store<uint32_t>(at, value);
        default:
            return store<int64_t>(at, value);
    }
}

Result<bool> Executable::holds(const Condition& condition) {
    LEMMA_TRY(run_steps(condition.steps));
    return tensor::integer_at(tensor::DType::Bool, read(condition.value, 1)) != 0;
}

Result<void> Executable::run_branch(const Branch& branch) {
    for (size_t number = 0; number < branch.arms.size(); ++number) {
        const Branch::Arm& arm = branch.arms[number];
        if (arm.condition) {
            LEMMA_TRY(const bool taken, holds(*arm.condition));
            if (!taken) continue;
        }
        LEMMA_TRY(run_steps(arm.body));
        for (size_t i = 0; i < arm.results.size(); ++i) {
            move(branch.outputs[i], pieces_[arm.results[i]]);
        }
        return branch.taken ? branch.taken(number) : Result<void>();
    }
    return {};
}

// ---- Loops --------------------------------------------------------------------------------------

void* Executable::part(const Pack& pack, int64_t index) const {
    return shifted(pieces_[pack.first], index * pack.stride);
}

Result<void> Executable::begin_iteration(const Loop& loop, int64_t step) {
    if (loop.index) set_number(*loop.index, step);
    for (const Loop::Item& item : loop.items) {
        if (step >= item.pack.count) {
            return std::unexpected(Error{"a loop runs past the end of a scanned pack"});
        }
        move(item.seen, part(item.pack, step));
    }
    return {};
}

// Reads come before writes to memory that may overlap, and the other way round.
void Executable::end_iteration(const Loop& loop, int64_t step) {
    for (const Loop::Collected& collected : loop.collected) {
        copy(part(collected.pack, step), pieces_[collected.result], collected.bytes);
    }
    constexpr size_t kMany = 16;
    void* few[kMany];
    std::vector<void*> many(loop.carried.size() > kMany ? loop.carried.size() : 0);
    void** const next = many.empty() ? few : many.data();
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        const Loop::Carried& carried = loop.carried[i];
        next[i] = pieces_[carried.seen];
        if (carried.passing == Loop::Passing::Moves) next[i] = pieces_[carried.result];
        if (carried.passing != Loop::Passing::Copied) continue;
        const bool first_in_use = pieces_[carried.seen] == pieces_[carried.slots[0]];
        next[i] = pieces_[carried.slots[first_in_use ? 1 : 0]];
        copy(next[i], pieces_[carried.result], carried.bytes);
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) move(loop.carried[i].seen, next[i]);
}

Result<void> Executable::run_loop(const Loop& loop) {
    int64_t count = loop.count;
    if (loop.dynamic_count) {
        const int64_t wanted = number(*loop.dynamic_count);
        if (!loop.items.empty() && wanted > count) {
            return std::unexpected(Error{"a loop has more iterations than items to scan"});
        }
        count = std::min(count, wanted);
    }
    for (const Copy& copy : loop.before) {
        this->copy(shifted(pieces_[copy.to], copy.to_begin), pieces_[copy.from], copy.bytes);
    }
    for (const Loop::Carried& carried : loop.carried) move(carried.seen, pieces_[carried.initial]);
    int64_t step = 0;
    bool ended = false;
    while (step < count && !ended) {
        LEMMA_TRY(go_on(control_));
        LEMMA_TRY(begin_iteration(loop, step));
        if (loop.pre) {
            LEMMA_TRY(const bool go_on, holds(*loop.pre));
            ended = !go_on;
            if (ended) break;
        }
        if (step >= loop.most_results) {
            return std::unexpected(Error{"a loop gives more than the items of its result"});
        }
        for (const Loop::Written& written : loop.written) {
            move(written.result,
                 written.pack ? part(*written.pack, step) : pieces_[written.slots[step % 2]]);
        }
        const bool outside = std::exchange(backwards_, step % 2 != 0);
        auto done = run_steps(loop.body);
        backwards_ = outside;
        if (!done) return done;
        end_iteration(loop, step);
        ++step;
        if (loop.post) {
            LEMMA_TRY(const bool go_on, holds(*loop.post));
            ended = !go_on;
        }
    }
    if (loop.must_end && !ended) {
        return std::unexpected(Error{"a loop does not end after its most steps"});
    }
    for (const Loop::Carried& carried : loop.carried) {
        move(carried.outcome, pieces_[carried.seen]);
    }
    for (const Copy& copy : loop.after) {
        this->copy(shifted(pieces_[copy.to], copy.to_begin), pieces_[copy.from], copy.bytes);
    }
    if (loop.ended) loop.ended(step);
    return {};
}

}  // namespace lemma::runtime
