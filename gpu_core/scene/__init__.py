# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as plain data: cloths, colliders, materials, meshes."""
