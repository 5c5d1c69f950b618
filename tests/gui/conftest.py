# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Blender in its window, with the built zip installed, and a small drape open in it."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from taffeta.tests.gui.debian import ASKED, NEWEST, OLDER, prepare
from taffeta.tests.gui.drape import Drape, open_drape, save_sample
from taffeta.tests.gui.watched import Watched, watch
from taffeta.tests.gui.window import Window, install

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "gui" / "pictures"
NIGHTLY = pytest.mark.nightly(f"six minutes and more for what {NEWEST} is asked by day, and `make test-gui` asks both")
OTHER_PYTHON = {"5.2"}  #: where Debian's Blender has Python 3.14 instead of Blender's own 3.13, and SciPy for it


@pytest.fixture(scope="session", params=ASKED or [*(pytest.param(older, marks=NIGHTLY) for older in OLDER), NEWEST])
def version(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def debian(version: str) -> Path:
    """The root of a Debian with this Blender, made where it is not there yet: needs root, debootstrap and a mirror."""
    try:
        return prepare(version)
    except RuntimeError as obstacle:
        (pytest.fail if ASKED else pytest.skip)(f"no Blender {version} with a window: {obstacle}")


def without_binary_wheels(package: Path, path: Path) -> Path:
    """Write the zip again without the wheels that are for Blender's own Pythons alone, and return its path."""
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(path, "w") as target:
        kept = [name for name in source.namelist() if name.endswith("-none-any.whl")]
        named = ", ".join(f'"./{name}"' for name in kept)
        for name in source.namelist():
            content = source.read(name)
            if name == "blender_manifest.toml":
                content = re.sub(rb"(?m)^wheels = .*$", f"wheels = [{named}]".encode(), content)
            if not name.startswith("wheels/") or name in kept:
                target.writestr(name, content)
    return path


@pytest.fixture(scope="session")
def installable(version: str, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that `make extension` builds, as this Blender takes it."""
    if version in OTHER_PYTHON:
        return without_binary_wheels(package, tmp_path_factory.mktemp("dist") / package.name)
    return package


@pytest.fixture(scope="session")
def installed(debian: Path, installable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Blender's settings with the zip installed, for each window to begin with."""
    return install(debian, installable, tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="package")
def window(debian: Path, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """Blender, with the zip installed in it. Not for longer than needed: `start.sh` puts it before all others."""
    window = Window(debian, installed, tmp_path_factory.mktemp("shared"))
    yield window
    window.close()


@pytest.fixture(scope="package")
def sample(window: Window) -> Path:
    """The sample drape, saved by this Blender."""
    return save_sample(window)


@pytest.fixture(scope="session")
def pictures(version: str) -> Path:
    """The folder for screenshots, of this run only."""
    folder = PICTURES / version
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@pytest.fixture
def drape(window: Window, sample: Path, pictures: Path, request: pytest.FixtureRequest) -> Iterator[Drape]:
    """The sample, never baked, in a folder of its own. What the test leaves on the screen is kept as a picture."""
    yield from _open(window, request, pictures, lambda folder: shutil.copy2(sample, folder))


@pytest.fixture
def baked(window: Window, watched: Watched, pictures: Path, request: pytest.FixtureRequest) -> Iterator[Drape]:
    """The sample with all its frames, as `watched` saved it, in a folder of its own."""
    source = watched.drape.folder
    yield from _open(window, request, pictures, lambda folder: shutil.copytree(source, folder, dirs_exist_ok=True))


@pytest.fixture(scope="package")
def watched(window: Window, sample: Path, pictures: Path) -> Watched:
    """A bake from its click to its end, looked at all the way, and saved."""
    folder = window.shared / "watched"
    folder.mkdir()
    shutil.copy2(sample, folder)
    return watch(open_drape(window, folder), pictures)


def _open(
    window: Window, request: pytest.FixtureRequest, pictures: Path, fill: Callable[[Path], object]
) -> Iterator[Drape]:
    folder = window.shared / request.function.__name__
    folder.mkdir()
    fill(folder)
    yield open_drape(window, folder)
    window.redraw()
    window.screenshot(pictures / f"{request.function.__name__}.png")
