# SPDX-License-Identifier: GPL-3.0-or-later
# bash -s: in a prepared Debian with /shared, install /shared/taffeta.zip in Blender, with settings that suit a test.
set -euo pipefail
export BLENDER_USER_RESOURCES=/shared/resources
blender --command extension install-file --repo user_default --enable /shared/taffeta.zip
blender --background --python-exit-code 1 --python-expr "
import bpy
view = bpy.context.preferences.view
view.show_splash = False
view.filebrowser_display_type = 'SCREEN'  # for without a window manager a second window gets no keys
bpy.ops.wm.save_userpref()"
