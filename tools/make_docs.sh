#!/bin/sh
# Write the pages of docs/reference/ that come from the tables the program reads.
#
#   tools/make_docs.sh          write them
#   tools/make_docs.sh --check  change nothing; exit with 1 and the difference when one is stale
#
# The program is the environment's FOREBAY, or build/release/forebay. A page is the whole of
# `forebay help --reference PAGE`; of types.md only the table between its
# two marks.
set -eu
cd "$(dirname "$0")/.."
program=${FOREBAY:-build/release/forebay}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
status=0

for page in config commands errors types; do
    "$program" help --reference "$page" >"$new/$page"
done
grep '^|' "$new/types" >"$new/table"
awk -v table="$new/table" '
    /^<!-- begin: / { print; print ""; while ((getline line < table) > 0) print line; print ""; inside = 1 }
    /^<!-- end -->$/ { inside = 0 }
    !inside && !/^<!-- begin: / { print }' docs/reference/types.md >"$new/types.whole"
mv "$new/types.whole" "$new/types"

for page in config commands errors types; do
    if [ "${1:-}" = --check ]; then
        diff -u "docs/reference/$page.md" "$new/$page" || status=1
    else
        cp "$new/$page" "docs/reference/$page.md"
    fi
done
[ $status = 0 ] || echo "make_docs: run tools/make_docs.sh" >&2
exit $status
