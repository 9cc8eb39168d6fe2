#!/bin/sh
# Get everything that a build or the tests need, then build the release preset.
#
#   tools/setup.sh [deps | build | quick | full]      default: build
#     deps   the pinned libraries only; prints the folder they are in
#     build  deps, then build/release/forebay
#     quick  what ./test quick needs: the same as build, and the unit test program
#     full   what ./test needs: also clang, Java, Maven and a Python environment
#
# Nothing is put into the tree but build/. What is fetched lands in a cache:
#   FOREBAY_CACHE   its folder; default $XDG_CACHE_HOME/forebay or ~/.cache/forebay
#   FOREBAY_DEPS    a folder of your own with the libraries; then nothing is fetched.
#                   It needs the files that prefix_is_whole, below, looks for.
#
# A second call finds the work done and returns at once. Exit status: 0 ready, 1 failed,
# 2 wrong argument, 69 a system package is missing and this user may not install it.
set -eu

level=${1:-build}
case $level in
deps | build | quick | full) ;;
*)
    echo "usage: tools/setup.sh [deps | build | quick | full]" >&2
    exit 2
    ;;
esac

cd "$(dirname "$0")/.."
root=$(pwd)
cache=${FOREBAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/forebay}
lock_hash=$(sha256sum tools/deps.lock | cut -c1-16)
prefix=${FOREBAY_DEPS:-$cache/deps-$lock_hash}

say() { echo "setup: $*" >&2; }
die() {
    say "$*"
    exit 1
}

# --- system packages ------------------------------------------------------------------

# Add Debian package $1 to the missing ones unless the command after it succeeds. What is
# looked for is the thing itself, so one that came from elsewhere counts as present.
missing=
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
on_path() { command -v "$1"; }
python_has() { python3 -c "import $1"; }

# Install what `need` found missing, or say what to run and give up.
install_missing() {
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || die "missing, by their Debian names:$missing"
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        sudo=
        ! command -v sudo >/dev/null || sudo="sudo "
        say "some system packages are missing; run this line, then the same command again"
        echo "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends$missing" >&2
        exit 69
    fi
    say "installing$missing"
    log=$(mktemp)
    # shellcheck disable=SC2086 # both hold words, or nothing
    if ! { $as_root apt-get -q -o DPkg::Lock::Timeout=300 update &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -20 "$log" >&2
        die "apt-get could not install$missing"
    fi
    rm -f "$log"
    missing=
}

need_for_build() {
    need gcc on_path gcc
    need libc6-dev test -e /usr/include/stdlib.h
    need cmake on_path cmake
    need ninja-build on_path ninja
    need python3 on_path python3
    need pkg-config on_path pkg-config
    need libfyaml-dev pkg-config --atleast-version=0.7.12 libfyaml
    need libcurl4-openssl-dev pkg-config --atleast-version=7.75 libcurl
    need libssl-dev pkg-config --atleast-version=3.0 openssl
    need libzstd-dev pkg-config libzstd
    need liblz4-dev pkg-config liblz4
    need zlib1g-dev pkg-config zlib
}

need_for_fetch() {
    need ca-certificates test -d /etc/ssl/certs
    need g++ on_path g++
    need make on_path make
    need npm on_path npm
    need python3-pip python_has pip
}

need_for_tests() {
    need clang on_path clang
    need openjdk-17-jre-headless on_path java
    need maven on_path mvn
    need openssl on_path openssl
    need python3-venv python_has "ensurepip, venv"
}

# --- the pinned libraries ---------------------------------------------------------------

prefix_is_whole() {
    for file in include/duckdb.h include/yyjson.h include/librdkafka/rdkafka.h \
        include/librdkafka/rdkafka_mock.h lib/libduckdb.so lib/librdkafka.a src/yyjson/yyjson.c; do
        [ -f "$prefix/$file" ] || return 1
    done
}

hash_is() { echo "$2  $1" | sha256sum -c --status 2>/dev/null; }

# Bring archive $1, that client $2 knows as $3 and whose SHA-256 is $4, to $cache/archives.
fetch() {
    archive=$cache/archives/$1-$(echo "$4" | cut -c1-16).tgz
    hash_is "$archive" "$4" && return 0
    say "fetching $3"
    into=$(mktemp -d "$cache/fetch.XXXXXX")
    case $2 in
    npm) (cd "$into" && timeout 600 npm pack --loglevel=error --fetch-retries=1 "$3") ;;
    pip) timeout 600 python3 -m pip download -q --no-deps --no-binary "${3%%==*}" -d "$into" "$3" ;;
    *) die "tools/deps.lock: $1: no client is named $2" ;;
    esac >"$into.log" 2>&1 || {
        tail -5 "$into.log" >&2
        rm -rf "$into" "$into.log"
        say "could not fetch $3 with $2"
        die "behind a proxy or an own certificate authority, set up $2 for it and install its CA bundle"
    }
    mv "$into"/*.* "$archive"
    rm -rf "$into" "$into.log"
    hash_is "$archive" "$4" || {
        rm -f "$archive"
        die "$3 is not the archive that tools/deps.lock names: its SHA-256 differs"
    }
}

# Unpack archive $1, fetched before, into the prefix that is being made.
unpack() {
    case $1 in
    librdkafka)
        mkdir "$new/src/librdkafka"
        tar xzf "$archive" -C "$new/src/librdkafka" --strip-components=3 package/deps/librdkafka
        ;;
    duckdb-lib-*) tar xzf "$archive" -C "$new/lib" --strip-components=1 package/libduckdb.so ;;
    duckdb-header)
        tar xzf "$archive" -C "$new/include" --strip-components=5 --wildcards \
            '*/external/duckdb/src/include/duckdb.h'
        ;;
    yyjson)
        mkdir "$new/src/yyjson"
        tar xzf "$archive" -C "$new/src/yyjson" --strip-components=2 --wildcards '*/yyjson/yyjson.[ch]'
        cp "$new/src/yyjson/yyjson.h" "$new/include/"
        ;;
    *) die "tools/deps.lock: nobody knows how to unpack $1" ;;
    esac
}

# Build librdkafka in folder $1 into $2, with the compiler flags $3 and more arguments for its
# configure. Its features are checked afterwards: it leaves one out without failing.
build_librdkafka() {
    source=$1 result=$2 flags=$3
    shift 3
    log=$cache/librdkafka.log
    (
        cd "$source"
        unset CC CFLAGS CPPFLAGS LDFLAGS
        ./configure --disable-gssapi --CFLAGS="$flags -g -ffile-prefix-map=$source=librdkafka" "$@" &&
            make -j"$(nproc)" -C src librdkafka.a
    ) >"$log" 2>&1 || {
        tail -20 "$log" >&2
        die "could not build librdkafka; the whole log is $log"
    }
    for feature in WITH_SSL WITH_SASL_SCRAM WITH_SASL_OAUTHBEARER WITH_OAUTHBEARER_OIDC WITH_ZSTD \
        WITH_LZ4_EXT WITH_ZLIB; do
        grep -q "^#define $feature 1" "$source/config.h" || die "librdkafka was built without $feature"
    done
    cp "$source/src/librdkafka.a" "$result"
}

# Call $1 with the words of each line of tools/deps.lock that this machine needs.
each_archive() {
    while read -r name client spec sum _; do
        case $name in
        '' | \#*) ;;
        "duckdb-lib-$(uname -m)") "$1" "$name" "$client" "$spec" "$sum" ;;
        duckdb-lib-*) ;;
        *) "$1" "$name" "$client" "$spec" "$sum" ;;
        esac
    done <tools/deps.lock
}

fetch_and_unpack() {
    fetch "$@"
    unpack "$@"
}

make_prefix() {
    grep -q "^duckdb-lib-$(uname -m) " tools/deps.lock ||
        die "tools/deps.lock has no DuckDB library for $(uname -m); build one and set FOREBAY_DEPS"
    new=$prefix.new
    rm -rf "$new"
    mkdir -p "$cache/archives" "$new/include/librdkafka" "$new/lib" "$new/src"
    each_archive fetch_and_unpack
    say "building librdkafka"
    build_librdkafka "$new/src/librdkafka" "$new/lib/librdkafka.a" \
        "-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3"
    cp "$new/src/librdkafka/src/rdkafka.h" "$new/src/librdkafka/src/rdkafka_mock.h" \
        "$new/include/librdkafka/"
    rm -rf "$new/src/librdkafka"
    mv "$new" "$prefix"
}

# A second librdkafka for the build with ThreadSanitizer, which must see every lock and every
# thread; gcc 12's does not know the threads of C11.
tsan_is_whole() { [ -f "$prefix/lib/librdkafka-tsan.a" ]; }
make_tsan() {
    new=$prefix.tsan
    rm -rf "$new"
    mkdir -p "$new/src"
    each_archive fetch_and_unpack_librdkafka
    say "building librdkafka with ThreadSanitizer"
    build_librdkafka "$new/src/librdkafka" "$new/librdkafka-tsan.a" "-O1 -fsanitize=thread" \
        --disable-c11threads
    mv "$new/librdkafka-tsan.a" "$prefix/lib/"
    rm -rf "$new"
}
fetch_and_unpack_librdkafka() { [ "$1" != librdkafka ] || fetch_and_unpack "$@"; }

# Run $1 while no other set-up works in the cache; $2 succeeds when it is done already.
once() {
    "$2" && return 0
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock 9
    "$2" || "$1"
    exec 9>&-
}

# --- the Python environment and the build -------------------------------------------------

venv_is_whole() { [ -f "$venv/done" ]; }
make_venv() {
    say "making the Python environment of the tests"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r tests/requirements.txt ||
        die "pip could not install tests/requirements.txt; behind a proxy or an own certificate authority, set up pip for it"
    touch "$venv/done"
}

# Keep $2 in file $1; leave the file untouched, and so its age, when it says so already.
keep() {
    [ "$(cat "$1" 2>/dev/null)" = "$2" ] || echo "$2" >"$1"
}

need_for_build
if [ -z "${FOREBAY_DEPS:-}" ]; then
    prefix_is_whole && { [ "$level" != full ] || tsan_is_whole; } || need_for_fetch
fi
[ "$level" != full ] || need_for_tests
install_missing

if [ -n "${FOREBAY_DEPS:-}" ]; then
    prefix_is_whole || die "FOREBAY_DEPS=$prefix lacks $file"
else
    once make_prefix prefix_is_whole
    [ "$level" != full ] || once make_tsan tsan_is_whole
fi
mkdir -p build
keep build/deps_prefix.txt "$prefix"
[ "$level" != deps ] || {
    echo "$prefix"
    exit 0
}

if [ "$level" = full ]; then
    venv=$cache/venv-$( (cat tests/requirements.txt && python3 -VV) | sha256sum | cut -c1-16)
    once make_venv venv_is_whole
    keep build/venv.txt "$venv"
    FOREBAY_CACHE=$cache tests/services/kafka install >/dev/null ||
        die "Maven could not fetch Kafka; behind a proxy or an own certificate authority, set up Maven for it"
fi

[ -f build/release/build.ninja ] || cmake --preset release >/dev/null
case $level in
build) targets="forebay" ;;
quick) targets="forebay unit" ;;
full) targets="forebay unit failio perf" ;;
esac
# shellcheck disable=SC2086 # words
cmake --build build/release --target $targets >build/release.log 2>&1 || {
    grep -v -e '^\[' -e '^-- ' -e ' -o CMakeFiles/' build/release.log | head -60 >&2
    die "the build failed; the whole log is $root/build/release.log"
}
