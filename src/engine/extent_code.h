// SPDX-License-Identifier: Apache-2.0
// engine/extent_code.h — arithmetic on runtime extents as a kernel: it reads the extents that a run
// gives, stores numbers that follow from them, and sets a flag if the model does not allow them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ir/symbols/symbolic.h"
#include "loop/ir/node.h"
#include "tensor/shape.h"

namespace lemma::engine {

// An extent of an input that each run gives.
struct OpenExtent {
    ir::SymId symbol;
    int64_t low = 0, high = 0;
    std::string name = {};
};

// The extents that are open, as symbols with their bounds; the others are known.
class OpenExtents {
public:
    OpenExtents(ir::SymbolPool& symbols,
                const std::vector<OpenExtent>& open,
                const std::unordered_map<ir::SymId, int64_t, IdHash>& known);

    bool empty() const { return index_.empty(); }
    ir::SymbolPool& symbols() { return symbols_; }
    // The expression over symbols with bounds; nothing if it has no value.
    std::optional<ir::SymId> bounded(ir::SymId id) { return symbols_.substitute(id, with_); }
    // The number of the extent that a symbol with bounds stands for.
    std::optional<size_t> number(ir::SymId symbol) const;
    // Upper bounds of the extents of a shape; else which extent has none.
    Result<tensor::Shape> most(const std::vector<ir::SymId>& shape);

private:
    ir::SymbolPool& symbols_;
    std::unordered_map<ir::SymId, ir::SymId, IdHash> with_;
    std::unordered_map<ir::SymId, size_t, IdHash> index_;
};

class ExtentCode {
public:
    explicit ExtentCode(OpenExtents& open);
    ExtentCode(const ExtentCode&) = delete;

    // The value of an int or a bool that follows from extents. After a failure, which `why`
    // explains, the kernel does not count.
    loop::ExprId value(ir::SymId id);
    // The flag is set unless the condition holds.
    void require(ir::SymId condition);
    // Likewise unless the int is in [low, high].
    void require_inside(ir::SymId id, int64_t low, int64_t high);
    // Likewise unless the extent that the run gives is in [low, high].
    void check_given(ir::SymId symbol, int64_t low, int64_t high);
    // The number of elements of a shape, whose extents must not be negative.
    loop::ExprId elements(const std::vector<ir::SymId>& shape);
    void store(loop::BufferId buffer, int64_t at, loop::ExprId value);

    loop::Builder& build() { return build_; }
    const std::string& why() const { return why_; }
    // Ends the code. The first buffer is the extents, the last one the flag.
    loop::Function finish();

private:
    // A value, and whether it has none: a division by zero.
    struct Value {
        loop::ExprId value, fault;
    };
    Value fail(std::string why);
    Value compute(ir::SymId bounded);
    Value computed(ir::SymId bounded);
    Value sum(const std::vector<ir::SymTerm>& terms);
    Value operation(const ir::SymNode& node);
    Value logic(const ir::SymNode& node);
    Value function(const ir::SymNode& node);
    loop::ExprId either(loop::ExprId a, loop::ExprId b);
    loop::ExprId both(loop::ExprId a, loop::ExprId b);
    bool is_finite(ir::SymId bounded) const;

    OpenExtents& open_;
    ir::SymbolPool& symbols_;
    loop::Function function_;
    loop::Builder build_;
    loop::BufferId extents_;
    loop::ExprId never_;  // false
    loop::ExprId bad_;    // whether the flag is set
    std::unordered_map<ir::SymId, Value, IdHash> values_;
    std::string why_;
};

}  // namespace lemma::engine
