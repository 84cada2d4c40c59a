// Files: the one loop that each writer needs.
#ifndef TIDE_BASE_FILE_H
#define TIDE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

// Writes all bytes at the file's place, over interruptions and short writes. False, with errno, when it can't: then part of
// them may stand there.
bool tide__write_fully(int fd, const void *data, size_t len);

#endif
