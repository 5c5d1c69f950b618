# SPDX-License-Identifier: GPL-3.0-or-later
"""What Newton could reuse: the modes of H, and what the last solves learned."""
