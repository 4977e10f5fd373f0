// SPDX-License-Identifier: Apache-2.0
/* Start of a program on a Cortex-M4 with a single-precision FPU: the vector table, the FPU,
   initialised data. Then newlib's own start-up code takes over; it asks the host for arguments and
   files (semihosting). */
#include <stdint.h>

extern uint32_t stack_top, data_load, data_start, data_end;
extern void _start(void);

void reset(void) {
    volatile uint32_t* const coprocessors = (volatile uint32_t*)0xE000ED88U; /* CPACR */
    *coprocessors |= 0xFU << 20; /* full access to the FPU */
    __asm__ volatile("dsb\n isb");
    const uint32_t* from = &data_load;
    for (uint32_t* to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    _start();
}

/* A fault ends the run with an error: SYS_EXIT_EXTENDED of semihosting with status 70. */
void fault(void) {
    static const uint32_t reason[2] = {0x20026U, 70U}; /* application exit */
    register uint32_t call __asm__("r0") = 0x20U;
    register const uint32_t* argument __asm__("r1") = reason;
    __asm__ volatile("bkpt 0xAB" : : "r"(call), "r"(argument) : "memory");
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    &stack_top,
    (const void*)reset,
    (const void*)fault,
    (const void*)fault,
    (const void*)fault,
    (const void*)fault,
    (const void*)fault,
};
