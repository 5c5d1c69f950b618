# SPDX-License-Identifier: GPL-3.0-or-later
"""Modes of the rest-shape matrix, and the aggregates that find them."""
