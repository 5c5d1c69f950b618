# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of intersections: exact, in double, and independent of contact, elasticity and solvers."""
