"""Stage 6: arithmetic over verified points. Pure functions; every quantity carries its unit in its name."""
