// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/step_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "emit/c_text.h"
#include "emit/intrinsics.h"

namespace lemma::emit {

namespace {

using loop::FrozenCopy;
using loop::FrozenError;
using loop::FrozenLoop;
using loop::FrozenMemory;
using loop::FrozenPlace;
using tensor::DType;

class StepPrinter {
public:
    StepPrinter(const loop::FrozenPlan& plan,
                const std::vector<std::string>& kernels,
                const StepContext& context,
                VectorSupport& support)
        : plan_(plan), kernels_(kernels), context_(context), support_(support) {}

    std::string print() {
        lines_.open("static int32_t run_steps(struct run* r) {");
        steps(plan_.steps);
        lines_.put("return 0;");
        lines_.close();
        return lines_.take();
    }

private:
    // An `unsigned char*`; to constants and inputs, a const one.
    std::string place(const FrozenPlace& place) const {
        const std::string offset = place.offset == 0 ? "" : fmt::format(" + {}", place.offset);
        switch (place.memory) {
            case FrozenMemory::Constant:
                return context_.weights + offset;
            case FrozenMemory::Arena:
                return "r->arena" + offset;
            case FrozenMemory::State:
                return "r->state" + offset;
            case FrozenMemory::Input:
                return fmt::format("r->in[{}]{}", place.number, offset);
            case FrozenMemory::Output:
                return fmt::format("r->out[{}]{}", place.number, offset);
            case FrozenMemory::Moving:
                return fmt::format("r->moving[{}]{}", place.number, offset);
            case FrozenMemory::Extents:
                return "(const unsigned char*)r->extents" + offset;
            case FrozenMemory::Flag:
                break;
        }
        return "(unsigned char*)&r->flag";
    }
    std::string writable(const FrozenPlace& at) const {
        return fmt::format("(unsigned char*)({})", place(at));
    }
    std::string part(const loop::FrozenPack& pack, const std::string& step) const {
        return fmt::format("{} + {} * {}", writable(pack.first), step, pack.stride);
    }
    std::string number(const loop::FrozenNumber& number) {
        return fmt::format("(int64_t){}((const {}*)({}))",
                           support_.load(number.dtype, 1),
                           support_.memory_type(number.dtype),
                           place(number.place));
    }
    void fail_if(const std::string& condition, FrozenError error) {
        lines_.put(fmt::format("if ({}) return {};", condition, static_cast<int>(error)));
    }
    void move(uint32_t pointer, const std::string& to) {
        lines_.put(fmt::format("r->moving[{}] = {};", pointer, to));
    }

    void steps(const loop::FrozenSteps& steps) {
        for (const loop::FrozenStep& step : steps) {
            if (!step.label.empty()) lines_.put(fmt::format("/* {} */", comment_text(step.label)));
            match(
                step.kind,
                [&](const loop::FrozenCall& call) { print_call(call); },
                [&](const FrozenCopy& copy) { print_copy(copy); },
                [&](const loop::FrozenClear& clear) { print_clear(clear); },
                [&](const loop::FrozenPick& pick) {
                    move(pick.pointer,
                         fmt::format("{} > 0 ? {} : {}",
                                     number({pick.count, DType::I64}),
                                     writable(pick.from),
                                     writable(pick.otherwise)));
                },
                [&](const loop::FrozenIntrinsic& call) { print_intrinsic(call); },
                [&](const FrozenLoop& loop) { print_loop(loop); },
                [&](const loop::FrozenBranch& branch) { print_branch(branch); });
        }
    }
    void print_call(const loop::FrozenCall& call) {
        std::vector<std::string> pointers;
        bool checks = false;
        for (const FrozenPlace& at : call.places) {
            pointers.push_back(fmt::format("(void*)({})", place(at)));
            checks |= at.memory == FrozenMemory::Flag;
        }
        lines_.open("{");
        lines_.put(
            fmt::format("void* const p[] = {{{}}};",
                        pointers.empty() ? "0" : fmt::format("{}", fmt::join(pointers, ", "))));
        const int64_t items = plan_.kernels[call.kernel].kernel.function.items;
        const std::string count =
            call.items ? number({*call.items, DType::I64}) : fmt::format("{}", items);
        lines_.put(call.alone ? fmt::format("{}(p, 0, {});", kernels_[call.kernel], count)
                              : fmt::format("call(r, {}, {}, p);", kernels_[call.kernel], count));
        if (checks) fail_if("r->flag", call.error);
        lines_.close();
    }
    void print_copy(const FrozenCopy& copy) {
        std::string from = place(copy.from);
        std::string to = place(copy.to);
        for (size_t i = 0; i < copy.axes.size(); ++i) {
            const std::string var = fmt::format("a{}", i);
            lines_.open(fmt::format(
                "for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", var, copy.axes[i].extent));
            from += fmt::format(" + {} * {}", var, copy.axes[i].from_stride);
            to += fmt::format(" + {} * {}", var, copy.axes[i].to_stride);
        }
        lines_.put(fmt::format("memcpy({}, {}, {});", to, from, bytes(copy.bytes, copy.count)));
        for (size_t i = 0; i < copy.axes.size(); ++i) lines_.close();
    }

    void print_clear(const loop::FrozenClear& clear) {
        lines_.put(
            fmt::format("memset({}, 0, {});", writable(clear.to), bytes(clear.bytes, clear.count)));
    }
    std::string bytes(int64_t bytes, const std::optional<FrozenPlace>& count) {
        if (!count) return fmt::format("{}", bytes);
        return fmt::format("(size_t)({}) * {}", number({*count, DType::I64}), bytes);
    }

    // Elements pass through arrays of doubles and 64-bit integers.
    void print_intrinsic(const loop::FrozenIntrinsic& call) {
        std::vector<tensor::Shape> shapes;
        for (const auto& input : call.inputs) shapes.push_back(input.shape);
        const auto text = intrinsic_call(context_.program->operations[call.op], shapes);
        LEMMA_CHECK(text);  // else the plan has an obstacle
        lines_.open("{");
        const auto declare = [&](const auto& operands, std::string_view prefix) {
            for (size_t i = 0; i < operands.size(); ++i) {
                const char* const type = tensor::is_real(operands[i].dtype) ? "double" : "int64_t";
                lines_.put(fmt::format(
                    "{0}* const {1}{2} = ({0}*)({3});", type, prefix, i, place(operands[i].wide)));
            }
        };
        declare(call.inputs, "in");
        declare(call.outputs, "out");
        for (const std::string& declaration : text->declarations) lines_.put(declaration);
        for (size_t i = 0; i < call.inputs.size(); ++i) {
            const auto& input = call.inputs[i];
            lines_.put(
                fmt::format("for (int64_t i = 0; i < {}; ++i) in{}[i] = {}((const {}*)({}) + i);",
                            tensor::volume(input.shape).value_or(0),
                            i,
                            support_.load(input.dtype, 1),
                            support_.memory_type(input.dtype),
                            place(input.place)));
        }
        for (const std::string& statement : text->statements) lines_.put(statement);
        if (!text->test.empty()) fail_if(text->test + " != 0", FrozenError::Index);
        for (size_t i = 0; i < call.outputs.size(); ++i) {
            const auto& output = call.outputs[i];
            const bool narrow = tensor::is_real(output.dtype) && output.dtype != DType::F64;
            const char* const cast = narrow ? "(float)" : "";
            lines_.put(
                fmt::format("for (int64_t i = 0; i < {}; ++i) {}(({}*)({}) + i, {}out{}[i]);",
                            tensor::volume(output.shape).value_or(0),
                            support_.store(output.dtype, 1),
                            support_.memory_type(output.dtype),
                            place(output.place),
                            cast,
                            i));
        }
        lines_.close();
    }

    // ---- Control flow ---------------------------------------------------------------------------

    void print_branch(const loop::FrozenBranch& branch) {
        size_t open = 0;
        for (const auto& arm : branch.arms) {
            if (arm.condition) {
                steps(arm.condition->steps);
                lines_.open(fmt::format("if (*({}) != 0) {{", place(arm.condition->value)));
            } else {
                lines_.open("{");
            }
            ++open;
            steps(arm.body);
            for (size_t i = 0; i < arm.results.size(); ++i) {
                lines_.put(fmt::format("void* const o{} = (void*)({});", i, place(arm.results[i])));
            }
            for (size_t i = 0; i < arm.results.size(); ++i) {
                move(branch.outputs[i], fmt::format("(unsigned char*)o{}", i));
            }
            if (!arm.condition) break;
            lines_.between("} else {");
        }
        for (size_t i = 0; i < open; ++i) lines_.close();
    }

    void print_loop(const FrozenLoop& loop) {
        const std::string id = fmt::format("{}", loops_++);
        const std::string step = "step" + id;
        lines_.open("{");
        lines_.put(
            fmt::format("int64_t count{} = {};", id, integer_literal(DType::I64, loop.count)));
        lines_.put(fmt::format("int64_t {} = 0;", step));
        lines_.put(fmt::format("int ended{} = 0;", id));
        if (loop.dynamic_count) {
            lines_.put(
                fmt::format("const int64_t wanted{} = {};", id, number(*loop.dynamic_count)));
            if (!loop.items.empty()) {
                fail_if(fmt::format("wanted{0} > count{0}", id), FrozenError::Items);
            }
            lines_.put(fmt::format("if (wanted{0} < count{0}) count{0} = wanted{0};", id));
        }
        for (const FrozenCopy& copy : loop.before) print_copy(copy);
        for (const FrozenLoop::Carried& carried : loop.carried) {
            move(carried.seen, writable(carried.initial));
        }
        lines_.open(fmt::format("while ({0} < count{1} && !ended{1}) {{", step, id));
        begin_iteration(loop, step, id);
        steps(loop.body);
        end_iteration(loop, step, id);
        lines_.put(fmt::format("++{};", step));
        if (loop.post) {
            steps(loop.post->steps);
            lines_.put(fmt::format("ended{} = *({}) == 0;", id, place(loop.post->value)));
        }
        lines_.close();
        if (loop.must_end) fail_if(fmt::format("!ended{}", id), FrozenError::Unending);
        for (const FrozenLoop::Carried& carried : loop.carried) {
            move(carried.outcome, fmt::format("r->moving[{}]", carried.seen));
        }
        for (const FrozenCopy& copy : loop.after) print_copy(copy);
        lines_.put(fmt::format("(void)ended{};", id));
        lines_.close();
    }
    void begin_iteration(const FrozenLoop& loop, const std::string& step, const std::string& id) {
        if (loop.index) {
            const std::string value =
                loop.index->dtype == DType::Bool ? fmt::format("{} != 0", step) : step;
            lines_.put(fmt::format("{}(({}*)({}), {});",
                                   support_.store(loop.index->dtype, 1),
                                   support_.memory_type(loop.index->dtype),
                                   place(loop.index->place),
                                   value));
        }
        for (const FrozenLoop::Item& item : loop.items) {
            fail_if(fmt::format("{} >= {}", step, item.pack.count), FrozenError::Items);
            move(item.seen, part(item.pack, step));
        }
        if (loop.pre) {
            steps(loop.pre->steps);
            lines_.put(fmt::format("ended{} = *({}) == 0;", id, place(loop.pre->value)));
            lines_.put(fmt::format("if (ended{}) break;", id));
        }
        if (loop.most_results != INT64_MAX) {
            fail_if(fmt::format("{} >= {}", step, loop.most_results), FrozenError::Results);
        }
        for (const FrozenLoop::Written& written : loop.written) {
            move(written.result,
                 written.pack ? part(*written.pack, step)
                              : fmt::format("{} % 2 == 0 ? {} : {}",
                                            step,
                                            writable(written.slots[0]),
                                            writable(written.slots[1])));
        }
    }
    // Copies come before any pointer moves.
    void end_iteration(const FrozenLoop& loop, const std::string& step, const std::string& id) {
        for (const FrozenLoop::Collected& collected : loop.collected) {
            lines_.put(fmt::format("memcpy({}, {}, {});",
                                   part(collected.pack, step),
                                   place(collected.result),
                                   collected.bytes));
        }
        for (size_t i = 0; i < loop.carried.size(); ++i) {
            const FrozenLoop::Carried& carried = loop.carried[i];
            const std::string next = fmt::format("next{}_{}", id, i);
            const std::string seen = fmt::format("r->moving[{}]", carried.seen);
            switch (carried.passing) {
                case FrozenLoop::Passing::Stays:
                    lines_.put(fmt::format("unsigned char* const {} = {};", next, seen));
                    break;
                case FrozenLoop::Passing::Moves:
                    lines_.put(fmt::format(
                        "unsigned char* const {} = {};", next, writable(carried.result)));
                    break;
                case FrozenLoop::Passing::Copied:
                    lines_.put(fmt::format("unsigned char* const {} = {} == {} ? {} : {};",
                                           next,
                                           seen,
                                           writable(carried.slots[0]),
                                           writable(carried.slots[1]),
                                           writable(carried.slots[0])));
                    lines_.put(fmt::format(
                        "memmove({}, {}, {});", next, place(carried.result), carried.bytes));
                    break;
            }
        }
        for (size_t i = 0; i < loop.carried.size(); ++i) {
            move(loop.carried[i].seen, fmt::format("next{}_{}", id, i));
        }
    }

    const loop::FrozenPlan& plan_;
    const std::vector<std::string>& kernels_;
    const StepContext& context_;
    VectorSupport& support_;
    CLines lines_;
    int loops_ = 0;
};

}  // namespace

bool calls_intrinsics(const loop::FrozenSteps& steps) {
    const auto inside = [](const std::optional<loop::FrozenCondition>& condition) {
        return condition && calls_intrinsics(condition->steps);
    };
    return std::ranges::any_of(steps, [&](const loop::FrozenStep& step) {
        return match(
            step.kind,
            [](const loop::FrozenIntrinsic&) { return true; },
            [&](const FrozenLoop& loop) {
                return calls_intrinsics(loop.body) || inside(loop.pre) || inside(loop.post);
            },
            [&](const loop::FrozenBranch& branch) {
                return std::ranges::any_of(branch.arms, [&](const auto& arm) {
                    return calls_intrinsics(arm.body) || inside(arm.condition);
                });
            },
            [](const auto&) { return false; });
    });
}

std::string print_steps(const loop::FrozenPlan& plan,
                        const std::vector<std::string>& kernels,
                        const StepContext& context,
                        VectorSupport& support) {
    return StepPrinter(plan, kernels, context, support).print();
}

}  // namespace lemma::emit
