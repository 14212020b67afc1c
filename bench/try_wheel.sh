#!/bin/bash
# A wheel as its user meets it: installed in an environment of its own, used in an empty folder, with an empty cache.
# First without the extra `report`, then with it.
# try_wheel.sh WHEEL; exit code not 0 if anything fails, or if the command writes into its own installation.
set -euo pipefail
wheel=$(realpath "$1")
locks=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "== Installing $(basename "$wheel") ($(stat -c %s "$wheel") bytes) and what it needs"
pip() { "$work/venv/bin/python" -m pip install --disable-pip-version-check --quiet "$@"; }
compiled() { "$work/venv/bin/python" -m compileall -q "$work/venv/lib" || true; }
used() {
    find "$work/venv" -type f | sort > "$work/before"
    "$work/venv/bin/rtoslab" "$@"
    find "$work/venv" -type f | sort > "$work/after"
    diff "$work/before" "$work/after" || { echo "The command wrote into its own installation, see above."; exit 1; }
}
python3 -m venv "$work/venv"
pip --require-hashes -r "$locks/requirements.lock"
pip --no-deps --no-compile "$wheel"
compiled
without=$(du -sh "$work/venv" | cut -f1)
test "$(du -sm "$work/venv" | cut -f1)" -lt 200 || { echo "The installation takes $without, more than 200 MB; see what grew with du."; exit 1; }
mkdir "$work/empty" && cd "$work/empty"
for name in $(compgen -e | grep "^RTOSLAB_" || true); do unset "$name"; done
export XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config"
used doctor
echo "== rtoslab demo in an empty folder, without charts"
used demo
test ! -e runs/*/report.html
echo "== rtoslab demo again, with charts"
pip uv==0.13.9
"$work/venv/bin/uv" pip install --quiet --system-certs --python "$work/venv/bin/python" --require-hashes \
    -c "$locks/requirements-dev.lock" -r "$locks/pyproject.toml" --extra report
compiled
used demo > "$work/again"
test -s runs/*/report.html
test "$(ls)" = runs || { echo "Beside runs/ there is: $(ls)"; exit 1; }
echo "== $(basename "$wheel") works: $without installed, $(du -sh "$work/venv" | cut -f1) with charts"
