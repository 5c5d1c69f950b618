# SPDX-License-Identifier: GPL-3.0-or-later
"""SHA-256 of the wheels of the GPU libraries: pip takes no other file, wherever it comes from.

Of `libraries.PINS` for Python 3.11 and 3.13, on Linux (x86-64) and Windows.
"""

from __future__ import annotations

WHEELS: dict[str, tuple[str, ...]] = {
    "cupy-cuda12x": (
        "77ba6745a130d880c962e687e4e146ebbb9014f290b0a80dbc4e4634eb5c3b48",
        "a20b7acdc583643a623c8d8e3efbe0db616fbcf5916e9c99eedf73859b6133af",
        "52d9e7f83d920da7d81ec2e791c2c2c747fdaa1d7b811971b34865ce6371e98a",
        "297b4268f839de67ef7865c2202d3f5a0fb8d20bd43360bc51b6e60cb4406447",
    ),
    "fastrlock": (
        "fab249cb94bea3dedc739029c63e1525f9b516079a3da14c28592d2ca6f59038",
        "7bc9078e7626556096306133f5080d84c54ce0d97bb013c8e05cd6eeb3144648",
        "47914740a0c7a0488ab7f7ee82447b37a3ec47c03651be5c94d5ae7e74667271",
        "3b5c253f007d1d255c771c9a21f955d0c550bee217a74efee65bb33a8a22b3ec",
    ),
    "nvidia-cuda-nvrtc-cu12": (
        "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
        "72972ebdcf504d69462d3bcd67e7b81edd25d0fb85a2c46d3ea3517666636349",
    ),
    "nvidia-cuda-runtime-cu12": (
        "25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3",
        "8e018af8fa02363876860388bd10ccb89eb9ab8fb0aa749aaf58430a9f7c4891",
    ),
}
