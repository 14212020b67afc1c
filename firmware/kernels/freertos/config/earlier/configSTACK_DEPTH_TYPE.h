/* Stacks are no deeper than 65535 words. */
#pragma once

#define configSTACK_DEPTH_TYPE uint16_t
