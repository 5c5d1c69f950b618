# SPDX-License-Identifier: GPL-3.0-or-later
"""All that is on disk: job, cache, checkpoint."""
