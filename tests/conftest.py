"""No test touches the user's own Blender settings and extensions."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

# Blender reads this once, at the first `import bpy`; processes that tests start inherit it.
_RESOURCES = tempfile.TemporaryDirectory(prefix="taffeta_resources_")
os.environ["BLENDER_USER_RESOURCES"] = _RESOURCES.name


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that is installed in Blender, for this machine."""
    from taffeta.extension import PLATFORMS, build
    from taffeta.gpu_core.backend.build import machine

    if machine() not in PLATFORMS:
        pytest.skip(f"no zip is built for {machine()}")
    return build(machine(), tmp_path_factory.mktemp("dist"))
