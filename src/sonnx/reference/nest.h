// sonnx/reference/nest.h — a function that fills a tensor element by element, with the loop
// invariants that prove its contract.
#pragma once

#include <string>
#include <vector>

#include "sonnx/reference/c_tensor.h"

namespace lemma::sonnx::reference {

struct Axis {
    std::string index;  // name of its loop variable
    int64_t extent = 0;
};

// The C code of a node.
struct NodeCode {
    std::string function;    // name of the function
    std::string predicate;   // the predicate that holds after the call: `n0_holds`
    std::string assigned;    // the filled tensor in the notation of contracts
    std::string definition;  // the whole text
};

struct Filling {
    std::string id;        // the prefix of names of the node
    std::string function;  // name of the function
    const CTensor& output;
    std::vector<Axis> axes;  // one for each axis of the output
    // The value of the output's element at the indices, in the notation of contracts.
    std::string value;
    std::vector<std::string> body;  // the statements that fill the element
    // Further clauses that follow from it, in the document's words; each is a complete predicate.
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

// Appends a line with the given indentation.
void put_line(std::string& text, size_t indent, std::string_view line);

}  // namespace lemma::sonnx::reference
