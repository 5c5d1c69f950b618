"""No test touches the user's own Blender settings and extensions."""

from __future__ import annotations

import os
import tempfile

# Blender reads this once, at the first `import bpy`; processes that tests start inherit it.
_RESOURCES = tempfile.TemporaryDirectory(prefix="taffeta_resources_")
os.environ["BLENDER_USER_RESOURCES"] = _RESOURCES.name
