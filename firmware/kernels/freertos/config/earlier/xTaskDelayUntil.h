/* The call does not say whether it waited. */
#pragma once

#define xTaskDelayUntil vTaskDelayUntil
#define INCLUDE_vTaskDelayUntil 1
