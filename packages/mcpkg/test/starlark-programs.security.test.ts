/** Packages with programs that are too large, too deep, not text, or not there. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SchemaValidator } from "@toolcrib/json";
import { parsePackage, reachOf } from "@toolcrib/mcpkg";
import { echoManifest, filesOf } from "./sample-packages.ts";

const validator = new SchemaValidator();

/** Checks the codes of the errors of a package with this program. */
function check(
  program: string | Uint8Array | undefined,
  expected: readonly string[],
  endpoint: object = {},
): void {
  const { tests: _tests, ...manifest } = echoManifest;
  const { value, diagnostics } = parsePackage(
    filesOf({
      "manifest.json": {
        ...manifest,
        endpoint: { type: "starlark", source: "main.star", tools: ["b:two", "a:one"], ...endpoint },
      },
      ...(program === undefined ? {} : { "main.star": program }),
    }),
    validator,
  );
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  assert.deepEqual([...new Set(errors.map(({ code }) => code))], expected);
  if (expected.length === 0 && value !== undefined)
    assert.deepEqual(reachOf(value.manifest), ["a:one", "b:two"]);
  for (const { message } of errors) assert.ok(message.length < 1000, "a finding is short");
}

test("a program is text in UTF-8 of at most 100 KiB that parses", () => {
  check("return a.one()\n", []);
  check("\ufeffreturn 1\r\n", []);
  check(undefined, ["MCPKG_FILE_MISSING"]);
  check(Buffer.from([0x72, 0xff]), ["MCPKG_PROGRAM_INVALID"]);
  check(`return 1\n${"#".repeat(100 * 1024)}`, ["MCPKG_PROGRAM_INVALID"]);
  check("return (", ["STARLARK_UNFINISHED"]);
});

test("deep programs are findings, and end", () => {
  const deep = 40_000;
  for (const program of [
    `return ${"(".repeat(deep)}${")".repeat(deep)}`,
    `return ${"[".repeat(deep)}${"]".repeat(deep)}`,
    `return ${"-".repeat(deep)}1`,
    `return ${"not ".repeat(20_000)}1`,
    `return ${"a.".repeat(30_000)}b`,
    `return ${"lambda: ".repeat(10_000)}1`,
    `return 1${" + 1".repeat(20_000)}`,
    `return f${"(1)".repeat(30_000)}`,
  ]) {
    const { tests: _tests, ...manifest } = echoManifest;
    const files = filesOf({
      "manifest.json": { ...manifest, endpoint: { type: "starlark", source: "main.star" } },
      "main.star": program,
    });
    // Whether a program is too deep is for the language to say; that it says so is what counts.
    assert.doesNotThrow(() => parsePackage(files, validator), program.slice(0, 20));
  }
});

test("tools are ids without control characters, each declared once", () => {
  check("return 1", ["MCPKG_PROGRAM_INVALID"], { tools: ["a:one", "a:one"] });
  check("return 1", ["MCPKG_PROGRAM_INVALID"], { tools: ["demo.echo:echo"] });
  check("return 1", ["MCPKG_VALUE_INVALID"], { tools: ["a:one\n"] });
  check("return 1", ["MCPKG_VALUE_INVALID"], {
    tools: Array.from({ length: 1001 }, (_one, at) => `a:t${at}`),
  });
  check("return 1", ["MCPKG_WRONG_TYPE"], { tools: "a:one" });
});
