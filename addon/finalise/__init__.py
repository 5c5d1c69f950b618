"""What becomes of a bake: shape keys, a mesh, a file."""
