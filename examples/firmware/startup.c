/* Vectors and start-up of the tutorial's firmware. flash.ld defines the symbols. */
#include <stdint.h>

extern uint32_t stack_end, data_begin, data_end, data_image, bss_begin, bss_end;
int main(void);
void SysTick_Handler(void);

void Reset_Handler(void) {
    uint32_t *image = &data_image;
    for (uint32_t *word = &data_begin; word < &data_end; word++) {
        *word = *image++;
    }
    for (uint32_t *word = &bss_begin; word < &bss_end; word++) {
        *word = 0;
    }
    main();
}

void Fault_Handler(void) {
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_end,    Reset_Handler, Fault_Handler, Fault_Handler, Fault_Handler, Fault_Handler,
    Fault_Handler, [15] = SysTick_Handler,
};
