"""The session of a bake: what it starts, its pure state, its report."""
