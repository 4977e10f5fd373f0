// SPDX-License-Identifier: Apache-2.0
// base/match.h — `match(variant, [](const A&) {…}, [](const B&) {…})`: every alternative must be
// covered, so a new kind of node stops the build where it is not handled yet.
#pragma once

#include <utility>
#include <variant>

namespace lemma {

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class Variant, class... F>
decltype(auto) match(Variant&& variant, F&&... functions) {
    return std::visit(Overloaded{std::forward<F>(functions)...}, std::forward<Variant>(variant));
}

}  // namespace lemma
