set(CPU_FOLDERS cortexm armv7m)
