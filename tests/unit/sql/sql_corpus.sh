#!/bin/sh
# sql_corpus.sh PARSE_FILE GOLDEN_DIR: every query.sql parses, unless Flink's own parser or the type names in it are refused.
# Where expected.out says "ERROR parse", parsing must fail with a place.
parse_file=$1
golden=$2
checked=0
failed=0
# Valid in Flink, refused here by name.
unsupported='extra/match-recognize'
# Flink's validator refuses it; our parser already knows that there is no such type.
validated='error/syntax-unknown-type'
for script in "$golden"/*/*/query.sql; do
    [ -f "$script" ] || continue
    case_name=$(basename "$(dirname "$(dirname "$script")")")/$(basename "$(dirname "$script")")
    output=$("$parse_file" "$script")
    status=$?
    checked=$((checked + 1))
    want=0
    if grep -q '^ERROR parse' "$(dirname "$script")/expected.out" 2>/dev/null; then want=1; fi
    case $case_name in "$unsupported" | "$validated") want=1 ;; esac
    if [ $status -ne $want ]; then
        echo "$case_name: exit $status, expected $want"
        echo "$output"
        failed=$((failed + 1))
    elif [ $want -eq 1 ] && ! echo "$output" | head -n 1 | grep -Eq 'query\.sql:[1-9][0-9]*:[1-9][0-9]*: '; then
        echo "$case_name: no place: $output"
        failed=$((failed + 1))
    fi
done
echo "$checked scripts, $failed wrong"
[ "$checked" -gt 0 ] && [ "$failed" -eq 0 ]
