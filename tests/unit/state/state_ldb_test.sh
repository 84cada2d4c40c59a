#!/bin/sh
# What stock ldb sees of a working directory at a checkpoint: all tables, every key once, nothing of dropped windows.
# usage: state_ldb_test.sh PROBE. Exits with 77 (skipped) where there is no ldb.
probe=$1
command -v ldb >/dev/null || { echo "no ldb"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$probe" "$dir/work" "ldb --db=$dir/work list_column_families >$dir/families 2>&1;
    ldb --db=$dir/work scan --column_family=window-1.acc --key_hex=false --value_hex >$dir/window 2>&1;
    ldb --db=$dir/work scan --column_family=rank-2.rows --hex >$dir/rank 2>&1" || { echo "the probe failed"; cat "$dir"/*; exit 1; }
fail() { echo "not ok: $1"; cat "$2"; exit 1; }
grep -q 'window-1.acc' "$dir/families" && grep -q 'rank-2.rows' "$dir/families" || fail "tables are listed" "$dir/families"
[ "$(grep -ac '^from-' "$dir/window")" = 80 ] || fail "every key of the eight living windows once" "$dir/window"
grep -aq '^from-00[01]' "$dir/window" && fail "dropped windows are gone" "$dir/window"
# A key with one run shows its value behind the header byte R; one with two shows both parts, R and A.
grep -aq '^from-003to---004k0000 : 0x5201000000000000000178$' "$dir/window" || fail "a whole value" "$dir/window"
grep -aq '^from-005to---006k0009 : 0x52010000000000000001782C4101000000000000000178$' "$dir/window" ||
    fail "a value and an increment" "$dir/window"
[ "$(cat "$dir/rank")" = "0x6B657074 : 0x52050000000000000000" ] || fail "the keyed table" "$dir/rank"
[ ! -e "$dir/work" ] || fail "the working directory is removed" "$dir/families"
echo "ok"
