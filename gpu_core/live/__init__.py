# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation that follows the viewport, in a process of its own."""
