// SPDX-License-Identifier: Apache-2.0
// The sections of the site and the order of their pages. A page of docs/ that no section names is an
// error: it would be lost.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// `pages` are sources below the repository; `*` takes the rest of a folder by name.
export const kSections = [
    {
        name: "Start",
        pages: [
            "README.md",
            "docs/language/tutorial/README.md",
            "docs/language/tutorial/*",
            "CHANGELOG.md",
            "SECURITY.md",
        ],
    },
    {
        name: "Language",
        pages: ["docs/language/README.md", "docs/language/*"],
        asLinked: true, // in the order of the links of the first page
    },
    {
        name: "How-to",
        pages: [
            "docs/howto/show-a-model.md",
            "docs/howto/view-a-model.md",
            "docs/howto/compare-models.md",
            "docs/howto/*",
            "editors/README.md",
            "editors/vscode/README.md",
            "editors/vim/README.md",
        ],
        last: /^docs\/howto\/add-/,
    },
    { name: "Operators", pages: ["docs/operators/README.md", "docs/operators/**"], byFolder: true },
    { name: "Errors", pages: ["docs/errors/README.md", "docs/errors/*"] },
    {
        name: "Formats",
        pages: [
            "docs/onnx-coverage.md",
            "docs/onnx-operators.md",
            "docs/nnef1-conformance.md",
            "docs/nnef1-writing.md",
            "docs/graph-json.md",
            "docs/view-json.md",
            "docs/diff-json.md",
        ],
    },
    { name: "API", pages: ["docs/api/README.md", "docs/abi.md", "docs/api/**"], byFolder: true },
    {
        name: "Architecture",
        pages: ["docs/architecture.md", "CONTRIBUTING.md", "tests/stdlib/README.md"],
    },
    { name: "Performance", pages: ["docs/performance.md", "docs/numerics.md"] },
    {
        name: "Assurance",
        pages: [
            "docs/assurance.md",
            "docs/certificate.md",
            "docs/profile/sonnx.md",
            "docs/profile/sonnx-rules.md",
        ],
    },
    { name: "Decisions", pages: ["docs/decisions/README.md", "docs/decisions/*"] },
];

// Shown in the navigation instead of a long heading.
const kShort = {
    "README.md": "Overview",
    "docs/api/README.md": "Index",
    "docs/api/cpp/types.md": "Other types",
    "docs/decisions/README.md": "All decisions",
    "docs/errors/README.md": "All errors",
    "docs/language/README.md": "The language",
    "docs/language/coming-from.md": "From PyTorch, ONNX or Halide",
    "docs/language/coming-from-nnef1.md": "From NNEF 1.0",
    "docs/language/tutorial/README.md": "Tutorial",
    "docs/operators/README.md": "All operators",
    "editors/vim/README.md": "Vim and Neovim",
    "editors/vscode/README.md": "VS Code",
};

export function titleOf(text, source) {
    const heading = /^# (.*)$/m.exec(text)?.[1];
    if (!heading) throw new Error(`${source} has no heading`);
    return heading.replace(/\\(.)/g, "$1").replace(/`/g, "");
}

function shortTitle(page) {
    if (kShort[page.source]) return kShort[page.source];
    const folder = /^docs\/operators\/\w+\//.exec(page.source);
    return folder
        ? page.title.replace(/^\w+\./, "")
        : page.title.replace(/^(lemma::|lemma\.)(?=\w)/, "");
}

function expanded(pattern, sources, taken) {
    if (!pattern.includes("*")) return sources.has(pattern) ? [pattern] : [];
    const folder = pattern.slice(0, pattern.indexOf("*"));
    const deep = pattern.endsWith("**");
    return [...sources].filter(
        (s) =>
            s.startsWith(folder) &&
            !taken.has(s) &&
            (deep || !s.slice(folder.length).includes("/")),
    );
}

// Sections with their pages in order. `groups` have the pages of a folder, such as a module.
export function navigation(pages) {
    const bySource = new Map(pages.map((p) => [p.source, p]));
    const sources = new Set(bySource.keys());
    const taken = new Set();
    const sections = kSections.map((section) => {
        const found = [];
        for (const pattern of section.pages)
            for (const source of expanded(pattern, sources, taken)) {
                taken.add(source);
                found.push(bySource.get(source));
            }
        if (section.last)
            found.sort((a, b) => section.last.test(a.source) - section.last.test(b.source));
        if (section.asLinked) sortAsLinked(found);
        return { name: section.name, pages: found, groups: grouped(section, found) };
    });
    const lost = [...sources].filter((s) => s.startsWith("docs/") && !taken.has(s));
    if (lost.length) throw new Error(`in no section of the navigation: ${lost.join(", ")}`);
    for (const section of sections)
        section.pages.forEach((page, i) => {
            page.section = section.name;
            page.short = shortTitle(page);
            page.previous = section.pages[i - 1];
            page.next = section.pages[i + 1];
        });
    return sections;
}

function sortAsLinked(pages) {
    const [first] = pages;
    const at = (page) => {
        const found = first.text.indexOf(
            `](${page.source.slice(first.source.lastIndexOf("/") + 1)}`,
        );
        return page === first ? -1 : found < 0 ? Infinity : found;
    };
    pages.sort((a, b) => at(a) - at(b));
}

function grouped(section, pages) {
    if (!section.byFolder) return [{ name: "", pages }];
    const groups = new Map();
    for (const page of pages) {
        const name = page.group ?? /^docs\/operators\/(\w+)\//.exec(page.source)?.[1] ?? "";
        groups.set(name, [...(groups.get(name) ?? []), page]);
    }
    return [...groups].map(([name, members]) => ({ name, pages: members }));
}

export const version = (root) =>
    /project\(\s*\w+\s+VERSION\s+([\d.]+)/.exec(
        readFileSync(join(root, "CMakeLists.txt"), "utf8"),
    )?.[1] ?? "";
