"""Measurements: one command each, results beside them."""
