// Keys of state tables as text for people, by what the savepoint says of their fields. Inside api/ only.
#ifndef TIDE_API_KEY_TEXT_H
#define TIDE_API_KEY_TEXT_H

#include "state/state.h"

// "[2024-01-01 00:00:00.000, 2024-01-01 00:01:00.000) auction=7, channel='web'". What can't be told is shown as hex.
void tide__api_put_key(const struct state_table_desc *desc, struct str key, struct strbuf *out);

#endif
