// What a script compiles to, as text: warnings, plans (plan_dump.h), or the error with its place and hint. The script sees a
// table t (id INT, k STRING, g STRING, v INT, w DOUBLE, ts TIMESTAMP(3) with a watermark); it starts on line 2.
#ifndef TIDE_TESTS_BIND_TEXT_H
#define TIDE_TESTS_BIND_TEXT_H

#include "base/str.h"

#include <stdbool.h>

void bind_text(const char *script, bool strict_windows, struct strbuf *out);

#endif
