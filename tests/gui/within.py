# SPDX-License-Identifier: GPL-3.0-or-later
"""blender --python within.py -- ARGUMENTS: pytest within Blender, on the checkout that /shared is."""

import os
import sys
import tempfile
from pathlib import Path

checkout = Path(tempfile.gettempdir()) / "checkout" / "taffeta"
checkout.parent.mkdir(exist_ok=True)
if not checkout.is_symlink():
    checkout.symlink_to("/shared")
sys.path.insert(0, str(checkout.parent))
sys.dont_write_bytecode = True
os.chdir(checkout)

import pytest  # noqa: E402

arguments = sys.argv[sys.argv.index("--") + 1 :]
sys.exit(pytest.main(["-p", "no:cacheprovider", "--rootdir", str(checkout), *arguments]))
