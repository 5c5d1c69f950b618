# SPDX-License-Identifier: GPL-3.0-or-later
# bash -s ROLE SIZE: in a prepared Debian with /shared, an X server in memory and Blender in its window, as install.sh
# left it.
set -euo pipefail
width=$1 height=$2
export BLENDER_USER_RESOURCES=/shared/resources XDG_RUNTIME_DIR=/shared/runtime LIBGL_ALWAYS_SOFTWARE=1
export LP_NUM_THREADS=0 # Blender's own thread draws: beside a bake there is no other processor
renice -n -10 -p $$ >/dev/null 2>&1 || true # the window comes before the tests beside it
mkdir -p -m 700 "$XDG_RUNTIME_DIR" /shared/screen
Xvfb -displayfd 5 -screen 0 "${width}x${height}x24" -fbdir /shared/screen -nocursor -nolisten tcp -noreset \
  5>/shared/display &
until [[ -s /shared/display ]]; do sleep 0.05; done
DISPLAY=:$(cat /shared/display) exec blender --gpu-backend opengl -p 0 0 "$width" "$height" \
  --python /shared/listener.py -- /shared/socket
