#include "base/file.h"

#include <errno.h>
#include <unistd.h>

bool tide__write_fully(int fd, const void *data, size_t len) {
    const char *at = data;
    while (len > 0) {
        ssize_t done = write(fd, at, len);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        at += done;
        len -= (size_t)done;
    }
    return true;
}
