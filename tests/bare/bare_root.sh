#!/bin/bash
# Show that the two commands of README.md work in a bare Debian 12, from a fresh clone.
#
#   tests/bare/bare_root.sh [REPOSITORY]     default: the one this script is in, as committed
#
# Makes a root folder that holds Debian's essential packages and apt, nothing else, and shows there:
#   1  as an ordinary user, ./demo and ./test quick print one apt-get line and exit with 69
#   2  as root, ./demo installs, builds and ends with 0
#   3  a second ./demo builds nothing and is at work within START_SECONDS
#   4  ./test quick ends with 0; its closing line and its time are shown, the time is not judged
#   5  the program is build/release/forebay
# Each fact is a line `ok: ...`. Exit status: 0 all hold, 1 one does not, 77 it cannot be tried
# here (not root, no mmdebstrap, no mount namespaces).
#
# Mounts and processes are in namespaces of the script's own, which end with it, however it ends;
# then the root is removed. Environment, all of it optional:
#   TMPDIR          where the root is made; default /tmp; about 3 GB
#   BARE_KEEP=1     leave the root there, and say where
#   EXTRA_CA        a file of certificates that the root is to trust besides Debian's
#   ROOT_SETUP      a script to run in the root first, for example to set up npm or pip for a proxy
#   MMDEBSTRAP_OPTIONS   more options for mmdebstrap, such as --aptopt=...
#   START_SECONDS   default 10
set -euo pipefail

die() { echo "bare_root: $*" >&2 && exit 1; }
cannot() { echo "bare_root: cannot be tried here: $*" >&2 && exit 77; }
ok() { echo "ok: $*"; }

# --- outside: the folder, and its end -------------------------------------------------------

if [ -z "${BARE_INSIDE:-}" ]; then
    [ "$(id -u)" = 0 ] || cannot "this user is not root"
    command -v mmdebstrap >/dev/null || cannot "mmdebstrap is not installed"
    unshare --mount --pid --fork true 2>/dev/null || cannot "no mount namespaces"
    repository=$(realpath "${1:-$(dirname "$0")/../..}")
    root=$(mktemp -d "${TMPDIR:-/tmp}/forebay-bare.XXXXXX")
    leave() {
        ! kill -KILL "$inside" 2>/dev/null || wait "$inside" || sleep 1 # and all that is inside
        [ "${BARE_KEEP:-}" != 1 ] || { echo "bare_root: kept $root" >&2 && return; }
        rm -rf --one-file-system "$root"
    }
    trap 'exit 130' HUP INT TERM # heard at once, since the rest is in the background
    BARE_INSIDE=1 unshare --mount --propagation private --pid --fork --kill-child \
        "$BASH" "$(realpath "$0")" "$repository" "$root" &
    inside=$!
    trap leave EXIT
    wait "$inside" && exit 0 || exit $?
fi

# --- inside: a bare root with a fresh clone ---------------------------------------------------

repository=$1 root=$2
# shellcheck disable=SC2086 # words
mmdebstrap --quiet --mode=root --variant=apt ${MMDEBSTRAP_OPTIONS:-} bookworm "$root" ||
    die "mmdebstrap could not make the root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"

# Run a command line of bash in the root, as user $1, in the clone of that user.
as() {
    user=$1
    home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
    chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups \
        env -i HOME="$home" PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${passed[@]}" \
        bash -c "set -euo pipefail; cd ~/forebay; $2" </dev/null
}

passed=()
for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || passed+=("$name=${!name}")
done
if [ -n "${EXTRA_CA:-}" ]; then # Debian's ca-certificates takes it up when it is installed
    install -D -m 644 "$EXTRA_CA" "$root/usr/local/share/ca-certificates/extra.crt"
    passed+=("NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates/extra.crt")
fi
chroot "$root" useradd --create-home --shell /bin/bash newcomer
for home in root home/newcomer; do
    git -c safe.directory='*' clone --quiet --no-hardlinks "$repository" "$root/$home/forebay"
done
chroot "$root" chown -R newcomer: /home/newcomer
if [ -n "${ROOT_SETUP:-}" ]; then
    install -m 755 "$ROOT_SETUP" "$root/root/setup"
    as root "~/setup"
fi
echo "a bare Debian $(cat "$root/etc/debian_version") with $(as root 'dpkg -l | grep -c ^ii') packages," \
    "forebay at $(git -C "$root/root/forebay" log -1 --format='%h, %s')"

# --- what is to be shown ----------------------------------------------------------------------

for command in "./demo" "./test quick"; do
    status=0
    printed=$(as newcomer "$command" 2>&1) || status=$?
    echo "$printed" | sed 's/^/    /'
    [ "$status" = 69 ] || die "1: $command ended with $status, not with 69"
    [ "$(grep -c apt-get <<<"$printed")" = 1 ] || die "1: $command does not print one apt-get line"
    ok "1: an ordinary user's $command prints one apt-get line and exits with 69"
done

# Run a command line as root, show the end of what it prints, and set `seconds`.
timed() {
    began=$SECONDS
    as root "$1" 2>&1 | tee "$root/root/printed" | tail -"$2" | sed 's/^/    /' || die "$3: $1 failed"
    seconds=$((SECONDS - began))
}
timed ./demo 25 2
ok "2: root's first ./demo, $seconds s"

age='stat -c %y build/release/forebay build/release/*.a'
before=$(as root "$age")
timed './demo 2>&1 | { read -r first; echo "$SECONDS" >~/started; echo "$first"; cat; }' 25 3
[ "$(as root "$age")" = "$before" ] || die "3: the second ./demo built something"
started=$(cat "$root/root/started")
[ "$started" -le "${START_SECONDS:-10}" ] || die "3: the second ./demo was at work after $started s only"
ok "3: the second ./demo built nothing, was at work after $started s and done after $seconds s"

timed './test quick' 12 4
ok "4: ./test quick, $seconds s: $(tail -1 "$root/root/printed")"

ok "5: the program is build/release/forebay: $(as root 'build/release/forebay --version' | head -1)"
