// SPDX-License-Identifier: Apache-2.0
#include "runtime/series.h"

#include <algorithm>

namespace lemma::runtime {

namespace {

constexpr double kLeastShare = 2e-6;    // seconds of work for which a thread is asked
constexpr double kLeastPiece = 1e-6;    // of work that a thread takes at a time
constexpr double kWavePieces = 8;       // pieces of a wave for each thread
constexpr uint32_t kMeasured = 8;       // one of so many short calls is measured
constexpr size_t kMostCalls = 64;       // of a series
constexpr double kMostSeconds = 0.002;  // of a series, about

void run_range(void* context, int64_t begin, int64_t end) {
    static_cast<const PreparedCall*>(context)->run(begin, end);
}

int threads_for(double work) { return static_cast<int>(std::clamp(work / kLeastShare, 1.0, 1e6)); }

}  // namespace

// ---- Calls --------------------------------------------------------------------------------------

void PreparedCall::prepare(const KernelCall& kernel,
                           const std::vector<void*>& pieces,
                           ScratchMemory& scratch,
                           int64_t first,
                           bool backwards) {
    kernel_ = kernel.kernel;
    first_ = first;
    backwards_ = backwards;
    scratch_ = nullptr;
    failed_ = 0;
    count_ = kernel.buffers.size();
    void** to = few_;
    if (count_ > kMostBuffers) {
        many_.resize(count_);
        to = many_.data();
    }
    buffers_ = to;
    for (size_t i = 0; i < count_; ++i) {
        const size_t piece = kernel.buffers[i];
        if (piece == kScratch) {
            scratch_ = &scratch;
            scratch_at_ = i;
            continue;
        }
        to[i] = piece == kFlag ? &failed_ : pieces[piece];
    }
}

void PreparedCall::run(int64_t begin, int64_t end) const {
    if (!scratch_) return run_with(buffers_, begin + first_, end + first_);
    // The buffers of this thread have scratch memory of their own.
    void* few[kMostBuffers];
    std::vector<void*> many;
    void** own = few;
    if (count_ > kMostBuffers) {
        many.resize(count_);
        own = many.data();
    }
    std::copy_n(buffers_, count_, own);
    const ScratchMemory::Slot slot(*scratch_);
    own[scratch_at_] = slot.data();
    run_with(own, begin + first_, end + first_);
}

void PreparedCall::run_with(void* const* buffers, int64_t begin, int64_t end) const {
    if (!backwards_) return kernel_(buffers, begin, end);
    for (int64_t item = end; item-- > begin;) kernel_(buffers, item, item + 1);
}

Result<void> PreparedCall::outcome() const {
    if (failed_ != 0) return std::unexpected(Error{"an index is outside of its tensor"});
    return {};
}

// ---- Series -------------------------------------------------------------------------------------

bool Series::has_room(size_t calls) const {
    if (empty()) return true;
    return !checks_ && used_ + calls <= kMostCalls && work_ < kMostSeconds * pool_.available();
}

PreparedCall& Series::prepare(const KernelCall& call, int64_t first, bool backwards) {
    if (used_ == calls_.size()) calls_.push_back(std::make_unique<PreparedCall>());
    PreparedCall& prepared = *calls_[used_++];
    prepared.prepare(call, pieces_, scratch_, first, backwards);
    // What follows might use what such a call has not written.
    checks_ = checks_ || std::ranges::find(call.buffers, kFlag) != call.buffers.end();
    return prepared;
}

void Series::add_job(ThreadPool::Job job, const KernelCall* measured, double work) {
    jobs_.push_back(job);
    measured_.push_back(measured);
    work_ += work;
}

// Gives the job as many threads as its work needs, by the time of earlier calls.
void Series::add(const KernelCall& call, int64_t begin, int64_t end, bool backwards) {
    PreparedCall& prepared = prepare(call, begin, backwards);
    const double work = call.seconds * static_cast<double>(end - begin);
    ThreadPool::Job job{run_range, &prepared, end - begin};
    job.threads = threads_for(work);
    job.grain = static_cast<int64_t>(std::clamp(kLeastPiece / call.seconds, 1.0, 1e15));
    job.backwards = backwards;
    job.measured = call.calls++ % kMeasured == 0;
    add_job(job, &call, work);
}

void Series::add(const KernelWave& wave) {
    double work = 0;
    for (const KernelCall& call : wave.calls) {
        work += call.seconds * static_cast<double>(call.items);
    }
    const double piece = std::max(work / (kWavePieces * pool_.available()), kLeastPiece);
    if (waves_.size() <= jobs_.size()) waves_.resize(jobs_.size() + 1);
    auto& parts = waves_[jobs_.size()];
    if (!parts) parts = std::make_unique<std::vector<Part>>();
    parts->clear();
    int64_t pieces = 0;
    for (const KernelCall& call : wave.calls) {
        const double items = std::clamp(piece / call.seconds, 1.0, static_cast<double>(call.items));
        parts->push_back(
            {&prepare(call, 0, false), call.items, static_cast<int64_t>(items), pieces});
        pieces += parts->back().pieces();
    }
    ThreadPool::Job job{run_parts, parts.get(), pieces};
    job.threads = threads_for(work);
    job.measured = false;
    add_job(job, nullptr, work);
}

void Series::run_parts(void* context, int64_t begin, int64_t end) {
    for (const Part& part : *static_cast<const std::vector<Part>*>(context)) {
        const int64_t from = std::max(begin - part.first, int64_t{0});
        const int64_t to = std::min(end - part.first, part.pieces());
        if (from >= to) continue;
        part.call->run(from * part.piece, std::min(to * part.piece, part.items));
    }
}

Result<void> Series::run() {
    pool_.run(jobs_);
    for (size_t i = 0; i < jobs_.size(); ++i) {
        if (!measured_[i] || jobs_[i].seconds <= 0) continue;
        // Single measurements may be far off.
        double& known = measured_[i]->seconds;
        const double seconds = std::clamp(jobs_[i].seconds, known / 4, known * 4);
        known = std::max(known + 0.3 * (seconds - known), 1e-12);
    }
    Result<void> outcome;
    for (size_t i = 0; i < used_ && outcome; ++i) outcome = calls_[i]->outcome();
    jobs_.clear();
    measured_.clear();
    used_ = 0;
    work_ = 0;
    checks_ = false;
    return outcome;
}

}  // namespace lemma::runtime
