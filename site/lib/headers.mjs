// SPDX-License-Identifier: Apache-2.0
// Reads the public headers: declarations with the comments above them. A small reader is enough for
// them; it knows comments, brackets and the words that begin a declaration.

// { comment, code } for each declaration of a text at the outermost level. Sections `/* ---- X ---- */`
// are items with `section`.
export function itemsOf(text) {
    const items = [];
    let at = 0;
    let comment = [];
    let joined = false; // no empty line before it
    while (at < text.length) {
        const rest = text.slice(at);
        const skipped = /^(?:\s*\n|[ \t]+|#(?:[^\n\\]|\\\n)*\n?)/.exec(rest);
        if (skipped) {
            if (/\n\s*\n/.test(skipped[0])) [comment, joined] = [[], false];
            at += skipped[0].length;
            continue;
        }
        const note = /^(?:\/\*([\s\S]*?)\*\/|\/\/([^\n]*)\n?)/.exec(rest);
        if (note) {
            at += note[0].length;
            const words = (note[1] ?? note[2]).replace(/^[ \t]*\*[ \t]?/gm, "").trim();
            const section = /^----\s*(.*?)\s*-*$/.exec(words);
            if (section) items.push({ section: section[1] });
            else if (note[1] !== undefined) comment = [words];
            else comment.push(words);
            continue;
        }
        const code = declaration(rest);
        const trailing = /^[ \t]*(?:\/\/[ \t]*([^\n]*)|\/\*([\s\S]*?)\*\/)/.exec(
            rest.slice(code.length),
        );
        at += code.length + (trailing?.[0].length ?? 0);
        const after = trailing ? [(trailing[1] ?? trailing[2]).trim()] : [];
        items.push({ comment: [...comment, ...after].join("\n"), code: code.trim(), joined });
        [comment, joined] = [[], true];
    }
    return items;
}

// Up to the semicolon, or the end of a body that no semicolon follows.
function declaration(text) {
    const depth = { "(": 0, "{": 0 };
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (text.startsWith("//", i)) i = (text.indexOf("\n", i) + text.length) % text.length;
        else if (text.startsWith("/*", i)) i = text.indexOf("*/", i) + 1;
        else if (c === "(") depth["("]++;
        else if (c === ")") depth["("]--;
        else if (c === "{") depth["{"]++;
        else if (c === "}") {
            depth["{"]--;
            const body = /\)[^;{}()]*(?::[^;]*)?\{/.test(text.slice(0, i + 1));
            if (!depth["{"] && !depth["("] && body && !/^\s*(typedef|enum|struct|class)/.test(text))
                return text.slice(0, i + 1);
        } else if (c === ";" && !depth["("] && !depth["{"]) return text.slice(0, i + 1);
    }
    return text;
}

// The text between `extern "C" {` or `namespace lemma {` and its end.
export function publicPart(text) {
    const begin = /(?:extern "C" \{\n#endif|namespace lemma \{)\n/.exec(text);
    const end = Math.max(
        text.lastIndexOf("}  // namespace lemma"),
        text.lastIndexOf("#ifdef __cplusplus"),
    );
    return text.slice(begin.index + begin[0].length, end);
}

// The comment at the top of the header, without the licence.
export function introduction(text) {
    const body = text.replace(/^\/\/ SPDX[^\n]*\n/, "");
    const block = /^\/\*([\s\S]*?)\*\//.exec(body);
    if (block) return block[1].replace(/^[ \t]*\*[ \t]?/gm, "").trim();
    return (
        /^(?:\/\/[^\n]*\n)+/
            .exec(body)?.[0]
            .replace(/^\/\/ ?/gm, "")
            .trim() ?? ""
    );
}

// A function without its body and its list of initial values.
export function withoutBody(code) {
    const open = bodyStart(code);
    if (open < 0) return code;
    const head = code.slice(0, open).trimEnd();
    return `${head.replace(/(\))\s*:\s[\s\S]*$/, "$1")};`;
}
function bodyStart(code) {
    let round = 0;
    let seen = false;
    for (let i = 0; i < code.length; i++) {
        if (code[i] === "(") round++;
        if (code[i] === ")") {
            round--;
            seen = true;
        }
        if (code[i] === "{" && !round && seen) return i;
    }
    return -1;
}

// What a declaration declares: { kind, name }.
export function naming(code) {
    const plain = code
        .replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, "")
        .replace(/^template <[^>]*>\s*/, "");
    const type = /^(?:typedef )?(enum class|enum|struct|class|using)\s+(\w+)/.exec(plain);
    const pointer = /^typedef [^;]*\(\*(\w+)\)/.exec(plain);
    if (pointer) return { kind: "type", name: pointer[1] };
    if (type && !/^(?:struct|enum) \w+\s*\*?\s*\w+\(/.test(plain))
        return {
            kind:
                type[1] === "class"
                    ? "class"
                    : type[1] === "using"
                      ? "type"
                      : type[1].split(" ")[0],
            name: type[2],
        };
    const call = /(~?\w+|operator\S+)\s*\(/.exec(plain.replace(/\bLEMMA_API\b/, ""));
    if (call) return { kind: "function", name: call[1] };
    return { kind: "field", name: /(\w+)\s*(?:=[^;]*|\{[^;]*)?;/.exec(plain)?.[1] ?? "" };
}

// Members of the public part of a class or a structure.
export function membersOf(code) {
    const open = code.indexOf("{");
    if (open < 0) return [];
    let body = code.slice(open + 1, code.lastIndexOf("}"));
    body = body.replace(/\n\s*private:[\s\S]*$/, "\n").replace(/^\s*public:/m, "");
    return itemsOf(body)
        .filter((item) => item.code && !/^friend /.test(item.code))
        .map((item) => ({ ...item, code: withoutBody(item.code), ...naming(item.code) }));
}
