/* There is one core. */
#pragma once

#define portGET_CORE_ID() 0
