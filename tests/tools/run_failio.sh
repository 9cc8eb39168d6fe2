#!/bin/sh
# Run a program with one random I/O error: run_failio.sh PROGRAM [ARGUMENT...]
#   FAILIO_SO    failio.so, as `cmake --build build/release --target failio` makes it
#   FAILIO_PART  a part of the paths that may fail; default /table
#   FAILIO_SEED  a number that the choice comes from; default: another one each time
#   CRASH_DRAIN  when set, nothing fails: crash_test.py asks for quiet
set -eu
if [ -z "${CRASH_DRAIN:-}" ]; then
    rules='fsync:EIO fsync:ENOSPC write:ENOSPC write:EIO link:EIO link:ENOSPC open:EMFILE unlink:EIO
close:EIO rename:EIO none'
    seed=${FAILIO_SEED:-$(od -An -N4 -tu4 /dev/urandom)}
    # shellcheck disable=SC2086 # a list of words
    set -- "$(echo $rules | cut -d' ' -f$((seed % 11 + 1)))" $((seed / 11 % 12 + 1)) "$@"
    if [ "$1" != none ]; then
        FAILIO=${1%%:*}:${FAILIO_PART:-/table}:$2:${1#*:}
        FAILIO_SHORT=1
        export FAILIO FAILIO_SHORT
    fi
    shift 2
fi
LD_PRELOAD=${FAILIO_SO:?the path of failio.so} exec "$@"
