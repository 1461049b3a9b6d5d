/**
 * The programs of `test/programs`. Each chunk is a program with assertions, or one
 * that must fail at the line of `### "regexp"`. Further tests check that the programs
 * use every builtin, and that the examples in the documentation are correct.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import {
  BoundMethod,
  Builtin,
  coreDialect,
  jsonModule,
  mathModule,
  methodsFor,
  repr,
  type StarlarkModule,
  timeModule,
  toolDialect,
  universeFor,
  type Value,
} from "@toolcrib/starlark";
import { AssertionLog } from "./assertions.ts";
import { type Chunk, readChunks } from "./chunked-file.ts";
import { execute, type LocatedError } from "./execute.ts";
import { dialectOfText, programEnvironment, programLoader, programsFolder } from "./program-environment.ts";

const files = readdirSync(programsFolder).filter((name) => name.endsWith(".star"));

/** The problems in one run of `chunk`; empty if it passed. */
async function problemsOf(name: string, chunk: Chunk): Promise<string[]> {
  const log = new AssertionLog();
  const dialect = dialectOfText(chunk.text);
  const outcome = await execute(
    { name, text: chunk.text },
    {
      dialect,
      predeclared: programEnvironment(log, dialect),
      load: programLoader(),
    },
  );
  const errors: readonly LocatedError[] =
    outcome.kind === "done" ? [] : outcome.kind === "static" ? outcome.errors : [outcome.failure];
  const problems = log.failures.map(({ line, message }) => `${name}:${line}: ${message}`);
  const open = new Map(chunk.expected);
  for (const { line, message } of errors) {
    const pattern = open.get(line);
    open.delete(line);
    if (pattern === undefined) problems.push(`${name}:${line}: unexpected error: ${message}`);
    else if (!pattern.test(message)) problems.push(`${name}:${line}: want ${pattern}, got ${message}`);
  }
  for (const [line, pattern] of open) problems.push(`${name}:${line}: want ${pattern}, got no error`);
  if (log.count === 0 && chunk.expected.size === 0)
    problems.push(`${name}:${chunk.firstLine}: asserts nothing`);
  return problems;
}

for (const name of files) {
  suite(name, () => {
    for (const chunk of readChunks(readFileSync(join(programsFolder, name), "utf8"))) {
      test(`${name} behaves as expected from line ${chunk.firstLine} on`, async () => {
        assert.deepEqual(await problemsOf(name, chunk), []);
      });
    }
  });
}

/** A type with methods, and the prefix of the files about it. */
const types = ["string", "bytes", "list", "dict", "set"] as const;

/** The text of the programs whose names start with `prefix`. */
function programText(prefix: string): string {
  return files
    .filter((name) => name.startsWith(prefix))
    .map((name) => readFileSync(join(programsFolder, name), "utf8"))
    .join("\n");
}

test("every builtin of the universe is called by a program", () => {
  const text = programText("");
  const missing = [...universeFor(toolDialect)]
    .filter(([name, value]) => value instanceof Builtin && !new RegExp(`(?<![\\w.])${name}\\(`).test(text))
    .map(([name]) => name);
  assert.deepEqual(missing, []);
});

for (const type of types) {
  test(`every method of ${type} is used by a program about the type`, () => {
    const text = programText(type);
    const missing = [...methodsFor(toolDialect)[type].keys()].filter(
      (name) => !new RegExp(`\\.${name}\\b`).test(text),
    );
    assert.deepEqual(missing, []);
  });
}

const modules: readonly StarlarkModule[] = [jsonModule, mathModule, timeModule];

for (const module of modules) {
  test(`every member of ${module.name} is used by a program`, () => {
    const text = programText("");
    const missing = module
      .attributeNames()
      .filter((name) => !new RegExp(`\\b${module.name}\\.${name}\\b`).test(text));
    assert.deepEqual(missing, []);
  });
}

/** All builtins with documentation. */
function allBuiltins(): readonly Builtin[] {
  const tables = [methodsFor(coreDialect), methodsFor(toolDialect)];
  const values: Value[] = [
    ...universeFor(toolDialect).values(),
    ...universeFor({ set: true }).values(),
    ...tables.flatMap((table) => types.flatMap((type) => [...table[type].values()])),
    ...modules.flatMap((module) => [...module.members.values()]),
  ];
  const found = values.flatMap((value) => (value instanceof BoundMethod ? [value.method] : [value]));
  return [...new Set(found.filter((value) => value instanceof Builtin))];
}

/** `` `EXPRESSION` gives `VALUE` `` */
const example = /`([^`]+)` gives `([^`]+)`/g;

suite("documentation", () => {
  for (const each of allBuiltins()) {
    for (const [whole, expression, value] of each.doc.matchAll(example)) {
      test(`${each.signature}: ${whole}`, async () => {
        const outcome = await execute(
          { name: "example.star", text: `return ${expression}` },
          { dialect: toolDialect, predeclared: programEnvironment(new AssertionLog(), toolDialect) },
        );
        if (outcome.kind === "static") assert.fail(JSON.stringify(outcome.errors));
        if (outcome.kind === "failed") assert.fail(outcome.error.traceback);
        assert.equal(repr(outcome.value, outcome.thread), value);
      });
    }
  }

  test("every builtin has a description", () => {
    const silent = allBuiltins().filter(({ doc }) => !/^\S.{10,}/.test(doc));
    assert.deepEqual(
      silent.map(({ signature }) => signature),
      [],
    );
  });
});
