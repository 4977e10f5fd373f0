// SPDX-License-Identifier: Apache-2.0
// Fix-its of diagnostics as actions: one for each, and one for all.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lsp/analysis/diagnostics.h"
#include "lsp/analysis/places.h"
#include "lsp/features/requests.h"

namespace lemma::lsp {

Json workspace_edit(const Workspace& workspace, const std::map<std::string, Json>& edits) {
    if (!workspace.client.edit_versions) return {{"changes", edits}};
    Json changes = Json::array();
    for (const auto& [uri, list] : edits) {
        const Document* const open = workspace.find(uri);
        changes.push_back(
            {{"textDocument",
              {{"uri", uri}, {"version", open ? Json(open->version()) : Json(nullptr)}}},
             {"edits", list}});
    }
    return {{"documentChanges", std::move(changes)}};
}

namespace {

std::string in_ticks(std::string_view text) {
    constexpr size_t kMaxBytes = 40;
    std::string short_text(text.substr(0, kMaxBytes));
    std::ranges::replace(short_text, '\n', ' ');
    return fmt::format("`{}{}`", short_text, text.size() > kMaxBytes ? "…" : "");
}

std::string title_of(const Analysis& analysis, const diag::Diagnostic& item) {
    if (item.fixes.size() > 1) return fmt::format("Fix: {}", item.message);
    const diag::FixIt& fix = item.fixes[0];
    const std::string_view old = analysis.finding.sources.text(fix.span);
    if (old.empty()) return fmt::format("Insert {}", in_ticks(fix.replacement));
    if (fix.replacement.empty()) return fmt::format("Remove {}", in_ticks(old));
    return fmt::format("Replace {} by {}", in_ticks(old), in_ticks(fix.replacement));
}

class Actions {
public:
    explicit Actions(const Query& query)
        : query_(query), analysis_(*query.analysis), places_(analysis_, query.workspace) {
        for (const Json& kind : member_at(query.params, "context/only"))
            only_.push_back(text_of(kind));
    }

    Json run() {
        const TextSpan range = query_.range();
        std::vector<const diag::Diagnostic*> fixable;
        for (const diag::Diagnostic& item : analysis_.finding.diag.items()) {
            if (item.fixes.empty() || !is_here(item)) continue;
            fixable.push_back(&item);
            const bool touched = item.span.begin <= range.end && range.begin <= item.span.end;
            if (touched && wanted("quickfix")) add_one(item);
        }
        if (fixable.size() > 1 && wanted("quickfix") && !actions_.empty())
            add_all(fixable, "quickfix");
        if (!fixable.empty() && wanted("source.fixAll") && !only_.empty())
            add_all(fixable, "source.fixAll");
        return std::move(actions_);
    }

private:
    bool is_here(const diag::Diagnostic& item) const {
        return item.span.valid() && item.span.file == analysis_.file &&
               std::ranges::all_of(item.fixes, [&](const diag::FixIt& fix) {
                   return fix.span.valid() && fix.span.file == analysis_.file;
               });
    }
    // A kind asks for the kinds below it, too.
    bool wanted(const std::string& kind) const {
        return only_.empty() || std::ranges::any_of(only_, [&](const std::string& only) {
                   return kind == only || kind.starts_with(only + ".");
               });
    }
    Json edit(const diag::FixIt& fix) {
        return {{"range", places_.range(fix.span)}, {"newText", fix.replacement}};
    }
    void add_one(const diag::Diagnostic& item) {
        Json edits = Json::array();
        for (const diag::FixIt& fix : item.fixes) edits.push_back(edit(fix));
        actions_.push_back(
            {{"title", title_of(analysis_, item)},
             {"kind", "quickfix"},
             {"isPreferred", true},
             {"diagnostics",
              Json::array({diagnostic_json(item, places_.range(item.span), Json())})},
             {"edit", workspace_edit(query_.workspace, {{query_.document.uri(), edits}})}});
    }
    // Fixes that overlap an earlier one are left for the next time.
    void add_all(const std::vector<const diag::Diagnostic*>& fixable, const char* kind) {
        std::vector<diag::FixIt> chosen;
        const auto overlaps = [&](const diag::FixIt& fix) {
            return std::ranges::any_of(chosen, [&](const diag::FixIt& other) {
                const bool apart =
                    fix.span.end < other.span.begin || other.span.end < fix.span.begin;
                return !apart;
            });
        };
        for (const diag::Diagnostic* item : fixable) {
            if (std::ranges::none_of(item->fixes, overlaps))
                chosen.insert(chosen.end(), item->fixes.begin(), item->fixes.end());
        }
        Json edits = Json::array();
        for (const diag::FixIt& fix : chosen) edits.push_back(edit(fix));
        actions_.push_back(
            {{"title", fmt::format("Fix all: {} problems", fixable.size())},
             {"kind", kind},
             {"edit", workspace_edit(query_.workspace, {{query_.document.uri(), edits}})}});
    }

    const Query& query_;
    const Analysis& analysis_;
    Places places_;
    std::vector<std::string> only_;
    Json actions_ = Json::array();
};

}  // namespace

Answer code_actions(const Query& query) {
    if (!query.fresh()) return Json::array();
    return Actions(query).run();
}

}  // namespace lemma::lsp
