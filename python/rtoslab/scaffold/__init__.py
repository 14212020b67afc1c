"""New folders from templates: a benchmark, a kernel's port, a board, a paper, each of which runs unchanged."""

from rtoslab.scaffold.new_folder import NewFolder, make
