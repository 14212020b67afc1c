set(CPU_FOLDERS cortexm armv6m)
