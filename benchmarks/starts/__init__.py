# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that are tangled: six kinds, five seeds of each, and what becomes of them."""
