# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic terms of a cloth: each gives its data for the local step and its part of the constant matrix H."""
