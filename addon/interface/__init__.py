# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, operators, menus and handlers: they draw and call, and hold no logic."""
