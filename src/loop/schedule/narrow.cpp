// SPDX-License-Identifier: Apache-2.0
// Makes kernels with smaller tiles on demand.
#include "loop/schedule/schedule.h"

namespace lemma::loop {

namespace {

// All inputs of the kernel's schedule.
struct Source {
    Stage stage;
    Contraction contraction;
    std::shared_ptr<StagePool> pool;
    BufferViews places;
    Target target;
};

// The places of the kernel's tensors.
BufferViews places_of(const Stage& stage,
                      const Contraction& contraction,
                      const StagePool& pool,
                      const BufferViews& all) {
    BufferViews result;
    const auto keep = [&](ir::TensorId id) {
        if (const auto found = all.find(id); found != all.end()) result.insert(*found);
    };
    const StageWrite& write = stage.writes[0];
    keep(write.tensor);
    keep(contraction.packed);
    keep(contraction.panel);
    if (contraction.narrow) keep(contraction.narrow->zeros);
    if (contraction.narrow) keep(contraction.narrow->scales);
    const auto read = [&](ExprId, const Expr& e) { keep(tensor_of(e)); };
    for (const ExprId value : {write.value, stage.initial, stage.finish, contraction.squares}) {
        pool.visit_reads(value, read);
    }
    return result;
}

std::optional<ScheduledKernel> make(const Source& source, int n) {
    Contraction narrower = source.contraction;
    for (int i = 0; i < n; ++i) {
        if (!narrow_tile(source.stage, *source.pool, source.places, source.target, narrower)) {
            return std::nullopt;
        }
    }
    return schedule_contraction(source.stage, narrower, *source.pool, source.places, source.target);
}

}  // namespace

void offer_narrower(ScheduledKernel& kernel,
                    const Stage& stage,
                    const Contraction& contraction,
                    std::shared_ptr<StagePool> pool,
                    const BufferViews& places,
                    const Target& target) {
    if (contraction.rows * contraction.columns == 1) return;
    BufferViews own = places_of(stage, contraction, *pool, places);
    const bool anywhere = kernel.function.anywhere;
    auto source =
        std::make_shared<const Source>(stage, contraction, std::move(pool), std::move(own), target);
    kernel.narrower = [source = std::move(source), anywhere](int n) {
        auto made = make(*source, n);
        if (made) made->function.anywhere = anywhere;
        return made;
    };
}

}  // namespace lemma::loop
