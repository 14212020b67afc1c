"""New folders from templates: a benchmark, a kernel's port, a board, a paper, each of which runs as it is made."""

from rtoslab.scaffold.new_folder import Made, make

__all__ = ["Made", "make"]
