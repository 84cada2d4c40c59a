// Message digests for MD5(), SHA1() and so on. Not for secrets.
#ifndef TIDE_ENGINE_FUNCTIONS_DIGEST_H
#define TIDE_ENGINE_FUNCTIONS_DIGEST_H

#include "base/str.h"

enum digest { DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA224, DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };
enum { DIGEST_SIZE_MAX = 64 };

// Returns the number of bytes.
size_t tide__digest(enum digest digest, struct str data, unsigned char out[DIGEST_SIZE_MAX]);

#endif
