import assert from "node:assert/strict";
import { test } from "node:test";
import { appendEntry, parseConfigLayer } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";

const entry: JsonObject = { name: "acme", credentials: { token: { secret_key_ref: "acme-token" } } };

/** Checks the text after adding `added`; `undefined` when the author has to add it by hand. */
function check(text: string, expected: string | undefined, added: JsonObject = entry): void {
  const result = appendEntry(text, "toolspecs", added);
  assert.equal(result, expected);
  if (result === undefined) return;
  const { toolspecs, diagnostics } = parseConfigLayer({ name: "toolcrib.yaml", text: result });
  assert.deepEqual(diagnostics, []);
  assert.equal(toolspecs.at(-1)?.id, String(added["id"] ?? added["name"]));
}

const item = "  - name: acme\n    credentials:\n      token: { secret_key_ref: acme-token }\n";

test("appendEntry() adds an entry after the existing ones and changes no other byte", () => {
  check("", `toolspecs:\n${item}`);
  check("# only a comment\n", `# only a comment\n\ntoolspecs:\n${item}`);
  check("serve: { mode: full } # why\n", `serve: { mode: full } # why\n\ntoolspecs:\n${item}`);
  check("serve: { mode: full }", `serve: { mode: full }\n\ntoolspecs:\n${item}`);
  check("---\nserve: { mode: full }\n", `---\nserve: { mode: full }\n\ntoolspecs:\n${item}`);
  check("toolspecs:\nserve: { mode: full }\n", `toolspecs:\n${item}serve: { mode: full }\n`);
  check("toolspecs: # none yet\n", `toolspecs: # none yet\n${item}`);
  check(
    "toolspecs: []  # none yet\nserve: { mode: full }\n",
    `toolspecs:  # none yet\n${item}serve: { mode: full }\n`,
  );
  check(
    "toolspecs:\n- name: beta   # the first\n  credentials: { token: { secret_key_ref: b } }  # kept\n\n# The endpoint.\nserve: { mode: full }\n",
    "toolspecs:\n- name: beta   # the first\n  credentials: { token: { secret_key_ref: b } }  # kept\n- name: acme\n  credentials:\n    token: { secret_key_ref: acme-token }\n\n# The endpoint.\nserve: { mode: full }\n",
  );
  check(
    "toolspecs:\n    - name: beta\n    -   name: gamma\n        tools: all",
    "toolspecs:\n    - name: beta\n    -   name: gamma\n        tools: all\n    - name: acme\n      credentials:\n        token: { secret_key_ref: acme-token }\n",
  );
  check(
    "toolspecs: [{ name: beta }] # in one line\n",
    'toolspecs: [{ name: beta }, {"name":"acme","credentials":{"token":{"secret_key_ref":"acme-token"}}}] # in one line\n',
  );
  check(
    "serve: { mode: full }\r\n",
    `serve: { mode: full }\r\n\r\ntoolspecs:\r\n${item.replaceAll("\n", "\r\n")}`,
  );
});

test("appendEntry() adds an entry to JSON as JSON", () => {
  const json = '{"name":"acme","credentials":{"token":{"secret_key_ref":"acme-token"}}}';
  check("{}", `{\n  "toolspecs": [${json}]}`);
  check('{ "tool_servers": [] }\n', `{ "tool_servers": [],\n  "toolspecs": [${json}] }\n`);
  check('{ "toolspecs": [], "tool_servers": [] }', `{ "toolspecs": [${json}], "tool_servers": [] }`);
  check('{ "toolspecs": [{"name":"beta"}] }', `{ "toolspecs": [{"name":"beta"}, ${json}] }`);
});

test("appendEntry() writes every field so that parsing returns it", () => {
  const full: JsonObject = {
    name: "acme",
    version: "0.1.0",
    id: "work.acme",
    credentials: { "a.b": { secret_key_ref: "yes" }, c: { secret_key_ref: "0123" } },
    variables: { tenant: "on", other: "1.5" },
    tools: "all",
  };
  const text = appendEntry("", "toolspecs", full) ?? assert.fail();
  const [read] = parseConfigLayer({ name: "toolcrib.yaml", text }).toolspecs;
  assert.deepEqual(
    [read?.id, read?.reference, read?.credentials, read?.variables, read?.tools],
    [
      "work.acme",
      { kind: "catalog", name: "acme", version: "0.1.0" },
      { "a.b": { kind: "named", name: "yes" }, c: { kind: "named", name: "0123" } },
      { tenant: "on", other: "1.5" },
      "all",
    ],
  );
});

test("appendEntry() refuses a text that it would have to change elsewhere", () => {
  check("toolspecs: &all\n- name: beta\nother: *all\n", undefined);
  check("toolspecs: { name: beta }\n", undefined);
  check("- a\n- b\n", undefined);
  check("a: [\n", undefined);
  check("a: 1\n---\nb: 2\n", undefined);
  check("a: 1\n...\n", undefined);
});
