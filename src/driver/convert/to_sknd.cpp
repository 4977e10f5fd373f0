// To SkriptND: main.sknd, and a .dat file for each variable.
#include "driver/convert/convert.h"
#include "driver/convert/output.h"
#include "sknd/export/export.h"

namespace lemma::driver {

Result<void> write_sknd_model(const LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              Finding& finding) {
    const auto exported = sknd::export_sknd(model.program, model.package, finding.diag);
    if (!exported) {
        finding.status = kWrong;
        return {};
    }
    LEMMA_TRY(Output output, Output::create(out));
    if (auto done = output.write("main.sknd", exported->text); !done) return done;
    for (const auto& variable : exported->variables) {
        if (!options.data) break;
        LEMMA_TRY(const tensor::Tensor data,
                  variable_data(model, model.program.tensors[variable.tensor]));
        const auto names = data_names({"main", exported->graph, variable.name});
        if (auto done = output.write_tensor(names[0], data); !done) return done;
    }
    return output.finish();
}

}  // namespace lemma::driver
