"""Panels, operators, menus and handlers: they draw and call, and hold no logic."""
