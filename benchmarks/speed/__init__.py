"""How fast, where the time goes, and how near to what the machine can do: `python -m taffeta.benchmarks.speed`."""
