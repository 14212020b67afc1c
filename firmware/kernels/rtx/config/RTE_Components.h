/* RTX5 asks here which device it is built for: none of a vendor's, only the core. */
#ifndef RTE_COMPONENTS_H
#define RTE_COMPONENTS_H

#define CMSIS_device_header "rtx_bench_device.h"

#endif
