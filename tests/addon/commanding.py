# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line in the hands of a test, in this process: the exit code and the JSON report."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from typing import Any

from taffeta.addon.command.line import main

Answer = tuple[int, dict[str, Any]]


class Commands:
    """Call it with the words of a command."""

    def __init__(self, capfd) -> None:
        self._capfd = capfd

    def __call__(self, *words: object) -> Answer:
        self._capfd.readouterr()
        with redirect_stdout(io.StringIO()):  # pytest's own stands beside file descriptor 1, where the report goes
            code = main([*map(str, words), "--json"], program="taffeta")
        answer = json.loads(self._capfd.readouterr().out)
        assert answer["exit_code"] == code
        return code, answer
