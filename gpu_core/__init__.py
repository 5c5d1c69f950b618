# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator: NumPy and CuPy, no bpy, usable from a notebook."""
