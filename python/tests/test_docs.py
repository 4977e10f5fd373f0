# SPDX-License-Identifier: Apache-2.0
"""The code in docs/howto/use-from-python.md runs."""
from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch):
    text = (ROOT / "docs/howto/use-from-python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "use-from-python.md", "exec"), names)
    assert (tmp_path / "digits.so").exists()
    assert list(names["outputs"][0]) == [0, 1]  # type: ignore[index]
