# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers of the same scene. A solver file holds what makes it different; scene, contact and elasticity are shared."""
