#!/bin/bash
# A wheel as its user meets it: installed in an environment of its own, used in an empty folder, with an empty cache.
# try_wheel.sh WHEEL; exit code not 0 if anything fails, or if the command writes into its own installation.
set -euo pipefail
wheel=$(realpath "$1")
lock=$(realpath "$(dirname "$0")/../requirements.lock")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "== Installing $(basename "$wheel") ($(stat -c %s "$wheel") bytes) and what it needs"
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --disable-pip-version-check --quiet --require-hashes -r "$lock"
"$work/venv/bin/python" -m pip install --disable-pip-version-check --quiet --no-deps --no-compile "$wheel"
"$work/venv/bin/python" -m compileall -q "$work/venv/lib" || true
mkdir "$work/empty" && cd "$work/empty"
for name in $(compgen -e | grep "^RTOSLAB_" || true); do unset "$name"; done
export XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config"
find "$work/venv" -type f | sort > "$work/before"
"$work/venv/bin/rtoslab" doctor
echo "== rtoslab demo in an empty folder"
"$work/venv/bin/rtoslab" demo
test -s runs/*/report.html
find "$work/venv" -type f | sort > "$work/after"
diff "$work/before" "$work/after" || { echo "The command wrote into its own installation, see above."; exit 1; }
test "$(ls)" = runs || { echo "Beside runs/ there is: $(ls)"; exit 1; }
echo "== $(basename "$wheel") works: $(du -sh "$work/venv" | cut -f1) installed"
