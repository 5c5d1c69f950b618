# SPDX-License-Identifier: GPL-3.0-or-later
"""No test touches the user's own Blender settings and extensions; and how tests are shared out among processes."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

NIGHTLY = "TAFFETA_NIGHTLY" in os.environ

# Blender reads this once, at the first `import bpy`; processes that tests start inherit it.
_RESOURCES = tempfile.TemporaryDirectory(prefix="taffeta_resources_")
os.environ["BLENDER_USER_RESOURCES"] = _RESOURCES.name

# A background job of a shell ignores it, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER" in os.environ:  # one of several: each has its processor
    os.environ.setdefault("TAFFETA_THREADS", "1")


def share(nodeid: str) -> str:
    """What one process must have all of: the zip is built once and one window at a time has it, Blender's own tests
    stay together in their files; the simulator's go one by one to where there is room."""
    file = nodeid.partition("::")[0]
    if "tests/gui/" in file or file.endswith("test_packaging.py"):
        return "zip"
    return nodeid if "tests/gpu_core/" in file else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The largest share comes first, and what fills every gap last. What is marked for the night waits for it."""
    for item in items:
        if not NIGHTLY and (mark := item.get_closest_marker("nightly")):
            item.add_marker(pytest.mark.skip(f"{mark.args[0]}: `make test-nightly` runs it"))
    items.sort(key=lambda item: (share(item.nodeid) != "zip", share(item.nodeid) == item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Sharing(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share(nodeid)

    return Sharing(config, log)


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that is installed in Blender, for this machine."""
    from taffeta.extension import PLATFORMS, build
    from taffeta.gpu_core.backend.build import machine

    if machine() not in PLATFORMS:
        pytest.skip(f"no zip is built for {machine()}")
    return build(machine(), tmp_path_factory.mktemp("dist"))
