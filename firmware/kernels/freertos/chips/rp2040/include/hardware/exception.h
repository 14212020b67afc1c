/* Included by the port; empty because its handlers stand in the static vector table
 * (configUSE_DYNAMIC_EXCEPTION_HANDLERS 0). */
#pragma once
