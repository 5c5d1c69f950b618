#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# prepare.sh SUITE ROOT: a Debian beside this one, with its Blender, an X server in memory and OpenGL in software.
# As root, in under two minutes and 1.5 GB; at once where ROOT has it already, made by this very script. trixie has
# Blender 4.3, sid 5.2.
set -euo pipefail
suite=$1 root=$2 here=$(cd "$(dirname "$0")" && pwd)
made=$(cksum <"$0")
[[ -e $root/prepared && $(<"$root/prepared") == "$made" ]] && exit
mirror=$(apt-get indextargets --format '$(SITE)' | sed -n 1p) # what this machine itself installs from
: "${mirror:?apt names no mirror}"

packages=(blender xvfb libgl1-mesa-dri libegl1 libegl-mesa0 libglx-mesa0 xdotool imagemagick fonts-dejavu-core
  python3-numpy python3-requests ca-certificates)
if [[ $suite == sid ]]; then
  packages+=(python3-cattr) # which Blender's extensions import there, without depending on it
  packages+=(python3-scipy) # no wheel of the zip is for its Python, 3.14
  packages+=(python3-filelock python3-pytest) # for the tests that run within it
fi

rm -rf "$root"
mkdir -p "$root"
unshare --mount --propagation private debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
  "$suite" "$root" "$mirror"
cp -n /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no service starts in there
chmod +x "$root/usr/sbin/policy-rc.d"
ln -sf /proc/self/mounts "$root/etc/mtab" # without it Blender's file browser has no disks
"$here/inside.sh" "$root" sh -c "apt-get update && DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends -o Dpkg::Options::=--force-unsafe-io ${packages[*]} && apt-get clean"
echo "$made" >"$root/prepared"
