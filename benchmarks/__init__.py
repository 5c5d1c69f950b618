# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements: one command each, results beside them."""
