// SPDX-License-Identifier: Apache-2.0
// Reads expressions of SkriptND, as the definitions of operators have them. The result is a tree of
// the kinds that viewer/src/document.ts describes, and of these, which formula.mjs replaces:
//   pack {of, length}   list {items}   slice {parts}   fold {v, of}   update {of, with}
//   guard {of, low, high}   choice {condition, yes, no}   given {of}   otherwise {of, or}   text {v}
//   invoke {v, attributes, args}
const kTokens =
    /\s+|#[^\n]*|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<string>'[^']*'|"[^"]*")|(?<quoted>`\w+`)|(?<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<sign>\.\.\.|\.\.|<-|->|\?\?|:=|\+=|\*=|<=|>=|&=|\|=|==|!=|&&|\|\||<<|>>|<>|\*\*|=>|[-+*/\\%<>=!?:,;(){}[\]|^@])|(?<wrong>.)/gsu;

export class Unreadable extends Error {}

export function tokens(text) {
    const found = [];
    for (const match of text.matchAll(kTokens)) {
        const [kind, value] = Object.entries(match.groups).find(([, v]) => v !== undefined) ?? [];
        if (kind === "wrong") throw new Unreadable(`unexpected ${value}`);
        if (kind) found.push({ kind, value });
    }
    return found;
}

// From loose to tight, as docs/language/expressions.md lists them.
const kLevels = [
    ["&&", "||", "^"],
    ["<", "<=", ">", ">=", "==", "!=", "is", "in"],
    ["<<", ">>"],
    ["+", "-"],
    ["*", "/", "\\", "%"],
    ["**"],
];

export class Reader {
    constructor(text) {
        this.tokens = tokens(text);
        this.at = 0;
    }
    get next() {
        return this.tokens[this.at]?.value;
    }
    get done() {
        return this.at >= this.tokens.length;
    }
    is(value, ahead = 0) {
        const token = this.tokens[this.at + ahead];
        return token?.value === value && token.kind !== "string";
    }
    accept(value) {
        if (!this.is(value)) return false;
        this.at++;
        return true;
    }
    expect(value) {
        if (!this.accept(value)) throw new Unreadable(`expected ${value}, found ${this.next}`);
    }
    name() {
        const token = this.tokens[this.at++];
        if (token?.kind !== "name") throw new Unreadable(`expected a name, found ${token?.value}`);
        return token.value;
    }

    // expr: choice ['??' expr] ['<-' expr]
    expression() {
        let left = this.choice();
        if (this.accept("??")) left = { k: "otherwise", of: left, or: this.expression() };
        if (this.accept("<-")) left = { k: "update", of: left, with: this.expression() };
        return left;
    }
    // choice: binary ['?' expr [':' expr]]; without the second part, the value is optional.
    choice() {
        const condition = this.binary(0);
        if (!this.accept("?")) return condition;
        const yes = this.choice();
        return this.accept(":")
            ? { k: "choice", condition, yes, no: this.choice() }
            : { k: "choice", condition, yes, no: null };
    }
    binary(level) {
        if (level === kLevels.length) return this.unary();
        let left = this.binary(level + 1);
        while (kLevels[level].some((sign) => this.is(sign))) {
            const sign = this.tokens[this.at++].value;
            left = this.accept("..")
                ? { k: "fold", v: sign, of: left }
                : { k: "op", v: sign, args: [left, this.binary(level + 1)] };
        }
        return left;
    }
    unary() {
        if (this.accept("-")) return { k: "neg", of: this.binary(5) };
        if (this.accept("!")) return { k: "op", v: "!", args: [this.unary()] };
        if (this.accept("?")) return { k: "given", of: this.unary() };
        return this.postfix();
    }
    postfix() {
        let of = this.primary();
        for (;;) {
            if (this.accept("[")) of = { k: "index", of, at: this.items("]") };
            else if (this.is("(") && of.k === "name") of = this.call(of.v, []);
            else if (this.is("{") && of.k === "name") of = this.call(of.v, this.attributes());
            else return of;
        }
    }
    call(v, attributes) {
        this.expect("(");
        return { k: "invoke", v, attributes, args: this.items(")") };
    }
    attributes() {
        const found = [];
        this.expect("{");
        while (!this.accept("}")) {
            const name = this.name();
            this.expect("=");
            found.push([name, this.expression()]);
            this.accept(",");
        }
        return found;
    }
    primary() {
        const token = this.tokens[this.at++];
        if (!token) throw new Unreadable("unexpected end");
        if (token.kind === "number") return { k: "num", v: token.value.replace(/\.0$/, "") };
        if (token.kind === "string") return { k: "text", v: token.value.slice(1, -1) };
        if (token.kind === "quoted") return this.call(token.value.slice(1, -1), []);
        if (token.kind === "name") return { k: "name", v: token.value };
        if (token.value === "(") {
            const inner = this.expression();
            this.expect(")");
            return inner;
        }
        if (token.value === "[") return { k: "list", items: this.items("]") };
        throw new Unreadable(`unexpected ${token.value}`);
    }
    // Items between brackets: expressions, packs `i..`, ranges `a:b`, guards `|i <> a : b|`.
    items(close) {
        const found = [];
        while (!this.accept(close)) {
            found.push(this.item(close));
            if (!this.is(close)) this.expect(",");
        }
        return found;
    }
    item(close) {
        let item = this.accept("|") ? this.guard() : this.range(close);
        if (this.accept("..")) {
            let length = null;
            if (this.accept("(")) {
                length = this.expression();
                this.expect(")");
            }
            item = { k: "pack", of: item, length };
        }
        return item;
    }
    guard() {
        const of = this.expression();
        const [low, high] = this.accept("<>")
            ? [this.expression(), this.accept(":") ? this.expression() : null]
            : [null, null];
        this.expect("|");
        return { k: "guard", of, low, high };
    }
    range(close) {
        const parts = [this.is(":") ? null : this.expression()];
        while (this.accept(":"))
            parts.push(this.is(":") || this.is(close) || this.is(",") ? null : this.expression());
        return parts.length === 1 ? parts[0] : { k: "slice", parts };
    }
}
