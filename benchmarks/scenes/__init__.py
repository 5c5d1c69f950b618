# SPDX-License-Identifier: GPL-3.0-or-later
"""All sample scenes: baked small and looked at (`gallery`), and measured at a size beside the paper and other solvers:

`python -m taffeta.benchmarks.scenes`.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a worker process (gpu_core/worker_process.py)
