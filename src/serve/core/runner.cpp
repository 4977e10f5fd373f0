// SPDX-License-Identifier: Apache-2.0
#include "serve/core/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lemma::serve {

namespace {

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

lemma_tensor as_argument(const TensorValue& value, std::vector<const char*>& strings) {
    lemma_tensor tensor = {};
    tensor.type = value.type;
    tensor.rank = value.shape.size();
    tensor.shape = value.shape.data();
    if (value.type == LEMMA_STR) {
        for (const std::string& text : value.strings) strings.push_back(text.c_str());
        tensor.data = strings.data();
        tensor.size = strings.size() * sizeof(char*);
    } else {
        tensor.data = const_cast<void*>(value.data);  // a run does not change its inputs
        tensor.size = value.size;
    }
    return tensor;
}

Code code_of(int status) {
    switch (status) {
        case LEMMA_WRONG:
        case LEMMA_UNUSABLE:
            return Code::Invalid;
        default:
            return Code::Internal;
    }
}

using Memory = std::vector<std::byte>;

TensorValue copied(const std::string& name, const lemma_tensor& tensor) {
    TensorValue value{.name = name, .type = tensor.type};
    value.shape.assign(tensor.shape, tensor.shape + tensor.rank);
    if (tensor.type == LEMMA_STR) {
        const auto* const strings = static_cast<const char* const*>(tensor.data);
        for (int64_t i = 0; i < volume(value.shape).value_or(0); ++i) {
            value.strings.emplace_back(strings[i]);
        }
        return value;
    }
    auto memory = std::make_shared<Memory>(tensor.size);
    if (tensor.size > 0) std::memcpy(memory->data(), tensor.data, tensor.size);
    value.data = memory->data();
    value.size = memory->size();
    value.owner = std::move(memory);
    return value;
}

// Tensors without runtime extents are written to memory of the answer at once.
void place_outputs(const std::vector<TensorMetadata>& declared,
                   std::vector<lemma_tensor>& outputs,
                   std::vector<std::shared_ptr<Memory>>& memory) {
    outputs.assign(declared.size(), lemma_tensor{});
    memory.assign(declared.size(), nullptr);
    for (size_t i = 0; i < declared.size(); ++i) {
        const auto bytes = byte_size(declared[i].type, declared[i].shape);
        if (!bytes || *bytes == 0 || declared[i].type == LEMMA_STR) continue;
        memory[i] = std::make_shared<Memory>(static_cast<size_t>(*bytes));
        outputs[i].data = memory[i]->data();
        outputs[i].size = memory[i]->size();
    }
}

bool same_rest(const TensorValue& a, const TensorValue& b) {
    return a.shape.size() == b.shape.size() &&
           std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1);
}

// Whether the first extents of all inputs are the same.
bool has_items(const Work& work) {
    return std::ranges::all_of(work.inputs, [&](const TensorValue* input) {
        return input && !input->shape.empty() && input->shape[0] == work.inputs[0]->shape[0] &&
               input->shape[0] > 0;
    });
}

int64_t items_of(const Work& work) { return work.inputs[0]->shape[0]; }

bool can_join(const Work& a, const Work& b) {
    if (!has_items(a) || !has_items(b)) return false;
    for (size_t i = 0; i < a.inputs.size(); ++i) {
        if (!same_rest(*a.inputs[i], *b.inputs[i])) return false;
    }
    return true;
}

}  // namespace

// Gives the variables their values as loaded, if necessary by another session.
std::optional<Failure> Lane::begin_anew() {
    if (!model_.changes() || lemma_reset(session_.get(), nullptr) == LEMMA_GOOD)
        return std::nullopt;
    auto session = open_session(model_, threads_);
    if (!session) return session.error();
    session_ = std::move(*session);
    return std::nullopt;
}

std::optional<Failure> Lane::run_once(std::span<lemma_tensor> inputs,
                                      std::vector<lemma_tensor>& outputs,
                                      const Work& work) {
    if (auto failure = begin_anew()) return failure;
    lemma_control control = {};
    control.struct_size = sizeof control;
    control.stop = work.stop ? work.stop.get() : work.shared_stop;
    if (work.deadline != Clock::time_point::max()) {
        control.seconds = std::chrono::duration<double>(work.deadline - Clock::now()).count();
        if (control.seconds <= 0) return Failure{Code::Deadline, "the time limit is over"};
    }
    lemma_report* report = nullptr;
    const int status = lemma_run(session_.get(),
                                 inputs.data(),
                                 inputs.size(),
                                 outputs.data(),
                                 outputs.size(),
                                 &control,
                                 &report);
    const ReportHandle owned(report);
    if (status == LEMMA_GOOD) return std::nullopt;
    if (status == LEMMA_STOPPED) {
        const bool cancelled = work.stop && lemma_stop_requested(work.stop.get()) != 0;
        return cancelled ? Failure{Code::Cancelled, "the request was cancelled"}
                         : Failure{Code::Deadline, "the time limit is over"};
    }
    return Failure{code_of(status), lemma_report_text(report)};
}

void Lane::run(Work& work) {
    const Clock::time_point begin = Clock::now();
    std::vector<std::vector<const char*>> strings(work.inputs.size());
    std::vector<lemma_tensor> inputs;
    for (size_t i = 0; i < work.inputs.size(); ++i) {
        inputs.push_back(work.inputs[i] ? as_argument(*work.inputs[i], strings[i])
                                        : lemma_tensor{});
    }
    std::vector<lemma_tensor> outputs;
    std::vector<std::shared_ptr<Memory>> memory;
    place_outputs(model_.outputs(), outputs, memory);
    work.failure = run_once(inputs, outputs, work);
    work.seconds = since(begin);
    if (work.failure) return;
    work.outputs.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = model_.outputs()[i].name;
        if (outputs[i].type == LEMMA_NO_TYPE) {
            work.outputs.push_back({.name = name});
        } else if (!memory[i]) {
            work.outputs.push_back(copied(name, outputs[i]));
        } else {
            TensorValue value{.name = name, .type = outputs[i].type};
            value.shape.assign(outputs[i].shape, outputs[i].shape + outputs[i].rank);
            value.data = memory[i]->data();
            value.size = outputs[i].size;
            value.owner = std::move(memory[i]);
            work.outputs.push_back(std::move(value));
        }
    }
}

// The inputs are copied behind each other. The rest of a batch repeats the first item.
bool Lane::try_joined(std::span<Work* const> works) {
    const Clock::time_point begin = Clock::now();
    int64_t items = 0;
    for (const Work* work : works) items += items_of(*work);
    const std::vector<int64_t>& sizes = model_.joining().sizes;
    const auto size = std::ranges::lower_bound(sizes, items);
    const int64_t batch = size == sizes.end() ? items : *size;

    std::vector<lemma_tensor> inputs;
    std::vector<Memory> memory;
    std::vector<Shape> shapes;
    memory.reserve(works[0]->inputs.size());
    shapes.reserve(works[0]->inputs.size());
    for (size_t i = 0; i < works[0]->inputs.size(); ++i) {
        const TensorValue& first = *works[0]->inputs[i];
        const size_t item = first.size / static_cast<size_t>(first.shape[0]);
        Memory& all = memory.emplace_back();
        all.reserve(item * static_cast<size_t>(batch));
        const auto append = [&](const void* data, size_t bytes) {
            const auto* const from = static_cast<const std::byte*>(data);
            all.insert(all.end(), from, from + bytes);
        };
        for (const Work* work : works) append(work->inputs[i]->data, work->inputs[i]->size);
        for (int64_t k = items; k < batch; ++k) append(first.data, item);
        Shape& shape = shapes.emplace_back(first.shape);
        shape[0] = batch;
        inputs.push_back({first.type, shape.size(), shape.data(), all.data(), all.size()});
    }
    std::vector<lemma_tensor> outputs(model_.outputs().size(), lemma_tensor{});
    if (run_once(inputs, outputs, Work{})) return false;
    for (const lemma_tensor& output : outputs) {
        if (output.rank == 0 || output.shape[0] != batch) return false;
    }
    int64_t begin_item = 0;
    const double seconds = since(begin);
    for (Work* work : works) {
        const int64_t own = items_of(*work);
        work->outputs.clear();
        work->seconds = seconds;
        for (size_t i = 0; i < outputs.size(); ++i) {
            lemma_tensor part = outputs[i];
            Shape shape(part.shape, part.shape + part.rank);
            shape[0] = own;
            const size_t item = part.size / static_cast<size_t>(batch);
            part.shape = shape.data();
            part.data = static_cast<std::byte*>(part.data) + item * static_cast<size_t>(begin_item);
            part.size = item * static_cast<size_t>(own);
            work->outputs.push_back(copied(model_.outputs()[i].name, part));
        }
        begin_item += own;
    }
    return true;
}

void Lane::run_joined(std::span<Work* const> works) {
    if (works.size() > 1 && try_joined(works)) return;
    for (Work* work : works) run(*work);
}

Answer<std::unique_ptr<Runner>> Runner::create(const ServedModel& model, int threads, bool groups) {
    auto runner = std::unique_ptr<Runner>(new Runner(model));
    const bool beside = groups && threads > 1;
    // Threads do not help the interpreter with a single request.
    if (!beside || !model.interpreted()) {
        auto session = open_session(model, threads);
        if (!session) return std::unexpected(session.error());
        runner->wide_ = std::make_unique<Lane>(model, std::move(*session), threads);
    }
    for (int i = 0; beside && i < threads; ++i) {
        auto session = open_session(model, 1);
        if (!session) return std::unexpected(session.error());
        runner->lanes_.push_back(std::make_unique<Lane>(model, std::move(*session), 1));
    }
    for (size_t i = 1; i < runner->lanes_.size(); ++i) {
        runner->helpers_.emplace_back([raw = runner.get(), i] { raw->help(i); });
    }
    return runner;
}

Runner::~Runner() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    begun_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

// Joined works, so many that every lane gets its share.
std::vector<std::vector<Work*>> Runner::pieces_of(std::span<Work* const> group,
                                                  size_t lanes) const {
    int64_t items = 0;
    const int64_t best = model_.joining().best();
    for (const Work* work : group) items += best > 1 && has_items(*work) ? items_of(*work) : 1;
    const auto share = (items + static_cast<int64_t>(lanes) - 1) / static_cast<int64_t>(lanes);
    const int64_t most = std::min(best, share);
    std::vector<std::vector<Work*>> pieces;
    int64_t filled = 0;
    for (Work* work : group) {
        const int64_t own = best > 1 && has_items(*work) ? items_of(*work) : most;
        const bool joins =
            !pieces.empty() && filled + own <= most && can_join(*pieces.back().front(), *work);
        if (!joins) {
            pieces.emplace_back();
            filled = 0;
        }
        pieces.back().push_back(work);
        filled += own;
    }
    return pieces;
}

void Runner::run_pieces(Lane& lane, const std::vector<std::vector<Work*>>& pieces) const {
    for (const auto& piece : pieces) {
        lane.run_joined(piece);
        for (Work* work : piece) callbacks_->done(*work);
    }
}

void Runner::take_pieces(Lane& lane) {
    for (size_t i = next_.fetch_add(1); i < pieces_.size(); i = next_.fetch_add(1)) {
        run_pieces(lane, {pieces_[i]});
    }
    const auto most = static_cast<size_t>(std::max<int64_t>(model_.joining().best(), 1));
    while (true) {
        const std::vector<Work*> more = callbacks_->more(most);
        if (more.empty()) return;
        run_pieces(lane, pieces_of(more, 1));
    }
}

void Runner::help(size_t lane) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        begun_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        lock.unlock();
        take_pieces(*lanes_[lane]);
        lock.lock();
        if (--busy_ == 0) ended_.notify_one();
    }
}

void Runner::run(std::span<Work* const> group, const Callbacks& callbacks) {
    auto pieces = pieces_of(group, std::max<size_t>(lanes_.size(), 1));
    callbacks_ = &callbacks;
    if (lanes_.empty() || (pieces.size() == 1 && wide_)) return run_pieces(*wide_, pieces);
    {
        const std::lock_guard lock(mutex_);
        pieces_ = std::move(pieces);
        next_ = 0;
        busy_ = helpers_.size();
        ++round_;
    }
    begun_.notify_all();
    take_pieces(*lanes_[0]);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return busy_ == 0; });
}

namespace {

// Seconds of a run, the best of several; empty if a run fails. The first run compiles.
std::optional<double> best_time(Lane& lane, Work& work) {
    constexpr double kEnough = 0.1;  // seconds of all runs
    constexpr int kMostRuns = 10;
    double best = 0;
    double all = 0;
    for (int i = 0; i < kMostRuns && (i < 2 || all < kEnough); ++i) {
        lane.run(work);
        if (work.failure) return std::nullopt;
        best = i < 2 ? work.seconds : std::min(best, work.seconds);
        all += work.seconds;
    }
    return best;
}

// The work with one item of another work's inputs.
struct Part {
    std::vector<TensorValue> values;
    Work work;
};

void take_item(const std::vector<TensorValue>& all, int64_t item, Part& part) {
    part.values = all;
    part.work.inputs.clear();
    for (TensorValue& value : part.values) {
        const size_t bytes = value.size / static_cast<size_t>(value.shape[0]);
        value.data = static_cast<const std::byte*>(value.data) + bytes * static_cast<size_t>(item);
        value.size = bytes;
        value.shape[0] = 1;
    }
    for (const TensorValue& value : part.values) part.work.inputs.push_back(&value);
}

// Whether each item of a batch gives the bits that it gives alone.
bool same_bits(Lane& lane, const std::vector<TensorValue>& inputs, const Work& joined) {
    const int64_t items = inputs[0].shape[0];
    for (int64_t i = 0; i < items; ++i) {
        Part part;
        take_item(inputs, i, part);
        lane.run(part.work);
        if (part.work.failure) return false;
        for (size_t k = 0; k < joined.outputs.size(); ++k) {
            const TensorValue& all = joined.outputs[k];
            const TensorValue& own = part.work.outputs[k];
            const size_t bytes = all.size / static_cast<size_t>(items);
            const auto* const from = static_cast<const std::byte*>(all.data);
            if (own.size != bytes || own.shape.empty() || all.shape[0] != items) return false;
            if (bytes > 0 &&
                std::memcmp(from + bytes * static_cast<size_t>(i), own.data, bytes) != 0) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

Measured measure_sizes(const ServedModel& model,
                       const std::vector<int64_t>& sizes,
                       lemma_stop* stop) {
    Measured measured;
    auto session = open_session(model, 1);
    if (!session) return measured;
    Lane lane(model, std::move(*session), 1);
    const auto time_of = [&](const std::vector<TensorValue>& inputs, Work& work) {
        work.shared_stop = stop;
        for (const TensorValue& input : inputs) work.inputs.push_back(&input);
        return best_time(lane, work);
    };
    const std::vector<TensorValue> one = random_inputs(model, 1, 1);
    Work single;
    if (one.empty()) return measured;
    const auto alone = time_of(one, single);
    if (!alone || sizes.empty()) return measured;
    double best = *alone;
    measured.remark = fmt::format("one item takes {:.3f} ms", *alone * 1e3);
    std::vector<int64_t> good;
    for (const int64_t size : sizes) {
        const std::vector<TensorValue> inputs = random_inputs(model, size, 2);
        Work work;
        const auto time = time_of(inputs, work);
        if (!time || !same_bits(lane, inputs, work)) {
            measured.remark +=
                fmt::format("; a batch of {} {}", size, time ? "gives other bits" : "does not run");
            break;
        }
        const double each = *time / static_cast<double>(size);
        measured.remark += fmt::format("; {:.3f} ms in a batch of {}", each * 1e3, size);
        good.push_back(size);
        constexpr double kGain = 0.95;  // a gain that is worth the copies
        if (each >= best * kGain) continue;
        best = each;
        measured.faster = good;
    }
    return measured;
}

}  // namespace lemma::serve
