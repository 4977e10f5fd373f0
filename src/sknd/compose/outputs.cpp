// SPDX-License-Identifier: Apache-2.0
// Compares declared outputs with composed ones: certain errors are reported, undecided conditions
// become assertions for the run (spec 2.6, 2.10).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

// The component that assigns an output.
Span assignment_of(const Definition& definition, const ParamDecl& output) {
    for (const Component& component : definition.composes) {
        for (const LValue& lhs : component.results) {
            for (const LValueItem& item : lhs.items) {
                for (const auto& target : item.targets) {
                    if (target.name.text == output.name.text) return component.span;
                }
            }
        }
    }
    return output.span;
}

bool is_omitted(const Frame& frame, const ExtentSpec& extent) {
    return std::holds_alternative<Omitted>(frame.module().exprs[extent.extent].node);
}

}  // namespace

// One declared output and its composed tensors.
class Composer::OutputCheck {
public:
    OutputCheck(Composer& composer,
                Frame& frame,
                const ParamDecl& decl,
                const ir::Operand& operand,
                std::vector<OpenCheck>& open)
        : composer_(composer), frame_(frame), decl_(decl), operand_(operand), open_(open) {}

    bool run() { return check_length() && (!decl_.type.shape || check_shapes()); }

private:
    // An axis of the declared shape: equal to an extent, up to a bound, or anything.
    struct Axis {
        ir::SymId extent, bound;
    };
    using Axes = std::vector<Axis>;

    static constexpr size_t kNowhere = SIZE_MAX / 2;  // names take no extents from here

    bool check_length();
    bool check_shapes();
    bool check_item(size_t item, const Axes& want);
    // The axes that an item of the declared shape stands for, for each tensor.
    std::optional<std::vector<Axes>> fixed_axes(const ExtentSpec& extent);
    std::optional<std::vector<Axes>> dynamic_axes(const ExtentSpec& extent, size_t at);
    std::optional<size_t> open_rank() const;
    std::string text(const Axes& axes) const;
    void report(DiagKind kind, std::string message);
    ir::SymId absent(size_t item) const;

    ir::SymbolPool& symbols() const { return composer_.program_.symbols; }
    const std::vector<ir::SymId>& shape(size_t item) const {
        return composer_.program_.tensors[operand_.items[item]].shape;
    }
    std::string subject() const {
        return fmt::format(
            "the output `{}` of `{}`", decl_.name.text, frame_.definition().name.text);
    }

    Composer& composer_;
    Frame& frame_;
    const ParamDecl& decl_;
    const ir::Operand& operand_;
    std::vector<OpenCheck>& open_;
    std::set<ir::SymId> asked_;
};

void Composer::OutputCheck::report(DiagKind kind, std::string message) {
    composer_
        .inner_error(frame_, assignment_of(frame_.definition(), decl_), kind, std::move(message))
        .note(decl_.span, "declared here");
}

bool Composer::OutputCheck::check_length() {
    if (!decl_.type.pack || !decl_.type.pack->length.valid()) return true;
    const auto want = composer_.evaluate_extent(frame_, decl_.type.pack->length);
    if (!want) return false;
    const ir::SymId got = composer_.length_of(operand_);
    const auto equal = symbols().apply(ir::SymOp::Equal, got, *want);
    const auto holds = equal ? symbols().prove(*equal) : true;
    if (holds && *holds) return true;
    std::string message = fmt::format(
        "{} has {} tensors, declared as {}", subject(), symbols().text(got), symbols().text(*want));
    if (!holds) {
        const bool some = !operand_.items.empty();
        open_.push_back({{*equal, std::move(message)}, some ? operand_.items[0] : ir::TensorId()});
        return true;
    }
    report(DiagKind::LengthMismatch, std::move(message));
    return false;
}

// The item of the declared shape that takes the remaining axes: `~..`.
std::optional<size_t> Composer::OutputCheck::open_rank() const {
    for (size_t i = 0; i < decl_.type.shape->size(); ++i) {
        const ExtentSpec& extent = (*decl_.type.shape)[i];
        if (extent.pack && !extent.pack->length.valid() && is_omitted(frame_, extent)) return i;
    }
    return std::nullopt;
}

std::optional<std::vector<Composer::OutputCheck::Axes>> Composer::OutputCheck::fixed_axes(
    const ExtentSpec& extent) {
    std::vector<std::vector<ir::SymId>> shapes(operand_.items.size());
    if (!composer_.append_extent(frame_, extent, shapes)) return std::nullopt;
    std::vector<Axes> axes(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
        for (const ir::SymId part : shapes[i]) {
            axes[i].push_back({part, {}});
            if (symbols().range(part).high >= 0) continue;
            composer_.inner_error(frame_,
                                  decl_.type.shape_span,
                                  DiagKind::ExtentMismatch,
                                  fmt::format("the extent {} is negative", symbols().text(part)));
            return std::nullopt;
        }
    }
    return axes;
}

// `~|bound` and `s|bound`. The first tensor defines the value of a name.
std::optional<std::vector<Composer::OutputCheck::Axes>> Composer::OutputCheck::dynamic_axes(
    const ExtentSpec& extent, size_t at) {
    ir::SymId bound;
    if (extent.bound.valid()) {
        const auto value = composer_.evaluate_extent(frame_, extent.bound);
        if (!value) return std::nullopt;
        bound = *value;
    }
    int64_t count = 1;
    if (extent.pack && extent.pack->length.valid()) {
        const auto value =
            composer_.evaluate_count(frame_, extent.pack->length, "a number of extents");
        if (!value || !composer_.is_rank(frame_, extent, *value)) return std::nullopt;
        count = *value;
    }
    const auto size = static_cast<size_t>(count);
    std::vector<Axes> axes(operand_.items.size(), Axes(size, {{}, bound}));
    const auto* name = std::get_if<Identifier>(&frame_.module().exprs[extent.extent].node);
    if (!name || axes.empty() || shape(0).size() < at + size) return axes;
    Pack pack;
    pack.type = ir::ScalarType::Int;
    for (size_t axis = at; axis < at + size; ++axis) {
        pack.items.push_back(std::get<Scalar>(extent_value(symbols(), shape(0)[axis])));
    }
    for (size_t item = 1; item < axes.size(); ++item) {
        for (size_t i = 0; i < size; ++i) axes[item][i].extent = shape(0)[at + i];
    }
    if (extent.pack) {
        frame_.set(name->name, std::move(pack));
    } else {
        frame_.set(name->name, pack.items.front());
    }
    return axes;
}

bool Composer::OutputCheck::check_shapes() {
    if (operand_.items.empty()) return true;
    const std::vector<ExtentSpec>& extents = *decl_.type.shape;
    const auto rest = open_rank();
    std::vector<Axes> want(operand_.items.size());
    for (size_t i = 0; i < extents.size(); ++i) {
        if (rest == i) {
            size_t others = want[0].size();
            for (size_t k = i + 1; k < extents.size(); ++k) {
                const auto axes = composer_.is_dynamic(frame_, extents[k])
                                      ? dynamic_axes(extents[k], kNowhere)
                                      : fixed_axes(extents[k]);
                if (!axes) return false;
                others += axes->front().size();
            }
            const size_t left = shape(0).size() - std::min(others, shape(0).size());
            for (Axes& axes : want) axes.resize(axes.size() + left);
            continue;
        }
        const auto axes = composer_.is_dynamic(frame_, extents[i])
                              ? dynamic_axes(extents[i], want[0].size())
                              : fixed_axes(extents[i]);
        if (!axes) return false;
        for (size_t item = 0; item < want.size(); ++item) {
            want[item].insert(want[item].end(), (*axes)[item].begin(), (*axes)[item].end());
        }
    }
    for (size_t item = 0; item < want.size(); ++item) {
        if (!check_item(item, want[item])) return false;
    }
    return true;
}

// Items past the end of a pack of dynamic length need not fit.
ir::SymId Composer::OutputCheck::absent(size_t item) const {
    if (!operand_.length.valid()) return symbols().boolean(false);
    const ir::SymId index = symbols().integer(static_cast<int64_t>(item));
    return symbols()
        .apply(ir::SymOp::LessEqual, operand_.length, index)
        .value_or(symbols().boolean(false));
}

bool Composer::OutputCheck::check_item(size_t item, const Axes& want) {
    const std::vector<ir::SymId>& got = shape(item);
    const auto shapes_differ = [&](DiagKind kind) {
        report(kind,
               fmt::format("`{}` is composed with the shape {}, expected {}",
                           decl_.name.text,
                           composer_.shape_text(got),
                           text(want)));
        return false;
    };
    if (got.size() != want.size()) return shapes_differ(DiagKind::RankMismatch);
    const ir::SymId none = absent(item);
    for (size_t axis = 0; axis < got.size(); ++axis) {
        const auto [extent, bound] = want[axis];
        const auto check = [&](ir::SymOp op, ir::SymId other, std::string_view what) {
            const auto fits = symbols().apply(op, got[axis], other);
            const auto condition =
                fits ? symbols().apply(ir::SymOp::Or, none, *fits) : std::nullopt;
            if (!condition) return true;
            const auto holds = symbols().prove(*condition);
            if (holds) return *holds;
            // A condition on an item of a pack also covers the items after it.
            if (!asked_.insert(*fits).second || !composer_.spend(frame_, 1)) return true;
            const std::string where = operand_.packed ? fmt::format("item {} of ", item) : "";
            std::string message = fmt::format("axis {} of {}{} has extent {}, declared as {}{}",
                                              axis,
                                              where,
                                              subject(),
                                              symbols().text(got[axis]),
                                              what,
                                              symbols().text(other));
            open_.push_back({{*condition, std::move(message)}, operand_.items[item]});
            return true;
        };
        const bool fits = (!extent.valid() || check(ir::SymOp::Equal, extent, "")) &&
                          (!bound.valid() || check(ir::SymOp::LessEqual, bound, "at most "));
        if (!fits) return shapes_differ(DiagKind::ExtentMismatch);
    }
    return true;
}

std::string Composer::OutputCheck::text(const Axes& axes) const {
    std::string text;
    for (const auto& [extent, bound] : axes) {
        if (!text.empty()) text += ", ";
        text += extent.valid() ? symbols().text(extent) : "~";
        if (bound.valid()) text += "|" + symbols().text(bound);
    }
    return "[" + text + "]";
}

// ---- All outputs --------------------------------------------------------------------------------

bool Composer::check_outputs(Frame& frame, const Results& results, std::vector<OpenCheck>& open) {
    const auto& outputs = frame.definition().outputs;
    bool good = true;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const ir::Operand& operand = results[i].operand;
        if (operand.null()) continue;
        good = OutputCheck(*this, frame, outputs[i], operand, open).run() && good;
    }
    return good;
}

// The main graph is not an operation. An undecided condition goes to the first operation after
// which the tensor and all extents are known, or to the program if the inputs define them.
void Composer::require_of_main(const Frame& frame, std::vector<OpenCheck> open) {
    for (OpenCheck& check : open) {
        std::vector<ir::SymId> untold = program_.symbols.symbols_of(check.assertion.condition);
        bool made = !maker_of(check.tensor, op_lists_.back()).valid();
        const auto see = [&](const ir::Operand& operand) {
            const auto tell = [&](ir::SymId extent) {
                const auto told = program_.symbols.symbols_of(extent);
                std::erase_if(
                    untold, [&](ir::SymId s) { return std::ranges::find(told, s) != told.end(); });
            };
            if (operand.length.valid()) tell(operand.length);
            for (const ir::TensorId id : operand.items) {
                made = made || id == check.tensor;
                for (const ir::SymId extent : program_.tensors[id].shape) tell(extent);
            }
        };
        for (const ParamDecl& decl : frame.definition().inputs) {
            see(frame.find(decl.name.text)->operand);
        }
        std::vector<ir::Assertion>* at = &program_.assertions;
        for (const ir::OpId id : op_lists_.back()) {
            if (made && untold.empty()) break;
            for (const ir::Port& port : program_.operations[id].outputs) see(port.operand);
            at = &program_.operations[id].assertions;
        }
        at->push_back(std::move(check.assertion));
    }
}

std::vector<ir::Assertion> Composer::open_equalities(const std::vector<ir::SymId>& got,
                                                     const std::vector<ir::SymId>& want,
                                                     const std::string& what) {
    std::vector<ir::Assertion> open;
    for (size_t axis = 0; axis < got.size(); ++axis) {
        if (got[axis] == want[axis]) continue;
        const auto equal = program_.symbols.apply(ir::SymOp::Equal, got[axis], want[axis]);
        if (equal) open.push_back({*equal, what});
    }
    return open;
}

ir::OpId Composer::maker_of(ir::TensorId tensor, const std::vector<ir::OpId>& operations) const {
    for (auto id = operations.rbegin(); id != operations.rend(); ++id) {
        for (const ir::Port& port : program_.operations[*id].outputs) {
            if (std::ranges::find(port.operand.items, tensor) != port.operand.items.end()) {
                return *id;
            }
        }
    }
    return {};
}

}  // namespace lemma::sknd
