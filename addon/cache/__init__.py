"""Where results lie, what state they are in, and how they play."""
