# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m taffeta …`: the command line without a Blender binary."""

import os
import sys

from .addon import registered
from .addon.command.interruption import listening


def _run() -> int:
    from .addon.command.line import main  # which takes long enough to be interrupted

    return main(sys.argv[1:], program="python -m taffeta", registered=registered)


if __name__ == "__main__":
    with listening():
        code = _run()
        sys.stdout.flush()
        sys.stderr.flush()
        if "bpy" in sys.modules:
            # bpy 4.5 can hang and bpy 4.2 can crash while the interpreter shuts down; everything is on disk by now.
            os._exit(code)
    sys.exit(code)
