set(FREERTOS_PORT GCC_ARM_CM7) # written for r0p1, whose erratum it works around; right for later revisions too
