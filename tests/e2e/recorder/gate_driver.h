/* SPDX-License-Identifier: MIT */
/* Looked up in the driver with dlsym. */
#ifndef RECORDER_GATE_DRIVER_H
#define RECORDER_GATE_DRIVER_H

void gate_close(int closed);
/* Returns when a thread is in the driver's function that executes lists. */
void gate_wait_until_somebody_waits(void);

#endif
