set(FREERTOS_PORT GCC_ARM_CM0) # there is none of its own for the M0+
