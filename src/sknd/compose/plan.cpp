#include "sknd/compose/plan.h"

#include <algorithm>
#include <optional>

#include "sknd/types/binding.h"
#include "sknd/types/identifiers.h"

namespace lemma::sknd {

namespace {

class PlanMaker {
public:
    PlanMaker(const Module& module, const Definition& definition)
        : module_(module), definition_(definition) {}

    Plan run() {
        add_attributes();
        add_asserts();
        plan_.binding_order = find_binding_order(module_, definition_).order;
        return std::move(plan_);
    }

private:
    void add_attributes();
    void add_deferred(size_t first);
    std::vector<size_t> read_by(size_t attribute) const;
    void add_asserts();

    const Module& module_;
    const Definition& definition_;
    Plan plan_;
    std::vector<bool> seen_;
};

void PlanMaker::add_attributes() {
    const auto& attribs = definition_.attribs;
    for (size_t i = 0; i < attribs.size(); ++i) plan_.attributes.emplace(attribs[i].name.text, i);
    for (const ParamDecl& decl : attribs) {
        bool closed = true;
        for_each_identifier(
            module_, decl.value, [&](const std::string&, ExprId) { closed = false; });
        plan_.closed.push_back(closed);
    }
    seen_.resize(attribs.size());
    for (size_t i = 0; i < attribs.size(); ++i) add_deferred(i);
}

// The attributes that the default of this one reads.
std::vector<size_t> PlanMaker::read_by(size_t attribute) const {
    std::vector<size_t> read;
    for_each_identifier(
        module_, definition_.attribs[attribute].value, [&](const std::string& name, ExprId) {
            const auto found = plan_.attributes.find(name);
            if (found != plan_.attributes.end()) read.push_back(found->second);
        });
    return read;
}

// Depth first. The check has found circles, if there were any.
void PlanMaker::add_deferred(size_t first) {
    struct Open {
        size_t attribute;
        std::vector<size_t> read;
    };
    std::vector<Open> open;
    const auto enter = [&](size_t attribute) {
        if (seen_[attribute]) return;
        seen_[attribute] = true;
        if (!plan_.closed[attribute]) open.push_back({attribute, read_by(attribute)});
    };
    enter(first);
    while (!open.empty()) {
        if (open.back().read.empty()) {
            plan_.deferred.push_back(open.back().attribute);
            open.pop_back();
            continue;
        }
        const size_t next = open.back().read.back();
        open.back().read.pop_back();
        enter(next);
    }
}

void PlanMaker::add_asserts() {
    const auto& usings = definition_.usings;
    plan_.asserts.resize(usings.size());
    std::unordered_map<std::string_view, size_t> helpers;
    for (size_t i = 0; i < usings.size(); ++i) {
        for (const LValueItem& item : usings[i].lhs.items) {
            for (const auto& target : item.targets) helpers[target.name.text] = i;
        }
    }
    for (size_t i = 0; i < definition_.asserts.size(); ++i) {
        std::optional<size_t> last;
        for_each_identifier(
            module_, definition_.asserts[i].condition, [&](const std::string& name, ExprId) {
                const auto helper = helpers.find(name);
                if (helper != helpers.end()) last = std::max(last.value_or(0), helper->second);
            });
        if (last) plan_.asserts[*last].push_back(i);
    }
}

}  // namespace

Plan make_plan(const Module& module, const Definition& definition) {
    return PlanMaker(module, definition).run();
}

}  // namespace lemma::sknd
