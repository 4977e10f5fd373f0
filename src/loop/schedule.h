// loop/schedule.h — from a stage to a kernel: the order of loops, which of them become lanes of
// vectors, and which steps may run in parallel.
#pragma once

#include <vector>

#include "loop/layout.h"
#include "loop/stage.h"

namespace lemma::loop {

struct Scheduled {
    Function function;
    // What its buffers are, in order. One that is no storage is an i64 that starts as 0, and is set
    // to 1 where an index leaves its tensor.
    std::vector<StorageId> arguments;
    std::string schedule;  // in a few words, for profiles
};

// Plain loops with vector lanes where the elements allow. Any stage has such a form.
Scheduled schedule_nest(const Stage& stage,
                        StagePool& pool,
                        const Places& places,
                        const Target& target);

// Whether no two steps with different values of the variables in the write's index write the same
// element; the variables are told.
struct WriteShape {
    bool injective = false;
    std::vector<VarId> vars;
};
WriteShape write_shape(const Stage& stage, const StageWrite& write, const StagePool& pool);

}  // namespace lemma::loop
