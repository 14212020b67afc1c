"""Stage 7: what a person reads. One format per file; a module with `render` is found by its name."""
