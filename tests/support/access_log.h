// SPDX-License-Identifier: Apache-2.0
// tests/support/access_log.h — finds items of kernels for devices that depend on their order.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "loop/ir/node.h"

namespace lemma::testing {

// Who touched which element of a buffer, to find items that depend on their order.
class AccessLog {
public:
    explicit AccessLog(const loop::Function& function) : f_(function) {}

    void enter(int64_t group, int64_t thread) {
        group_ = group;
        thread_ = thread;
    }
    void barrier() { ++phase_; }
    void read(size_t buffer, int64_t element) { touch(buffer, element, false); }
    void write(size_t buffer, int64_t element) { touch(buffer, element, true); }
    const std::string& trouble() const { return trouble_; }

private:
    struct Access {
        int64_t group = -1, thread = -1, phase = -1;
        bool many = false;  // others of the same phase, too
    };
    struct Element {
        Access written, read;
        bool read_by_groups = false;
    };

    // All faults are written to one element, with one value.
    bool is_flag(size_t buffer) const { return f_.buffers[buffer].name == "failed"; }

    // Whether another item touched it at the same time.
    bool meets(const Access& other, bool shared) const {
        if (other.group < 0) return false;
        if (other.group != group_) return !shared;
        return other.phase == phase_ && (other.thread != thread_ || other.many);
    }
    void touch(size_t buffer, int64_t element, bool write) {
        if (is_flag(buffer)) return;
        const bool shared = f_.buffers[buffer].shared;
        Element& known = elements_[{buffer, element}];
        const bool bad = meets(known.written, shared) ||
                         (write && (meets(known.read, shared) || known.read_by_groups));
        if (bad && trouble_.empty()) {
            trouble_ = fmt::format(
                "item {} of group {} {} element {} of buffer {}, which item {} of "
                "group {} touches at the same time",
                thread_,
                group_,
                write ? "writes" : "reads",
                element,
                buffer,
                meets(known.written, shared) ? known.written.thread : known.read.thread,
                meets(known.written, shared) ? known.written.group : known.read.group);
        }
        Access& mine = write ? known.written : known.read;
        const bool together = mine.group == group_ && mine.phase == phase_;
        known.read_by_groups |= !write && !shared && mine.group >= 0 && mine.group != group_;
        mine = {group_, thread_, phase_, together && (mine.many || mine.thread != thread_)};
    }

    const loop::Function& f_;
    std::map<std::pair<size_t, int64_t>, Element> elements_;
    int64_t group_ = 0, thread_ = 0, phase_ = 0;
    std::string trouble_;
};

}  // namespace lemma::testing
