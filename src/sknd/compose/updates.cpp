// Updates of variables (spec 2.11), also those of calls inside of branches and loops.
#include <fmt/format.h>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

// @update runs after @compose; variables take their new values when the step is over.
void Composer::compose_update(Frame& frame) {
    const Definition& definition = frame.definition();
    if (definition.updates.empty()) return;
    frame.push();
    compose_components(frame, definition.updates);
    std::vector<ir::Update> updates;
    for (const ParamDecl& decl : definition.variables) {
        const Binding* after = frame.find_here(decl.name.text);
        if (!after || after->poison) continue;
        const Binding before = *frame.find_outer(decl.name.text);
        if (before.operand.items.size() != after->operand.items.size()) {
            inner_error(frame,
                        decl.span,
                        DiagKind::LengthMismatch,
                        fmt::format("the variable `{}` has {} tensors, its new value {}",
                                    decl.name.text,
                                    before.operand.items.size(),
                                    after->operand.items.size()));
            continue;
        }
        for (size_t i = 0; i < before.operand.items.size(); ++i) {
            const ir::Tensor& variable = program_.tensors[before.operand.items[i]];
            const ir::Tensor& value = program_.tensors[after->operand.items[i]];
            if (!may_be_equal(variable.shape, value.shape)) {
                inner_error(frame,
                            decl.span,
                            DiagKind::ExtentMismatch,
                            fmt::format("the variable `{}` has the shape {}, its new value {}",
                                        decl.name.text,
                                        shape_text(variable.shape),
                                        shape_text(value.shape)));
                continue;
            }
            updates.push_back({before.operand.items[i], after->operand.items[i]});
        }
    }
    program_.updates.insert(program_.updates.end(), updates.begin(), updates.end());
    frame.pop();
}

}  // namespace lemma::sknd
