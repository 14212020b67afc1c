"""Makes new folders from templates: a benchmark, a kernel's port, a board, a paper. Each of them runs unchanged."""

from rtoslab.scaffold.new_folder import NewCatalogueFolder, make_new_folder
