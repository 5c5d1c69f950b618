# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a bake: shape keys, a mesh, a file."""
