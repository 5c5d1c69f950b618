# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphics libraries, self-test, versions: what this machine has."""
