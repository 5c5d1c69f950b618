# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets, and how Blender's scene becomes data."""
