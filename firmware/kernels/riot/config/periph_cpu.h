/* RIOT's files include the description of a chip's peripherals. None of them needs anything of it. */
#pragma once
