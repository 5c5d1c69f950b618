# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast, where the time goes, and how near to what the machine can do: `python -m taffeta.benchmarks.speed`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a worker process (gpu_core/worker_process.py)
