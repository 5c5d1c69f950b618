"""What the user sets, and how Blender's scene becomes data."""
