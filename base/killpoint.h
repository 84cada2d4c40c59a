// Named places where a crash test ends the process, as a power cut would.
#ifndef TIDE_BASE_KILLPOINT_H
#define TIDE_BASE_KILLPOINT_H

// Raises SIGKILL when the environment's TIDE_KILL_POINT is `name`, or on the nth passing when it is `name:n` (from 1).
// Costs one load and a comparison otherwise; may be called from any thread.
void tide__kill_point(const char *name);

#endif
