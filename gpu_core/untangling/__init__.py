# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that begins tangled is untangled from its positions alone, before the first frame (docs/theory/starts.md)."""
