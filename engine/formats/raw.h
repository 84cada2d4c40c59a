// The raw format.
#ifndef TIDE_ENGINE_FORMATS_RAW_H
#define TIDE_ENGINE_FORMATS_RAW_H

#include "engine/formats/format.h"

extern const struct format_class tide__raw_format;

#endif
