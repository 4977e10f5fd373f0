// SPDX-License-Identifier: Apache-2.0
// Reuses calls: a call with the attributes, types and shapes of an earlier one binds its names to
// the same values and satisfies the same conditions.
#include <algorithm>
#include <bit>

#include "base/match.h"
#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

// Upper bound for a kept value, and for all kept calls.
constexpr size_t kMostItems = 256;
constexpr size_t kMostKept = size_t{1} << 18;

// In scalars of normal size.
size_t size_of(const Scalar& scalar) {
    const auto* text = std::get_if<std::string>(&scalar);
    return 1 + (text ? text->size() / sizeof(Scalar) : 0);
}

size_t size_of(const CompileValue& value) {
    if (const auto* scalar = std::get_if<Scalar>(&value)) return size_of(*scalar);
    const auto* pack = std::get_if<Pack>(&value);
    size_t size = 1;
    for (size_t i = 0; pack && i < pack->items.size() && size <= kMostItems; ++i) {
        size += size_of(pack->items[i]);
    }
    return size;
}

// Writes everything that a call depends on; equal texts mean equal calls.
class KeyWriter {
public:
    void number(uint64_t value) {
        key_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view text) {
        number(text.size());
        key_ += text;
    }
    void scalar(const Scalar& scalar) {
        number(scalar.index());
        match(
            scalar,
            [&](int64_t value) { number(static_cast<uint64_t>(value)); },
            [&](double value) { number(std::bit_cast<uint64_t>(value)); },
            [&](bool value) { number(value); },
            [&](const std::string& value) { text(value); },
            [&](ir::SymId id) { number(id.value); });
    }
    void value(const CompileValue& value);
    std::string take() { return std::move(key_); }

private:
    std::string key_ = reserved();
    static std::string reserved() {
        std::string text;
        text.reserve(512);  // most calls need less
        return text;
    }
};

void KeyWriter::value(const CompileValue& value) {
    number(value.index());
    if (const auto* single = std::get_if<Scalar>(&value)) return scalar(*single);
    const auto* pack = std::get_if<Pack>(&value);
    if (!pack) return;
    number(pack->items.size());
    for (const Scalar& item : pack->items) scalar(item);
    number(pack->type ? 1 + static_cast<uint64_t>(*pack->type) : 0);
    number(pack->uniform.has_value());
    if (pack->uniform) scalar(*pack->uniform);
}

}  // namespace

// Empty if the call cannot be compared with others. Equal extents have equal ids
// (ir/symbols/symbolic.h).
std::optional<std::string> Composer::repeat_key(const Frame& frame, const CallArgs& args) const {
    const Definition& definition = frame.definition();
    if (!frame.plan().repeatable) return std::nullopt;
    KeyWriter key;
    key.number(args.callee.module.value);
    key.number(args.callee.definition);
    for (const std::string_view width : {"real", "int"}) {
        const auto bound = frame.dtype(width);
        key.number(bound ? 1 + static_cast<uint64_t>(*bound) : 0);
    }
    for (const DtypeDecl& dtype : definition.dtypes) {
        const auto bound = frame.dtype(dtype.name.text);
        key.number(bound ? 1 + static_cast<uint64_t>(*bound) : 0);
    }
    key.number(args.attributes.size());
    for (const ir::Attribute& attribute : args.attributes) {
        key.text(attribute.name);
        if (size_of(attribute.value) > kMostItems) return std::nullopt;
        key.value(attribute.value);
    }
    for (size_t i = 0; i < definition.inputs.size(); ++i) {
        const bool given = i < args.inputs.size() && !args.inputs[i].operand.null();
        key.number(given);
        if (!given) {
            if (definition.inputs[i].value.valid()) return std::nullopt;  // makes a tensor
            continue;
        }
        const ir::Operand& operand = args.inputs[i].operand;
        if (operand.items.size() > kMostItems) return std::nullopt;
        key.number(operand.packed);
        key.number(operand.length.value);
        key.number(operand.items.size());
        for (const ir::TensorId id : operand.items) {
            const std::vector<ir::SymId>& shape = program_.tensors[id].shape;
            key.number(shape.size());
            for (const ir::SymId extent : shape) key.number(extent.value);
        }
    }
    return key.take();
}

// False if there was no such call, or if the work limit is passed.
bool Composer::enter_again(Frame& frame, const CallArgs& args, const std::string& key) {
    const auto found = known_calls_.find(key);
    if (found == known_calls_.end()) return false;
    KnownCall& known = found->second;
    if (known.work > work_.most - std::min(work_.done, work_.most)) return false;
    work_.spend(known.work);
    for (const size_t i : frame.plan().binding_order) {
        const bool given = i < args.inputs.size() && !args.inputs[i].operand.null();
        frame.bind(frame.definition().inputs[i].name.text, given ? args.inputs[i] : Binding{});
    }
    frame.share_values(known.values);
    frame.known_call = &known;
    pending_assertions_ = known.assertions;
    return true;
}

void Composer::remember(Frame& frame, std::string key, size_t work) {
    bool small = true;
    size_t size = key.size() / sizeof(Scalar);
    frame.values().for_each([&](std::string_view, const CompileValue& value) {
        small = small && size_of(value) <= kMostItems;
        size += size_of(value);
    });
    if (!small || !keep(size)) return;
    KnownCall known{frame.values(), pending_assertions_, work, {}, {}};
    frame.known_call = &known_calls_.emplace(std::move(key), std::move(known)).first->second;
    frame.share_values(frame.known_call->values);
}

// The shapes of the declared tensors, which are those of the equal call if no extent is new: each
// call has unknowns of its own.
std::optional<Composer::Shapes> Composer::known_shapes(Frame& frame,
                                                       const ParamDecl& decl,
                                                       size_t count) {
    const bool unknown =
        decl.type.shape && std::ranges::any_of(*decl.type.shape, [&](const ExtentSpec& extent) {
            return is_dynamic(frame, extent);
        });
    KnownCall* const known = !unknown && frame.shares_values() ? frame.known_call : nullptr;
    if (known) {
        const auto found = std::ranges::find(known->shapes, &decl, &KnownCall::Shapes::decl);
        if (found != known->shapes.end() && work_.spend(found->work)) return found->shapes;
    }
    const size_t work = work_.done;
    const size_t told = diag_.items().size();
    auto shapes = declared_shapes(frame, decl.type, count);
    const bool same = known && frame.shares_values() && diag_.items().size() == told;
    if (same && shapes && !shapes->empty() && keep(shapes->size() * (1 + shapes->front().size()))) {
        known->shapes.push_back({&decl, *shapes, work_.done - work});
    }
    return shapes;
}

// Whether the known calls may grow by that much.
bool Composer::keep(size_t size) {
    if (kept_ + size > kMostKept) return false;
    kept_ += size;
    return true;
}

}  // namespace lemma::sknd
