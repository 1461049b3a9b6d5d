import assert from "node:assert/strict";
import { test } from "node:test";
import { formatConfigReport, parseConfig } from "@toolcrib/config";
import { anyCharacter, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { parse } from "yaml";
import { documentExample, everySection, faultyShapes } from "./samples.ts";

type ConfigResult = ReturnType<typeof parseConfig>;

const foreign = `{
  // comment
  "inputs": [{ "id": "key", "type": "promptString" }],
  "servers": {
    "My Server": { "type": "stdio", "command": "npx", "args": ["-y", "\${input:key}"], "env": { "API_KEY": "\${API_KEY:-x}" }, "cwd": "\${workspaceFolder}" },
    "remote": { "type": "http", "url": "https://tool.internal/mcp", "headers": { "Authorization": "Bearer abc" }, "timeout": 5 },
  },
}`;
const seeds = [documentExample, everySection, JSON.stringify(parse(everySection)), foreign, ...faultyShapes];

/** Pieces that mean something to one of the readers. */
const pieces = [
  "\n",
  "  ",
  "\t",
  ":",
  ": ",
  "- ",
  "&a ",
  "*a",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "|",
  ">",
  "!x ",
  "#",
  "---\n",
  "<<: ",
  "//",
  "/*",
  "\\",
  "\0",
  "\ud800",
  "\ufeff",
  "null",
  "1e999",
  "-",
  "${",
  "tool_servers:",
  "id",
  "secret_key_ref:",
  "__proto__:",
  "constructor: ",
];

/** A seed with a few random edits: a stretch removed, repeated, moved, or a piece put in. */
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(40),
        kind: fc.constantFrom("remove", "repeat", "insert", "move"),
        piece: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5, unit: anyCharacter(fc) })),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  )
  .map(([seed, edits]) =>
    edits.reduce((text, { at, length, kind, piece }) => {
      const start = Math.floor(at * text.length);
      const stretch = text.slice(start, start + length);
      if (kind === "remove") return text.slice(0, start) + text.slice(start + length);
      if (kind === "repeat") return text.slice(0, start) + stretch + text.slice(start);
      if (kind === "move") return stretch + text.slice(0, start) + text.slice(start + length);
      return text.slice(0, start) + piece + text.slice(start);
    }, seed),
  );

/** Checks the properties of every result. */
function assertSound({ value, diagnostics }: ConfigResult): void {
  assert.equal(
    value === undefined,
    diagnostics.some(({ severity }) => severity === "error"),
  );
  for (const { code, message, source, span } of diagnostics) {
    assert.match(code, /^CONFIG_[A-Z_]+$/);
    assert.doesNotMatch(message, /\n|undefined|\[object/);
    if (span === undefined) continue;
    assert.ok(
      source !== undefined && span.start >= 0 && span.start <= span.end && span.start <= source.text.length,
      `${code} ${message} ${span.start}–${span.end} of ${source?.text.length}`,
    );
  }
  formatConfigReport([], diagnostics);
  for (const { id, source, span } of value?.toolServers ?? []) {
    assert.match(id, /^[A-Za-z0-9](?:_?[A-Za-z0-9.-])*$/);
    assert.ok(span.end <= source.text.length);
  }
}

test("no mutation of a valid or faulty file crashes parseConfig()", () => {
  fc.assert(
    fc.property(mutated, fc.constantFrom("a.yaml", "a.json", "a"), (text, name) => {
      assertSound(parseConfig([{ name, text }]));
    }),
    { numRuns: runCount(1500) },
  );
});

test("no composition of mutated files crashes parseConfig()", () => {
  fc.assert(
    fc.property(fc.array(mutated, { minLength: 2, maxLength: 4 }), (texts) => {
      assertSound(parseConfig(texts.map((text, index) => ({ name: `${index}.yaml`, text }))));
    }),
    { numRuns: runCount(200) },
  );
});

test("no text and no JSON value crashes parseConfig()", () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter(fc) }),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ tool_servers: value, mcp: value })),
  );
  fc.assert(
    fc.property(text, fc.constantFrom("a.yaml", "a.json"), (content, name) => {
      assertSound(parseConfig([{ name, text: content }]));
    }),
    { numRuns: runCount(500) },
  );
});

/** Tool servers of any valid kind. */
const server = fc.record(
  {
    id: fc.stringMatching(/^[a-z0-9]{1,10}$/),
    name: fc.stringMatching(/^[A-Za-z ]{0,10}[A-Za-z]$/),
    transport: fc.oneof(
      fc.record({
        kind: fc.constant("stdio"),
        command: fc.constant("server"),
        // "sk-" begins a credential, which is a finding.
        args: fc.array(
          fc.stringMatching(/^[a-z -]{0,8}$/).filter((text) => !text.includes("sk-")),
          { maxLength: 3 },
        ),
      }),
      fc.record({
        kind: fc.constantFrom("sse", "streamable_http"),
        url: fc.webUrl({ validSchemes: ["https"] }),
      }),
    ),
    trust_state: fc.constantFrom("unverified", "verified", "certified"),
    containment: fc.record({ max_execution_seconds: fc.integer({ min: 1, max: 3600 }) }),
    labels: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z]{0,8}$/), {
      maxKeys: 3,
    }),
  },
  { requiredKeys: ["id", "transport"] },
);
const servers = fc.uniqueArray(server, { selector: ({ id }) => id, maxLength: 5 });

/** Everything of a result but the places in the texts. */
function plain(result: ConfigResult): string {
  return JSON.stringify(result.value, (key, part) => (key === "span" || key === "source" ? undefined : part));
}

test("parseConfig() returns the same value for JSON that is read as JSON and as YAML", () => {
  fc.assert(
    fc.property(servers, (tool_servers) => {
      const text = JSON.stringify({ tool_servers }, undefined, 2);
      const json = parseConfig([{ name: "a.json", text }]);
      assert.deepEqual(json.diagnostics, []);
      assert.equal(plain(json), plain(parseConfig([{ name: "a.yaml", text }])));
    }),
    { numRuns: runCount(200) },
  );
});

test("parseConfig() composes servers like a map that keeps the position of a key", () => {
  fc.assert(
    fc.property(fc.array(servers, { maxLength: 4 }), (files) => {
      const { value } = parseConfig(
        files.map((tool_servers, index) => ({
          name: `${index}.json`,
          text: JSON.stringify({ tool_servers }),
        })),
      );
      const expected = new Map(files.flat().map((one) => [one.id, one.trust_state ?? "unverified"]));
      assert.deepEqual(
        value?.toolServers.map(({ id, trustState }) => [id, trustState]),
        [...expected],
      );
    }),
    { numRuns: runCount(200) },
  );
});
