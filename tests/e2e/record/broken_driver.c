/* SPDX-License-Identifier: MIT */
/* A Level Zero driver that crashes, hangs or refuses when the loader asks it for its tables. */

__attribute__((visibility("default"))) int zeGetGlobalProcAddrTable(int version, void *table);

int zeGetGlobalProcAddrTable(int version, void *table)
{
    (void)version;
    (void)table;
#if defined(BROKEN_CRASH)
    __builtin_trap();
#elif defined(BROKEN_HANG)
    for (volatile int i = 0; i == 0;)
        continue;
#endif
    return 0x70000001;
}
