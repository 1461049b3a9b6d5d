import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeCache } from "@toolcrib/metatool";

const catalog = { generation: 1, tools: [] };

/** A program with `count` statements. */
const programOf = (name: string, count: number): string =>
  `def ${name}():\n${"  print(1)\n".repeat(count)}\ndef run(params):\n  return ${name}()\n`;

/** A cache that compiles in the same directory each time. */
function openCache(maxCodeSize?: number) {
  const cache = new CompositeCache({ maxCodeSize });
  const directory = cache.directoryOf(catalog);
  return (code: string) => {
    const compiled = cache.compile("x", code, directory);
    assert.ok(compiled.program, JSON.stringify(compiled.diagnostics));
    return compiled.program;
  };
}

/** `Program.codeSize` of `code`. */
const sizeOf = (code: string): number => openCache()(code).codeSize;

test("CompositeCache keeps any number of small programs", () => {
  const compile = openCache();
  const codes = Array.from({ length: 1000 }, (_, at) => programOf(`small_${at}`, 1));
  const programs = codes.map(compile);
  assert.ok(codes.every((code, at) => compile(code) === programs[at]));
});

test("CompositeCache limits the sum of the code sizes, and drops the least recently used program first", () => {
  const codes = ["a", "b", "c"].map((name) => programOf(name, 1000)) as [string, string, string];
  const compile = openCache(2.5 * sizeOf(codes[0]));
  const [a, b] = [compile(codes[0]), compile(codes[1])];
  assert.equal(compile(codes[0]), a);
  const c = compile(codes[2]);
  assert.equal(compile(codes[2]), c);
  assert.equal(compile(codes[0]), a, "it was used after b");
  assert.notEqual(compile(codes[1]), b);
});

test("CompositeCache does not keep a program above the limit, and drops no other for it", () => {
  const [small, large] = [programOf("small", 10), programOf("large", 1000)];
  const compile = openCache(sizeOf(large) / 2);
  const kept = compile(small);
  assert.notEqual(compile(large), compile(large));
  assert.equal(compile(small), kept);
});

test("CompositeCache counts text that compiles to no code", () => {
  const codes = Array.from({ length: 20 }, (_, at) => `# ${"x".repeat(90_000)}\n${programOf(`f${at}`, 1)}`);
  const compile = openCache(10_000);
  const programs = codes.map(compile);
  assert.notEqual(compile(codes[0] ?? ""), programs[0]);
});
