# SPDX-License-Identifier: GPL-3.0-or-later
"""The session of a bake: what it starts, its pure state, its report."""
