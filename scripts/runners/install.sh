#!/usr/bin/env bash
# Installs uv below node_modules/.cache/toolcrib-uv/bin, for the tests and verifications that fetch packages of PyPI.
# Pinned by its version and its hashes, from a wheel: no code of a package is run for the installation.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="$here/../../node_modules/.cache/toolcrib-uv"
export PATH=/usr/bin:/bin PIP_DISABLE_PIP_VERSION_CHECK=1

if cmp -s "$here/requirements.txt" "$folder/installed.txt"; then exit 0; fi
rm -rf "$folder"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --require-hashes --only-binary=:all: --no-deps \
  --target "$folder" -r "$here/requirements.txt"
# Written last, so that an incomplete installation is replaced.
cp "$here/requirements.txt" "$folder/installed.txt"
