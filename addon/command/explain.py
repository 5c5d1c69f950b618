# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta explain`: what a message means, by its code or its own words."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from ...gpu_core.messages import catalogue, code_of
from ..device.answer import CommandError, Exit, Report


def explain(options: Namespace, report: Report) -> None:
    if not options.message:
        report.values["messages"] = {code: message.title for code, message in catalogue().items()}
        report.lines += [f"{code}  {message.title}" for code, message in catalogue().items()]
        return
    text = options.message
    code = f"TAF-{text.upper().removeprefix('TAF-')}"
    found = catalogue().get(code if code in catalogue() else code_of(text))
    if found is None:
        raise CommandError(Exit.USAGE, f"There is no message {text!r}. `taffeta explain` lists the codes of all")
    report.values |= {**asdict(found), "page": str(found.page)}
    report.lines += str(found).splitlines()
