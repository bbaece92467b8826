"""Recordings of a topology that never ran, with every known fault in them and the truth beside. Pure, seeded."""
