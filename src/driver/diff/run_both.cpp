// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/run_both.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "driver/progress.h"
#include "engine/engine.h"
#include "session/tensors.h"

namespace lemma::driver {

namespace {

using interpret::Array;

class Runner {
public:
    Runner(const diff::Comparison& comparison, const RunBoth& options, const Terminal& terminal)
        : comparison_(comparison), options_(options), terminal_(terminal) {}

    Result<std::optional<diff::Numbers>> run(model::Finding& a, model::Finding& b) {
        list_pairs();
        numbers_.tolerance = options_.tolerance;
        const auto keep_a = [&](const std::string& name, const Array& array) {
            values_a_[name] = array;
        };
        const auto compare_b = [&](const std::string& name, const Array& array) {
            const auto [from, to] = by_name_b_.equal_range(name);
            for (auto at = from; at != to; ++at) take(at->second, array);
        };
        auto first = open(options_.a, names_a_, keep_a, a);
        if (!first) return std::nullopt;
        LEMMA_TRY(const interpret::NamedArrays inputs, inputs_of(first->program()));
        if (!first->step(inputs, a)) return std::nullopt;
        numbers_.engine_a = engine_text(*first, options_.a);
        auto second = open(options_.b, names_b_, compare_b, b);
        if (!second) return std::nullopt;
        LEMMA_TRY(const interpret::NamedArrays same, renamed(inputs, second->program()));
        if (!second->step(same, b)) return std::nullopt;
        numbers_.engine_b = engine_text(*second, options_.b);
        return finish();
    }

private:
    using Receive = std::function<void(const std::string&, const Array&)>;

    const std::string& name_a(ir::TensorId id) const {
        return comparison_.a.program->tensors[id].name;
    }
    const std::string& name_b(ir::TensorId id) const {
        return comparison_.b.program->tensors[id].name;
    }

    void list_pairs() {
        std::set<std::pair<uint32_t, uint32_t>> seen;
        std::set<ir::TensorId> outputs;
        for (const diff::Terminal& output : comparison_.a.outputs) outputs.insert(output.tensor);
        for (const diff::TensorPair& pair : comparison_.tensors) {
            if (!seen.emplace(pair.a.value, pair.b.value).second) continue;
            const std::string& a = name_a(pair.a);
            const std::string& b = name_b(pair.b);
            by_name_b_.emplace(b, pairs_.size());
            names_a_.insert(a);
            names_b_.insert(b);
            pairs_.emplace_back().a = a;
            pairs_.back().b = b;
            pairs_.back().output = outputs.contains(pair.a);
        }
        taken_.resize(pairs_.size());
    }

    std::unique_ptr<session::Session> open(session::SessionOptions options,
                                           const std::set<std::string>& names,
                                           const Receive& receive,
                                           model::Finding& finding) {
        // Compiled code returns only tensors outside of loops and branches.
        options.keep.choose =
            [&names](const ir::Program& program) -> Result<std::vector<ir::TensorId>> {
            std::vector<ir::TensorId> chosen;
            for (const ir::TensorId id : session::made_tensors(program).outside)
                if (names.contains(program.tensors[id].name)) chosen.push_back(id);
            return chosen;
        };
        options.keep.receive = [receive](const ir::Tensor& tensor,
                                         const Array& array) -> Result<void> {
            receive(tensor.name, array);
            return {};
        };
        options.inputs = options_.inputs;
        show_progress(terminal_, options);
        show_stage(terminal_, "running " + finding.model);
        return session::Session::open(finding.model, options, finding);
    }

    Result<interpret::NamedArrays> inputs_of(const ir::Program& program) const {
        LEMMA_TRY(interpret::NamedArrays inputs,
                  session::read_inputs(program, options_.inputs, options_.a.read_input));
        LEMMA_TRY(session::add_random_inputs(program, options_.seed, inputs));
        return inputs;
    }

    // The inputs of A under the names and in the types of B.
    Result<interpret::NamedArrays> renamed(const interpret::NamedArrays& inputs,
                                           const ir::Program& program) const {
        std::map<std::string, Array> items_a, items_b;
        for (const ir::Port& port :
             comparison_.a.program->graphs[comparison_.a.program->main].inputs) {
            const auto found = inputs.find(port.name);
            if (found == inputs.end()) continue;
            const auto names = session::item_names(port, found->second.size());
            for (size_t i = 0; i < names.size(); ++i) items_a[names[i]] = found->second[i];
        }
        for (const auto& [a, b] : comparison_.inputs) {
            const auto found = items_a.find(comparison_.a.inputs[a].name);
            if (found == items_a.end()) continue;
            const diff::Terminal& terminal = comparison_.b.inputs[b];
            Array array = found->second;
            const tensor::DType dtype = comparison_.b.program->tensors[terminal.tensor].dtype;
            if (tensor::is_real(array.dtype) == tensor::is_real(dtype) && array.strings.empty()) {
                array.dtype = dtype;
                array.round();
            }
            items_b[terminal.name] = std::move(array);
        }
        LEMMA_TRY(interpret::NamedArrays gathered,
                  session::gather_inputs(program, std::move(items_b)));
        LEMMA_TRY(session::add_random_inputs(program, options_.seed, gathered));
        return gathered;
    }

    void take(size_t at, const Array& array) {
        diff::NumberPair& pair = pairs_[at];
        const auto found = values_a_.find(pair.a);
        if (found == values_a_.end()) return;
        diff::NumberPair made = compare_arrays(found->second, array, options_.tolerance);
        made.a = pair.a;
        made.b = pair.b;
        made.output = pair.output;
        pair = std::move(made);
        taken_[at] = true;
    }

    std::optional<diff::Numbers> finish() {
        for (size_t i = 0; i < pairs_.size(); ++i) {
            if (!taken_[i]) continue;
            if (!pairs_[i].equal && !numbers_.first) numbers_.first = numbers_.pairs.size();
            numbers_.pairs.push_back(std::move(pairs_[i]));
        }
        return std::move(numbers_);
    }

    static std::string engine_text(session::Session& session,
                                   const session::SessionOptions& options) {
        if (session.engine() == nullptr) return "the interpreter";
        return fmt::format(
            "compiled code with {} thread{}", options.threads, options.threads == 1 ? "" : "s");
    }

    const diff::Comparison& comparison_;
    const RunBoth& options_;
    const Terminal& terminal_;
    std::vector<diff::NumberPair> pairs_;
    std::vector<bool> taken_;
    std::set<std::string> names_a_, names_b_;
    std::multimap<std::string, size_t> by_name_b_;
    std::unordered_map<std::string, Array> values_a_;
    diff::Numbers numbers_;
};

}  // namespace

Result<std::optional<diff::Numbers>> run_both(const diff::Comparison& comparison,
                                              const RunBoth& options,
                                              const Terminal& terminal,
                                              model::Finding& a,
                                              model::Finding& b) {
    return Runner(comparison, options, terminal).run(a, b);
}

}  // namespace lemma::driver
