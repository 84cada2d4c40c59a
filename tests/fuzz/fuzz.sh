#!/usr/bin/env bash
# usage: fuzz.sh TARGET [SECONDS]: builds tests/fuzz/TARGET.c and all it needs with libFuzzer into build-fuzz/ and runs it.
# What it finds becomes a file in the target's corpus, and the fix's test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=${1:-sql_parse} seconds=${2:-60}
[ -e "tests/fuzz/$target.c" ] || { echo "no tests/fuzz/$target.c" >&2; exit 2; }
case $target in sql_*) corpus=tests/fuzz/corpus ;; *) corpus=tests/fuzz/${target%_read}-corpus ;; esac
if [ ! -e build-fuzz/build.ninja ]; then
  CC=clang meson setup build-fuzz --buildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false \
    -Dwerror=false -Dc_args=-fsanitize=fuzzer-no-link >build-fuzz.log 2>&1 || { tail build-fuzz.log; exit 1; }
  mv build-fuzz.log build-fuzz/setup.log
fi
ninja -C build-fuzz --quiet "tests/fuzz/fuzz_$target"
libraries=$(find build-fuzz -name 'lib*.a' | sort)
mkdir -p .cache/fuzz
clang -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -I. -Iinclude "tests/fuzz/$target.c" -Wl,--start-group $libraries -Wl,--end-group \
  -lrocksdb -lprotobuf-c -lzstd -lxxhash -lm -lpthread -ldl -o ".cache/fuzz/$target"
mkdir -p ".cache/fuzz/$target.corpus"
case $target in sql_*) cp tests/golden/*/*/query.sql --backup=numbered -t ".cache/fuzz/$target.corpus" 2>/dev/null || true ;; esac
exec ".cache/fuzz/$target" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 ".cache/fuzz/$target.corpus" "$corpus"
