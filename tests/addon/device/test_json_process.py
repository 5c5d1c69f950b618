# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that answers with one JSON object, however much it says."""

from __future__ import annotations

import time

from taffeta.addon.device.json_process import JsonProcess

LOUD = """
import json, sys
sys.stderr.write("warning " * 200_000)
print(json.dumps({"words": "word " * 200_000}))
"""


def test_a_process_that_says_megabytes_before_anybody_listens_comes_to_its_end(tmp_path):
    (tmp_path / "loud_one.py").write_text(LOUD)
    process = JsonProcess("loud_one", libraries=(tmp_path,))
    until = time.monotonic() + 30.0
    while process._process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)  # nobody reads meanwhile
    assert process._process.poll() == 0
    assert len(process.poll()["words"]) == 1_000_000


def test_one_that_dies_is_told_with_its_last_words(tmp_path):
    (tmp_path / "dying_one.py").write_text("raise SystemExit('out of wool')")
    assert JsonProcess("dying_one", libraries=(tmp_path,)).wait() == {"error": "ended with code 1: out of wool"}
