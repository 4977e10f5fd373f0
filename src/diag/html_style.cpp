// SPDX-License-Identifier: Apache-2.0
#include "diag/html_style.h"

namespace lemma::diag {

// Colours have names; a dark screen replaces their values. Paper gets the light ones.
std::string_view html_style() {
    return R"(:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #57606a;
  --line: #d0d7de; --band: #f6f8fa; --link: #0550ae; --good: #116329; --good-bg: #dafbe1;
  --bad: #a40e26; --bad-bg: #ffebe9; --warning: #7a4e00; --warning-bg: #fff3c9;
  --neutral: #424a53; --neutral-bg: #eaeef2; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --soft: #9aa4af;
  --line: #3d444d; --band: #151b23; --link: #79b8ff; --good: #7ee2a0; --good-bg: #12301d;
  --bad: #ffaba8; --bad-bg: #4a1316; --warning: #f0cf6b; --warning-bg: #3b2e08;
  --neutral: #c2cad3; --neutral-bg: #262c36; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.2rem 0 0.6rem; padding-bottom: 0.2rem;
  border-bottom: 2px solid var(--line); }
h3 { font-size: 1.08rem; margin: 1.5rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 50rem; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code { font: 0.92em/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  background: var(--band); padding: 0.05em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
ul, ol { padding-left: 1.6rem; max-width: 50rem; }
li { margin: 0.25rem 0; }
.scroll { overflow-x: auto; margin: 0.6rem 0 1.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
caption { text-align: left; color: var(--soft); padding: 0 0 0.35rem; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.55rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
td.keep, tbody th.keep { overflow-wrap: normal; white-space: nowrap; }
thead th { background: var(--band); font-weight: 600; overflow-wrap: normal; }
tbody th { font-weight: 600; }
table.facts { width: auto; min-width: 40%; }
table.facts tbody th { white-space: nowrap; background: var(--band); font-weight: 500; }
table.signed td, table.signed tbody th { height: 3.2rem; vertical-align: middle; }
table.signed { break-inside: avoid; }
tr:target, h3:target { background: var(--warning-bg); }
.badge { display: inline-block; padding: 0.02rem 0.5rem; border-radius: 0.7rem; font-weight: 600;
  font-size: 0.85em; white-space: nowrap; border: 1px solid currentColor; }
.banner { font-size: 1.25rem; font-weight: 600; padding: 0.8rem 1rem; border-radius: 6px;
  border: 1px solid currentColor; border-left-width: 8px; margin: 1rem 0; max-width: none; }
.good { color: var(--good); background: var(--good-bg); }
.bad { color: var(--bad); background: var(--bad-bg); }
.warning { color: var(--warning); background: var(--warning-bg); }
.neutral { color: var(--neutral); background: var(--neutral-bg); }
@page { size: A4; margin: 15mm 14mm 17mm;
  @bottom-left { font: 7pt sans-serif; color: #57606a; white-space: nowrap; }
  @bottom-right { content: "page " counter(page) " of " counter(pages); font: 7pt sans-serif;
    color: #57606a; white-space: nowrap; } }
@media print { :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --soft: #444444;
  --line: #999999; --band: #f2f2f2; --link: #000000; --good: #0b4f20; --good-bg: #e3f6e8;
  --bad: #8a0b20; --bad-bg: #fde8e6; --warning: #5f3d00; --warning-bg: #fdf3d3;
  --neutral: #333333; --neutral-bg: #eeeeee; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  html { font-size: 8.6pt; } body { font-size: 8.6pt; line-height: 1.4; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 18pt; } h2 { font-size: 13pt; } h3 { font-size: 10.5pt; }
  h1, h2, h3, caption { break-after: avoid; } tr, li, .banner { break-inside: avoid; }
  thead { display: table-header-group; } .scroll { overflow: visible; }
  p, ul, ol { max-width: none; } a { text-decoration: none; }
  .new-page { break-after: page; } tr:target, h3:target { background: none; } }
)";
}

}  // namespace lemma::diag
