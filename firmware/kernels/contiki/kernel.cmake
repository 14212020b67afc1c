# Builds Contiki-NG's kernel out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CORE, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(contiki_kernel)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE contiki_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "contiki-conf.h")
set(KERNEL_CONFIG_PATTERN "(CLOCK|HEAPMEM|PROCESS)_CONF_[A-Z_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/contiki-conf.h")
set(KERNEL_TARGETS contiki_kernel)
