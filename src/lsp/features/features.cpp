// SPDX-License-Identifier: Apache-2.0
#include "lsp/features/feature.h"
#include "lsp/features/requests.h"

namespace lemma::lsp {

std::span<const Feature> document_features() {
    static constexpr Feature kFeatures[] = {
        {"textDocument/completion", &completion},
        {"textDocument/signatureHelp", &signature_help},
        {"textDocument/hover", &hover, true},
        {"textDocument/definition", &definition},
        {"textDocument/references", &references},
        {"textDocument/documentHighlight", &document_highlight},
        {"textDocument/prepareRename", &prepare_rename},
        {"textDocument/rename", &rename},
        {"textDocument/documentSymbol", &document_symbols},
        {"textDocument/foldingRange", &folding_ranges},
        {"textDocument/documentLink", &document_links},
        {"textDocument/semanticTokens/full", &semantic_tokens},
        {"textDocument/semanticTokens/full/delta", &semantic_tokens_delta},
        {"textDocument/semanticTokens/range", &semantic_tokens_range},
        {"textDocument/formatting", &formatting},
        {"textDocument/rangeFormatting", &range_formatting},
        {"textDocument/onTypeFormatting", &on_type_formatting},
        {"textDocument/codeAction", &code_actions, true},
        {"textDocument/inlayHint", &inlay_hints, true},
        {"textDocument/prepareCallHierarchy", &prepare_call_hierarchy},
    };
    return kFeatures;
}

std::span<const WorkspaceFeature> workspace_features() {
    static constexpr WorkspaceFeature kFeatures[] = {
        {"workspace/symbol", &workspace_symbols},
        {"callHierarchy/incomingCalls", &incoming_calls},
        {"callHierarchy/outgoingCalls", &outgoing_calls},
    };
    return kFeatures;
}

Json server_capabilities(Encoding encoding) {
    const char* const name = encoding == Encoding::Utf8    ? "utf-8"
                             : encoding == Encoding::Utf16 ? "utf-16"
                                                           : "utf-32";
    constexpr int kIncremental = 2;
    return {{"positionEncoding", name},
            {"textDocumentSync",
             {{"openClose", true}, {"change", kIncremental}, {"save", {{"includeText", false}}}}},
            {"completionProvider", {{"triggerCharacters", {".", "@", "{", ","}}}},
            {"signatureHelpProvider",
             {{"triggerCharacters", {"(", "{"}}, {"retriggerCharacters", {","}}}},
            {"hoverProvider", true},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"documentHighlightProvider", true},
            {"renameProvider", {{"prepareProvider", true}}},
            {"documentSymbolProvider", true},
            {"workspaceSymbolProvider", true},
            {"foldingRangeProvider", true},
            {"documentLinkProvider", {{"resolveProvider", false}}},
            {"semanticTokensProvider",
             {{"legend", semantic_legend()}, {"full", {{"delta", true}}}, {"range", true}}},
            {"documentFormattingProvider", true},
            {"documentRangeFormattingProvider", true},
            {"documentOnTypeFormattingProvider",
             {{"firstTriggerCharacter", "}"}, {"moreTriggerCharacter", {";"}}}},
            {"codeActionProvider", {{"codeActionKinds", {"quickfix", "source.fixAll"}}}},
            {"inlayHintProvider", true},
            {"callHierarchyProvider", true},
            {"workspace",
             {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

}  // namespace lemma::lsp
