#!/usr/bin/env bash
# Installs the official Python SDK, in the versions that tests use as clients, and FastMCP,
# below node_modules/.cache. Every package is pinned by its version and its hashes, and no
# code of a package is run for the installation.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cache="$here/../../../../../node_modules/.cache/toolcrib-python"
export PATH=/usr/bin:/bin PIP_DISABLE_PIP_VERSION_CHECK=1

install_version() {
  local requirements="$here/requirements-$1.txt" folder="$cache/$1"
  if cmp -s "$requirements" "$folder/installed.txt"; then return; fi
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --require-hashes --only-binary=:all: --no-deps -r "$requirements"
  # Written last, so that an incomplete installation is replaced.
  cp "$requirements" "$folder/installed.txt"
}

# In their own shells, so that a failed command ends each of them.
(install_version v1) & first=$!
(install_version v2) & second=$!
(install_version fastmcp) & third=$!
status=0
wait "$first" || status=1
wait "$second" || status=1
wait "$third" || status=1
exit "$status"
