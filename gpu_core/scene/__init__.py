"""The scene as plain data: cloths, colliders, materials, meshes."""
