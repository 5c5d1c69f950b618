# SPDX-License-Identifier: GPL-3.0-or-later
"""The claims of Lan et al. 2024, measured: a module, a plot, numbers and a verdict each (docs/theory/claims.md)."""
