// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/pieces.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace lemma::loop {

namespace {

constexpr size_t kMostPieces = 6;

bool compares(Op op) { return op == Op::Less || op == Op::LessEqual || op == Op::Equal; }
bool picks(Op op) { return op == Op::Min || op == Op::Max; }

// Finds the steps at which a condition on the variable changes.
class Cuts {
public:
    Cuts(const StagePool& pool, VarId var) : pool_(pool), var_(var), extent_(pool.extent(var)) {}

    void visit(ExprId root) {
        std::vector<ExprId> work = {root};
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            if (!seen_.insert(at.value).second) continue;
            const Expr& e = pool_[at];
            if (compares(e.op) || picks(e.op)) cut(e);
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
    }
    const std::set<int64_t>& all() const { return cuts_; }

private:
    // The first operand minus the second is factor * var + rest.
    void cut(const Expr& e) {
        if (pool_[e.args[0]].type.kind != Kind::Int) return;
        const auto a = pool_.affine(e.args[0]), b = pool_.affine(e.args[1]);
        if (!a || !b) return;
        Address difference = *a;
        difference.offset -= b->offset;
        for (const AddressTerm& term : b->terms) difference.add(term.var, -term.factor);
        if (difference.terms.size() != 1 || difference.terms[0].var != var_) return;
        const int64_t factor = difference.terms[0].factor;
        const int64_t rest = difference.offset;
        if (factor == 0) return;
        const auto side = [&](int64_t step) {
            const int64_t value = factor * step + rest;
            if (e.op == Op::Equal) return value == 0;
            return e.op == Op::LessEqual ? value <= 0 : value < 0;
        };
        // The steps around the zero of the difference.
        const int64_t zero = -rest / factor;
        for (int64_t step = zero - 1; step <= zero + 2; ++step) {
            if (step > 0 && step < extent_ && side(step - 1) != side(step)) cuts_.insert(step);
        }
    }

    const StagePool& pool_;
    VarId var_;
    int64_t extent_;
    std::set<uint32_t> seen_;
    std::set<int64_t> cuts_;
};

// A part of a piece, whose stage is simpler.
LoopPiece part_of(const LoopPiece& whole, int64_t begin, int64_t end, StagePool& pool) {
    LoopPiece part{whole.begin + begin, whole.begin + end, pool.new_var(end - begin), whole.stage};
    Builder& build = pool.build;
    const ExprId here = build.make(Op::Add, {build.integer(begin), build.index(part.var)});
    for_each_expr(part.stage, [&](ExprId& id) {
        id = pool.simplify(pool.substitute(id, {{whole.var, here}}));
    });
    for (StageLoop& loop : part.stage.loops) {
        if (loop.var == whole.var) loop = {part.var, end - begin};
    }
    return part;
}

}  // namespace

std::vector<LoopPiece> pieces_of(const Stage& stage, StagePool& pool, VarId var) {
    if (pool.end(var).valid() || pool.strict || stage.kept || !stage.inverses.empty()) return {};
    std::vector<LoopPiece> pieces = {{0, pool.extent(var), var, stage}};
    // Conditions that a part decides can uncover others.
    for (size_t i = 0; i < pieces.size();) {
        Cuts cuts(pool, pieces[i].var);
        for_each_value(pieces[i].stage, [&](ExprId id) { cuts.visit(id); });
        if (cuts.all().empty()) {
            ++i;
            continue;
        }
        if (pieces.size() + cuts.all().size() > kMostPieces) return {};
        std::set<int64_t> ends = cuts.all();
        ends.insert(pool.extent(pieces[i].var));
        std::vector<LoopPiece> parts;
        int64_t begin = 0;
        for (const int64_t end : ends) {
            parts.push_back(part_of(pieces[i], begin, end, pool));
            begin = end;
        }
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
        pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i),
                      std::make_move_iterator(parts.begin()),
                      std::make_move_iterator(parts.end()));
    }
    if (pieces.size() == 1) return {};
    return pieces;
}

const LoopPiece* longest(const std::vector<LoopPiece>& pieces) {
    const auto best = std::ranges::max_element(
        pieces, {}, [](const LoopPiece& piece) { return piece.end - piece.begin; });
    return best == pieces.end() ? nullptr : &*best;
}

}  // namespace lemma::loop
