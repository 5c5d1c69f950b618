# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue of messages: a page of the manual for each code, docs/manual/messages/TAF-S012.md.

A page quotes the texts it is about, with … where a value stands, and by them a message finds its code. So texts are
written where they are said, and travel between processes as texts; tests hold that every text has one code.

    python -m gpu_core.messages

writes the list of all pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

PAGES = Path(__file__).resolve().parents[1] / "docs" / "manual" / "messages"
INDEX = "README.md"
HOLE = "…"  #: in a quoted text, for a value
CODE = re.compile(r"TAF-[A-Z]\d{3}")
AREAS = {
    "S": "Scene and mesh",
    "P": "Pins, seams, painted numbers",
    "B": "Bake and solver",
    "F": "Frames",
    "C": "Cache and disk",
    "G": "Graphics card and installation",
    "X": "Finalise and export",
    "L": "Live",
    "U": "Command line",
}
HEAD = """# Messages

Every error, warning and finding has a code that stays the same in every version. Panels have a question mark beside a
message, which opens its page; reports, logs and the command line show the code in brackets behind the message, and
`taffeta explain TAF-S001` prints the page."""
REMEMBERED = 2048  #: texts; panels ask at every draw


@dataclass(frozen=True)
class Message:
    """A page of the catalogue."""

    code: str
    title: str
    texts: tuple[str, ...]  #: as they are said, with HOLE for values; none where only a state or a number says it
    meaning: str
    why: str
    mends: tuple[str, ...]  #: what usually helps, first what helps most often

    @property
    def page(self) -> Path:
        return PAGES / f"{self.code}.md"

    def __str__(self) -> str:
        """For a terminal."""
        mends = "\n".join(f"  {number}. {mend}" for number, mend in enumerate(self.mends, start=1))
        return plain(f"{self.code}: {self.title}\n\n{self.meaning}\n\nWhy: {self.why}\n\nWhat helps:\n{mends}")


class Told:
    """An exception that speaks to the user: it has a code."""

    @property
    def code(self) -> str:
        return code_of(str(self))


@cache
def catalogue() -> dict[str, Message]:
    """Every message by its code. Without those whose page is not there, or is none: that must not end a bake."""
    found = {}
    for page in sorted(PAGES.glob("TAF-*.md")):
        with suppress(OSError, ValueError):
            found[page.stem] = read(page.read_text(encoding="utf-8"))
    return found


def read(text: str) -> Message:
    """A page. Raises ValueError where it is not as the others."""
    match = re.fullmatch(
        r"# (\S+): (.+)\n\n((?:> .+\n>?\n?)*)\n*(.+?)\n\n\*\*Why\.\*\* (.+?)\n\n((?:\d\. .+\n)+)", text
    )
    if match is None or CODE.fullmatch(match[1]) is None:
        raise ValueError(f"no page of the catalogue: {text[:60]!r}")
    texts = re.findall(r"^> (.+)$", match[3], re.MULTILINE)
    return Message(
        match[1], match[2], tuple(texts), match[4], match[5], tuple(re.findall(r"^\d\. (.+)$", match[6], re.M))
    )


@lru_cache(maxsize=REMEMBERED)
def code_of(text: str) -> str:
    """The code of a message, or nothing. Of quoted texts in it the one that begins first counts, then the longest."""
    found = [(match.start(), -weight, code) for pattern, weight, code in _patterns() if (match := pattern.search(text))]
    return min(found)[2] if found else ""


def coded(text: str, code: str | None = None) -> str:
    """The text with its code in brackets at the end of its first line. code: where it is known already."""
    code = code_of(text) if code is None else code
    first, newline, rest = text.partition("\n")
    return f"{first} [{code}]{newline}{rest}" if code else text


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], int, str], ...]:
    """(pattern, letters that are not holes, code) of every quoted text."""
    entries = ((text, message.code) for message in catalogue().values() for text in message.texts)
    return tuple((pattern_of(text), len(text) - text.count(HOLE), code) for text, code in entries)


def pattern_of(quoted: str) -> re.Pattern[str]:
    """What a quoted text is found by, wherever it stands in a message."""
    words = quoted.lstrip(f"{HOLE} :.,;“”").rstrip(f"{HOLE} ")
    parts = words.split(HOLE)
    start, end = (r"(?<!\w)" if words[0].isalnum() else ""), (r"(?!\w)" if words[-1].isalnum() else "")
    return re.compile(start + ".*?".join(map(re.escape, parts)) + end, re.DOTALL | re.IGNORECASE)


def plain(text: str) -> str:
    """Without the addresses of links."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)


def index() -> str:
    """The page that lists all of them."""
    return "\n".join(_index()) + "\n"


def _index() -> Iterator[str]:
    yield HEAD
    for letter, area in AREAS.items():
        yield from ("", f"## {area}", "", "| code | message |", "|---|---|")
        for code, message in catalogue().items():
            if code[4] == letter:
                yield f"| [{code}]({code}.md) | {message.title} |"


if __name__ == "__main__":
    (PAGES / INDEX).write_text(index(), encoding="utf-8")
