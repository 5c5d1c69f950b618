# SPDX-License-Identifier: GPL-3.0-or-later
"""Live simulation in the viewport: its session, its pure state, its display, the hand in the cloth."""
