"""A simulation that follows the viewport, in a process of its own."""
