# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes made to break cloth solvers, each run frame by frame and checked by two independent programs."""
