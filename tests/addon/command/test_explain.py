# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta explain` prints the page of a code; every failure says which code it has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from taffeta.gpu_core.messages import catalogue
from taffeta.tests.addon.commanding import Commands


@pytest.fixture
def command(capfd):
    return Commands(capfd)


@pytest.mark.parametrize("words", ["TAF-S011", "s011", "Sheet: the mesh has no faces. Add faces"])
def test_a_code_or_a_message_is_explained(command, words):
    code, answer = command("explain", words)
    found = catalogue()["TAF-S011"]
    assert code == 0
    assert (answer["code"], answer["title"], answer["mends"]) == (found.code, found.title, list(found.mends))


def test_without_a_code_all_are_listed(command):
    code, answer = command("explain")
    assert code == 0
    assert answer["messages"] == {code: message.title for code, message in catalogue().items()}


def test_what_is_no_message_is_a_wrong_command_with_a_code_of_its_own(command):
    code, answer = command("explain", "TAF-Z999")
    assert (code, answer["error"]["code"]) == (2, "TAF-U007")


def test_a_failure_has_its_code_in_text_and_in_json(command, tmp_path):
    code, answer = command("run", tmp_path)
    assert (code, answer["error"]["code"]) == (3, "TAF-C016")
    line = [sys.executable, "-m", "taffeta", "run", str(tmp_path)]
    run = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 3
    assert run.stderr.rstrip().endswith("[TAF-C016]")
