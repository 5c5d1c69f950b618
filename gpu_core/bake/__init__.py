# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: the processes that fill a cache from a job."""
