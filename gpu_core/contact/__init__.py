# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: which pairs can touch (broad phase), how far vertices may go (filter), what holds them apart (barrier)."""
