/** Findings about profiles and changes of tools. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "@toolcrib/config";
import { formatDiagnostic } from "@toolcrib/diagnostics";

const rows: readonly (readonly [title: string, text: string, ...expected: RegExp[]])[] = [
  [
    "a client that is bound to no profile of the configuration",
    "profiles: { triage: {} }\npolicy: { clients: { ci: { profile: triag } } }",
    /^toolcrib\.yaml:2:\d+: error CONFIG_INVALID_VALUE\nThe client "ci" is bound to the profile "triag", which does not exist/,
    /did you mean "?triage/,
  ],
  [
    "one name for several tools",
    'tools: { "github:*": { name: one } }',
    /Several tools cannot have the name "one"[\s\S]*give a name to one tool/,
  ],
  [
    "a fixed value that is a default, too",
    'tools: { "github:a": { arguments: { x: { fixed: 1, default: 2 } } } }',
    /a fixed value and a default, which never applies/,
  ],
  [
    "a secret as the value of an argument",
    'tools: { "github:a": { arguments: { x: { fixed: { token: "ghp_0123456789abcdefghijklmnopqrstuvwxyz" } } } } }',
    /^toolcrib\.yaml:1:\d+: error CONFIG_INLINE_SECRET\ninline secret not allowed/,
  ],
  [
    "a field of the policy",
    "profiles: { a: { allow: [x] } }",
    /Unknown field "allow"[\s\S]*did you mean tools\?/,
  ],
];

for (const [title, text, ...expected] of rows) {
  test(`parseConfig() reports ${title}`, () => {
    const { value, diagnostics } = parseConfig([{ name: "toolcrib.yaml", text }]);
    assert.equal(value, undefined);
    const report = diagnostics.map((one) => formatDiagnostic(one)).join("\n");
    for (const pattern of expected) assert.match(report, pattern);
    assert.doesNotMatch(report, /ghp_0123456789/);
  });
}

test("parseConfig() completes a profile with the settings of serve", () => {
  const text = "serve: { mode: auto, tools: { pinned: ['a:b'] } }\nprofiles: { x: {}, y: { mode: full } }";
  const { value } = parseConfig([{ name: "toolcrib.yaml", text }]);
  const { x, y } = value?.profiles ?? {};
  assert.deepEqual([x?.mode, x?.resultTokenBudget, x?.pinned], ["auto", 25_000, ["a:b"]]);
  assert.deepEqual([y?.mode, y?.resultTokenBudget], ["full", 0]);
});
