"""Live simulation in the viewport: its session, its pure state, its display, the hand in the cloth."""
