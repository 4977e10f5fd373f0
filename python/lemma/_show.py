# SPDX-License-Identifier: Apache-2.0
"""How models and reports look: as text, and as HTML for notebooks."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._errors import Diagnostic
    from ._model import Model, TensorInfo

# Colours come from the page, so that dark pages work, too.
_STYLE = """<style>
.lemma { font: 13px/1.45 system-ui, sans-serif; max-width: 60em; }
.lemma header { margin-bottom: .4em; }
.lemma header b { font-size: 1.1em; }
.lemma small { opacity: .7; }
.lemma table { border-collapse: collapse; margin: 0; width: auto; color: inherit;
  font: inherit; }
.lemma td, .lemma th { border: 0; border-top: 1px solid rgba(128, 128, 128, .3); background: none;
  padding: .2em 1.2em .2em 0; text-align: left; vertical-align: top; color: inherit; }
.lemma th { font-weight: 500; opacity: .7; }
.lemma code, .lemma pre { font: 12px/1.45 ui-monospace, monospace; background: none;
  color: inherit; }
.lemma pre { border-left: 3px solid rgba(128, 128, 128, .4); margin: .4em 0; padding: 0 0 0 .8em;
  white-space: pre-wrap; }
.lemma pre.error { border-color: #d1453b; }
.lemma pre.warning { border-color: #c9871f; }
</style>"""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def model_text(model: Model) -> str:
    """`<lemma.Model Net(x: f32[2]) -> y: f32[2]>`"""
    inputs = ", ".join(map(str, model.inputs))
    outputs = ", ".join(map(str, model.outputs))
    return f"<lemma.Model {model.name}({inputs}) -> {outputs or 'nothing'}>"


def _rows(title: str, infos: Sequence[TensorInfo]) -> list[str]:
    rows = []
    for index, info in enumerate(infos):
        bounds = [str(b) for b, extent in zip(info.bounds, info.shape) if extent is None and b]
        shape = " × ".join(info.extents) or "scalar"
        note = f" <small>up to {escape(', '.join(bounds))}</small>" if bounds else ""
        rows.append(
            f"<tr><th>{title if index == 0 else ''}</th><td><code>{escape(info.name)}</code></td>"
            f"<td><code>{escape(info.type)}</code></td><td>{escape(shape)}{note}</td></tr>"
        )
    return rows


def model_html(model: Model) -> str:
    """A table of inputs and outputs."""
    state = [info for info in model.variables if info.updated]
    weights = len(model.variables) - len(state)
    facts = [escape(model.format), escape(str(model.engine))]
    if weights:
        facts.append(_count(weights, "variable"))
    rows = _rows("inputs", model.inputs) + _rows("outputs", model.outputs) + _rows("state", state)
    return (
        f'{_STYLE}<div class="lemma"><header><b>{escape(model.name)}</b> '
        f"<small>{' · '.join(facts)}</small></header>"
        f"<table>{''.join(rows)}</table></div>"
    )


def report_html(diagnostics: Sequence[Diagnostic]) -> str:
    """The texts of the diagnostics, or that there are none."""
    blocks = [
        f'<pre class="{escape(found.severity)}">{escape(str(found))}</pre>' for found in diagnostics
    ]
    return f'{_STYLE}<div class="lemma">{"".join(blocks) or "no problems"}</div>'
