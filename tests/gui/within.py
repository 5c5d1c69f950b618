# SPDX-License-Identifier: GPL-3.0-or-later
"""blender --python within.py -- ARGUMENTS: pytest within Blender, on the checkout that /shared is."""

import os
import sys

os.makedirs("/tmp/checkout", exist_ok=True)
if not os.path.islink("/tmp/checkout/taffeta"):
    os.symlink("/shared", "/tmp/checkout/taffeta")
sys.path.insert(0, "/tmp/checkout")
sys.dont_write_bytecode = True

import pytest  # noqa: E402

sys.exit(pytest.main(["-p", "no:cacheprovider", *sys.argv[sys.argv.index("--") + 1 :]]))
