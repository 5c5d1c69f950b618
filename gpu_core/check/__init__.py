"""The judge of intersections: exact, in double, and independent of contact, elasticity and solvers."""
