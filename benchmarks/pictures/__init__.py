# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/theory: the solver's own scenes, rendered in the studio of the samples."""
