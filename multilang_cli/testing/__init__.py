"""Tests of spouts and bolts with pytest: Storm's side as fixtures, with the judge on."""
