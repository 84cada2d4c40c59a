// The sink classes of this folder; connectors.c lists them.
#ifndef TIDE_ENGINE_CONNECTORS_SINKS_H
#define TIDE_ENGINE_CONNECTORS_SINKS_H

#include "engine/connectors/connector.h"

extern const struct sink_class tide__filesystem_sink;
extern const struct sink_class tide__print_sink;
extern const struct sink_class tide__blackhole_sink;

// 'connector' = 'print': the option's checks.
tide_status tide__print_validate(const struct table *table, tide_error *err) TIDE_CHECKED;

#endif
