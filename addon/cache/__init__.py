# SPDX-License-Identifier: GPL-3.0-or-later
"""Where results lie, what state they are in, and how they play."""
