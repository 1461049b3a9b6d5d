import assert from "node:assert/strict";
import { test } from "node:test";
import { digestConfig, formatConfigReport, parseConfig } from "@toolcrib/config";

function digestOf(text: string, name = "toolcrib.yaml"): string {
  const { value, diagnostics } = parseConfig([{ name, text }]);
  assert.ok(value, formatConfigReport([], diagnostics));
  return digestConfig(value);
}

const server = (fields: string): string =>
  `tool_servers:\n- id: a\n${fields}  transport:\n    kind: stdio\n    command: x\n`;
const toolspec = (fields: string): string => `toolspecs:\n- name: petstore\n${fields}`;

function checkEqual(title: string, one: string, other: string): void {
  test(`digestConfig() returns the same digest for ${title}`, () =>
    assert.equal(digestOf(one), digestOf(other)));
}

function checkDifferent(title: string, one: string, other: string): void {
  test(`digestConfig() returns another digest for ${title}`, () =>
    assert.notEqual(digestOf(one), digestOf(other)));
}

test("digestConfig() does not depend on the name of the file", () => {
  assert.equal(digestOf(server(""), "a.yaml"), digestOf(server(""), "b.yaml"));
});

checkEqual("other notation and places", server("  name: A\n"), `# comment\n\n${server('  name: "A"\n')}`);
test("digestConfig() includes that a file of another program has a credential, and not which", () => {
  const digestWith = (env: object): string =>
    digestOf(JSON.stringify({ mcpServers: { a: { command: "x", env } } }), ".mcp.json");
  const [one, other] = ["a", "b"].map((letter) => digestWith({ TOKEN: `ghp_${letter.repeat(36)}` }));
  assert.equal(one, other);
  assert.notEqual(one, digestWith({}));
});

checkDifferent("another command", server(""), server("").replace("command: x", "command: y"));
checkDifferent(
  "another reference to a secret",
  ...(["A", "B"].map((name) => `${server("")}    env: { K: { secret_key_ref: { env: ${name} } } }\n`) as [
    string,
    string,
  ]),
);

// The names of fields that are left out at their own place.
for (const name of ["source", "span", "enforced", "notEnforced", "problems", "pair"]) {
  checkDifferent(`a label "${name}"`, server(""), server(`  labels: { ${name}: x }\n`));
  checkDifferent(
    `a variable "${name}" of the environment`,
    server(""),
    `${server("")}    env: { ${name}: x }\n`,
  );
  checkDifferent(
    `a variable "${name}" of a toolspec`,
    toolspec(""),
    toolspec(`  variables: { ${name}: x }\n`),
  );
}
