// sonnx/reference/nest.h — a function that fills a tensor element by element, with the loop
// invariants that let its contract be proved.
#pragma once

#include <string>
#include <vector>

#include "sonnx/reference/c_tensor.h"

namespace lemma::sonnx::reference {

struct Axis {
    std::string index;  // the name of its loop variable
    int64_t extent = 0;
};

// What a node of the graph is in C.
struct NodeCode {
    std::string function;    // its name
    std::string predicate;   // true once the function has run: `n0_holds`
    std::string assigned;    // the tensor that it fills, as contracts say it
    std::string definition;  // all of the text
};

struct Filling {
    std::string id;        // of the node: names begin with it
    std::string function;  // its name
    const CTensor& output;
    std::vector<Axis> axes;  // one for each axis of the output
    // Of the output's element at the indices: the value in the contract's words.
    std::string value;
    std::vector<std::string> body;  // the statements that fill the element
    // Further clauses that follow from that, in the document's words; each a whole predicate.
    std::vector<std::string> also = {};
};

// The predicates ID_at (one element) and ID_holds (all), and the function.
NodeCode fill_tensor(const Filling& filling);

// `0 <= n < 1 && 0 <= m < 4`; empty for no axes.
std::string ranges(const std::vector<Axis>& axes);
// `integer n, integer m`
std::string parameters(const std::vector<Axis>& axes, std::string_view type);
// `n, m`
std::string names(const std::vector<Axis>& axes);

// Lines of text, each behind so many spaces.
void put_line(std::string& text, size_t indent, std::string_view line);

}  // namespace lemma::sonnx::reference
