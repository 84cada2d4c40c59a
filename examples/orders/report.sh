#!/usr/bin/env bash
# Runs all the scripts, keeps each one's output in NAME.out, and computes report.json from them.
# usage: report.sh [FOLDER]   (where to write; by default here)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tidemark=${TIDEMARK:-$here/../../build/tidemark}
out=${1:-$here}
for name in assign tumble hop cumulate session top-shops top-orders; do
  "$tidemark" run "$here/$name.sql" --progress never >"$out/$name.out"
done

# A result line is `| +I | column | column ... |`; split at `|`, field 2 is the kind and the columns begin at 3.
sum() { awk -F'|' -v column="$2" '/^\| +\+I/ {n += $(column + 2)} END {print n + 0}' "$out/$1.out"; }
count() { awk '/^\| +\+I/ {n++} END {print n + 0}' "$out/$1.out"; }
largest() { awk -F'|' -v column="$2" '/^\| +\+I/ && $(column + 2) > n {n = $(column + 2)} END {print n + 0}' "$out/$1.out"; }
cat >"$out/report.json" <<EOF
{
  "orders": $(sum tumble 4),
  "hop_assignments": $(sum hop 3),
  "cumulate_windows": $(count cumulate),
  "sessions": $(count session),
  "max_session_orders": $(largest session 4)
}
EOF
cat "$out/report.json"
