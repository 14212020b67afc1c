/* What build-info.json reads rt's final configuration from: ours first, then the kernel's own defaults. */
#pragma once

#include "rt_config.h"

#include <rt/atomic.h>
#include <rt/cycle.h>
#include <rt/log.h>
#include <rt/mpu.h>
#include <rt/stack.h>
#include <rt/task.h>
#include <rt/trace.h>
