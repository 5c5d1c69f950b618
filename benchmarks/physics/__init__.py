# SPDX-License-Identifier: GPL-3.0-or-later
"""The dynamics of cloth against closed forms: `python -m taffeta.benchmarks.physics [THEME ...]`.

One file a theme; each scenario is a function of a `Solve` that returns what it measured beside what must come out.
"""
