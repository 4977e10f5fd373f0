// SPDX-License-Identifier: Apache-2.0
// As much of a document object as drawing formulas needs.
class Node {
    constructor(tag) {
        this.tag = tag;
        this.children = [];
    }
    append(...children) {
        this.children.push(...children);
    }
    setAttribute() {}
}

export class Maker {
    createElementNS(_, tag) {
        return new Node(tag);
    }
    text(node) {
        return typeof node === "string"
            ? node
            : `<${node.tag}>${node.children.map((c) => this.text(c)).join("")}</${node.tag}>`;
    }
    plain(node) {
        return typeof node === "string" ? node : node.children.map((c) => this.plain(c)).join("");
    }
}
