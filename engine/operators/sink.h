// The sink operator: hands rows to a table's connector or to the caller of the job.
#ifndef TIDE_ENGINE_OPERATORS_SINK_H
#define TIDE_ENGINE_OPERATORS_SINK_H

#include "engine/operator.h"

extern const struct operator_class tide__sink_operator_class;

// A savepoint with what save gave is durable: publish. May run on a background thread.
tide_status tide__sink_operator_commit(struct operator *op, struct str saved, tide_error *err);
// The job's input has ended and no row will come: a barrier follows.
tide_status tide__sink_operator_end(struct operator *op, tide_error *err);
// Publish everything without a savepoint.
tide_status tide__sink_operator_finish(struct operator *op, tide_error *err);

#endif
