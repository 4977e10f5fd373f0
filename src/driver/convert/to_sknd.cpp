// To a SkriptND folder: main.sknd, and a .dat file for each variable.
#include <fmt/format.h>

#include <filesystem>

#include "driver/convert/convert.h"
#include "sknd/export/export.h"
#include "tensor/nnef_data.h"

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
    if (auto done = make_folder(out); !done) return done;
    const std::filesystem::path folder(out);
    if (auto done = write_text((folder / "main.sknd").string(), exported->text); !done) return done;
    if (!options.data) return {};
    for (const auto& variable : exported->variables) {
        LEMMA_TRY(const tensor::Tensor data,
                  variable_data(model, model.program.tensors[variable.tensor]));
        const auto names = data_names({"main", exported->graph, variable.name});
        if (auto done = tensor::write_nnef((folder / names[0]).string(), data); !done) return done;
    }
    return {};
}

}  // namespace lemma::driver
