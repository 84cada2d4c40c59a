#!/usr/bin/env bash
# The demo: a job is killed in the middle, resumes, and its output is byte for byte what it would have been.
# Every step is checked; the first that does not do what it says ends the demo with exit 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tidemark=${TIDEMARK:-$here/../../build/tidemark}
rows=1000000 every=20000
work=$(mktemp -d "${TMPDIR:-/tmp}/tidemark-demo.XXXXXX")
job=
cleanup() { [ -z "$job" ] || kill -9 "$job" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

title() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
text() { printf '  %s\n' "$@"; }
fail() { printf '\nthe demo failed: %s\n' "$*" >&2; exit 1; }
show() { sed 's/^/    /' "$@"; }
new_folder() { mkdir "$work/$1"; cp "$here/top3.sql" "$work/$1/"; ln "$work/bid.csv" "$work/$1/bid.csv"; }
parts() { find "$1/top3" -name 'part-*' 2>/dev/null | sort; }
output() { parts "$1" | xargs -r cat; }
run() { cd "$1"; shift; exec "$tidemark" run top3.sql --state-dir state --checkpoint-every $every "$@"; }   # in ( )

title '1. The rows'
cc -O2 -o "$work/bids" "$here/../../bench/bids.c"
"$work/bids" $rows 20000 3600 1500 >"$work/bid.csv"
text "$rows bids of one hour in a CSV file, $(($(stat -c %s "$work/bid.csv") / 1000000)) MB, a little out of order. The first two:"
head -n 2 "$work/bid.csv" | show
text 'The job (examples/demo/top3.sql) keeps the three auctions with the most bids of each minute:'
sed -n '/^INSERT/,$p' "$here/top3.sql" | show

title '2. A run that is left alone, to compare with'
new_folder alone
(run "$work/alone" --progress never) 2>"$work/alone.err" || { show "$work/alone.err"; fail 'the job did not end well'; }
show "$work/alone.err"
lines=$(output "$work/alone" | wc -l)
[ "$lines" -ge 150 ] || fail "only $lines result rows"
text "$lines result rows. The first minute:"
output "$work/alone" | sed -n 1,3p | show

title "3. The same job again, killed in the middle (kill -9: it can't put anything in order)"
for attempt in 1 2 3 4 5; do
  new_folder "killed-$attempt"; killed=$work/killed-$attempt
  (run "$killed" --progress always) 2>"$work/killed.err" & job=$!
  until [ "$(parts "$killed" | wc -l)" -ge $((8 + attempt)) ] || ! kill -0 $job 2>/dev/null; do sleep 0.01; done
  kill -9 $job 2>/dev/null || true
  status=0; wait $job 2>/dev/null || status=$?
  job=
  [ $status -ne 137 ] || break
done
[ $status -eq 137 ] || fail "the job ended (exit $status) before it could be killed"
{ tr '\r' '\n' <"$work/killed.err" | grep . || true; } | tail -n 2 | show
before=$(output "$killed" | wc -l)
[ "$before" -lt "$lines" ] || fail 'the killed job had already written everything'
output "$killed" >"$work/before"
text "Killed. It had written $before of $lines result rows; each file that can be seen is whole:"
parts "$killed" | sed "s|$killed/||" | tail -n 2 | show

title '4. What it left behind: its last checkpoint, taken out as a savepoint and opened offline'
"$tidemark" savepoint take "$killed/state" -o "$work/stop.sp" >"$work/take.out" 2>&1 || { show "$work/take.out"; fail 'no savepoint'; }
"$tidemark" savepoint verify "$work/stop.sp" >"$work/verify.out" 2>&1 || { show "$work/verify.out"; fail 'the savepoint is damaged'; }
"$tidemark" inspect "$work/stop.sp" >"$work/inspect.out" 2>&1 || { show "$work/inspect.out"; fail 'the savepoint could not be inspected'; }
sed "s|$work/||" "$work/inspect.out" | show

title '5. Started again with the same command, it goes on from there'
(run "$killed" --progress never) 2>"$work/resumed.err" || { show "$work/resumed.err"; fail 'the job did not resume'; }
sed "s|$work/||" "$work/resumed.err" | show
output "$killed" >"$work/after"; output "$work/alone" >"$work/want"
cmp -n "$(stat -c %s "$work/before")" "$work/before" "$work/after" || fail 'rows that could be seen before the kill have changed'
cmp "$work/want" "$work/after" || fail 'the output differs from that of the run left alone'
text "All $lines result rows, byte for byte those of the run that was left alone (compared with cmp):"
text "  left alone        $(sha256sum <"$work/want" | cut -c1-32)"
text "  killed, resumed   $(sha256sum <"$work/after" | cut -c1-32)"

title '6. A changed query must not go on from state that does not fit'
new_folder changed
sed -i 's/place <= 3/place <= 5/' "$work/changed/top3.sql"
text 'The same script with the best five instead of three, from the savepoint of step 4:'
status=0; (cd "$work/changed" && "$tidemark" run top3.sql --from "$work/stop.sp") >"$work/changed.out" 2>&1 || status=$?
sed "s|$work/||" "$work/changed.out" | show
[ $status -eq 4 ] || fail "the changed query gave exit $status, expected 4 (refused)"
[ -z "$(parts "$work/changed")" ] || fail 'the refused job wrote files'
text 'Refused (exit 4), nothing was written.'

title "Done in $SECONDS s."
