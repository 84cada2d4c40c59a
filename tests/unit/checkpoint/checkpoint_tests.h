// The cases of the checkpoint runner.
#ifndef TESTS_UNIT_CHECKPOINT_TESTS_H
#define TESTS_UNIT_CHECKPOINT_TESTS_H

#include <check.h>

TCase *make_savepoint_case(void);
TCase *make_damage_case(void);
TCase *make_state_dir_case(void);
TCase *make_chain_case(void);
TCase *make_compat_case(void);

#endif
