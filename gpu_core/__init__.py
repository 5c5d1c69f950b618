"""The simulator: NumPy and CuPy, no bpy, usable from a notebook."""
