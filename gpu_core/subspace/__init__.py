"""Modes of the rest-shape matrix, and the aggregates that find them."""
