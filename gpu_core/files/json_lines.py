# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of JSON objects, one a line, each with a checksum: it grows with a bake and shows damage.

A kill may cut the last line off; that line then does not count. A line damaged anywhere else is an error.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .disk import disk_errors, write_whole
from .errors import CacheError

CHECKSUM = "crc32"


def append(path: Path, values: Mapping[str, Any]) -> None:
    """Add a line and wait until it is on disk. Raises DiskError."""
    with disk_errors(path), open(path, "ab") as file:
        file.write(_line(values))
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> list[dict[str, Any]]:
    """Every whole line; none where the file is missing. Raises CacheError (a line is damaged), DiskError."""
    lines, wrong = read_whole(path)
    if wrong:
        raise CacheError(wrong, "Resume the bake, which goes on from the last good frame")
    return lines


def read_whole(path: Path) -> tuple[list[dict[str, Any]], str]:
    """(the lines before the first that is damaged, what is wrong with that, or nothing). Raises DiskError."""
    with disk_errors(path):
        if not path.exists():
            return [], ""
        *whole, _cut_off = path.read_bytes().split(b"\n")
    lines: list[dict[str, Any]] = []
    for line in whole:
        values = _values(line)
        if values is None:
            return lines, f"{path} is damaged"
        lines.append(values)
    return lines, ""


def truncate(path: Path, lines: int) -> None:
    """Keep the first lines only, as far as they are whole. Raises DiskError."""
    kept = read_whole(path)[0][:lines]
    write_whole(path, lambda file: file.writelines(_line(values) for values in kept))


def _line(values: Mapping[str, Any]) -> bytes:
    text = json.dumps(dict(values), allow_nan=False)
    return json.dumps({CHECKSUM: zlib.crc32(text.encode())})[:-1].encode() + b", " + text[1:].encode() + b"\n"


def _values(line: bytes) -> dict[str, Any] | None:
    """What a line says, or None where that is not what was written."""
    try:
        values: dict[str, Any] = json.loads(line)
        whole = values.pop(CHECKSUM) == zlib.crc32(json.dumps(values, allow_nan=False).encode())
    except Exception:  # any bytes may stand there
        return None
    return values if whole else None
