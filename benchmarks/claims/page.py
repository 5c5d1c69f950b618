# SPDX-License-Identifier: GPL-3.0-or-later
"""The claims as a page and as plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .claim import Claim, Measured, Panel

HEAD = """# The paper's claims, measured

Claims of Lan et al. 2024 (*Efficient GPU Cloth Simulation with Non-distance Barriers and Subspace Reuse*) against what
this code measures. Written by `python -m taffeta.benchmarks.claims`: numbers and plots come from
`benchmarks/results/claims.json`, and each verdict follows from those numbers by the rule in the claim's module. CPU
backend, one thread, {processor}; the machine was shared with other work, so read times as ratios within one claim. No
GPU was at hand, so the paper's milliseconds on an RTX 3090 are not judged. What subspace reuse buys as a method and
for Newton: [subspace.md](subspace.md).

| claim | verdict |
|---|---|
"""
SHADES = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#d19c1d", "#4b4b4b", "#55b6c2", "#a0522d")


def markdown(content: Mapping[str, Any], claims: Sequence[Claim]) -> str:
    """The page of a claims.json; claims that have no numbers are named as not measured."""
    parts, index = [], []
    for claim in claims:
        entry = content["claims"].get(claim.name)
        if entry is None:
            index.append(f"| {claim.title} | not measured |\n")
            parts.append(f"\n## {claim.title}\n\n**The paper.** {claim.paper}\n\nNot measured yet.\n")
            continue
        verdict = claim.judge(entry["numbers"])
        index.append(f"| [{claim.title}](#{_anchor(claim.title)}) | {verdict.word} |\n")
        parts.append(
            f"\n## {claim.title}\n\n**The paper.** {claim.paper}\n\n**What was run.** {entry['ran']} (commit "
            f"{entry['commit']}, {entry['seconds']:.0f} s.)\n\n**Verdict: {verdict.word}.** {verdict.why}\n"
            + "".join(_table(table) for table in entry["tables"])
            + f"\n![{claim.title}](../pictures/claims/{claim.name}.svg)\n"
            + (f"\n{claim.remarks}\n" if claim.remarks else "")
        )
    return HEAD.format(processor=content["processor"]) + "".join(index + parts)


def draw(claim: Claim, measured: Measured, path: Path) -> None:
    """The panels side by side, as an SVG without a date or random names, so that equal numbers give an equal file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": claim.name, "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(
            1, len(measured.panels), figsize=(4.6 * len(measured.panels), 3.4), squeeze=False, layout="constrained"
        )
        for axis, panel in zip(axes[0], measured.panels, strict=True):
            _fill(axis, panel)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _fill(axis: Any, panel: Panel) -> None:
    for curve, shade in zip(panel.curves, SHADES * 2, strict=False):
        axis.plot(
            curve.x, curve.y, label=curve.label, color=shade, linewidth=1.3, marker="." if len(curve.x) < 9 else ""
        )
    axis.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if "x" in panel.logarithmic:
        axis.set_xscale("log")
        measured = sorted({x for curve in panel.curves for x in curve.x})
        if len(measured) < 9:  # the numbers themselves: those of a logarithmic axis would lie upon each other
            axis.set_xticks(measured, [f"{x:g}" for x in measured])
            axis.set_xticks([], minor=True)
    if "y" in panel.logarithmic:
        axis.set_yscale("log")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def _table(table: Mapping[str, Any]) -> str:
    lines = ["| " + " | ".join(table["head"]) + " |", "|" + "---|" * len(table["head"])]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in table["rows"]]
    return "\n" + "\n".join(lines) + "\n"


def cell(value: object) -> str:
    """Three digits for measured numbers, all of them for counts."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if 100.0 <= abs(value) < 1e6 else f"{value:.3g}"
    return str(value)


def _anchor(title: str) -> str:
    """As GitHub makes it of a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
