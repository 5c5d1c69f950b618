#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# inside.sh ROOT COMMAND …: run a command as root in a prepared Debian; what it leaves running ends with it, and no
# mount is left. SHARED, a folder, appears in there as /shared.
set -euo pipefail
export ROOT=$1 SHARED=${SHARED-}
shift
exec unshare --mount --pid --fork --kill-child --propagation private bash -euc '
  mount -t proc proc "$ROOT/proc"
  mount -t tmpfs -o mode=755,size=8m dev "$ROOT/dev"
  for device in null zero full random urandom tty; do
    : >"$ROOT/dev/$device"
    mount --bind "/dev/$device" "$ROOT/dev/$device"
  done
  mkdir "$ROOT/dev/shm" "$ROOT/dev/pts"
  mount -t tmpfs -o mode=1777,size=2g shm "$ROOT/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$ROOT/dev/pts"
  ln -s pts/ptmx "$ROOT/dev/ptmx"
  ln -s /proc/self/fd "$ROOT/dev/fd"
  for pair in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${pair%%:*}" "$ROOT/dev/${pair##*:}"; done
  cp -L /etc/resolv.conf "$ROOT/etc/resolv.conf"
  if [[ $SHARED ]]; then
    mkdir -p "$ROOT/shared"
    mount --bind "$SHARED" "$ROOT/shared"
  fi
  # bash stays process 1 of the namespace: sid has programs that do nothing as children of process 1
  chroot "$ROOT" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" || exit
' bash "$@"
