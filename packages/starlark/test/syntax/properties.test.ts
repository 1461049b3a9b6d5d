import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Diagnostic, Span } from "@toolcrib/diagnostics";
import { coreDialect, type File, parseFile, resolveFile, toolDialect } from "@toolcrib/starlark";
import { anyCharacter, runCount } from "@toolcrib/testing";
import fc from "fast-check";

const programs = new URL("../programs/", import.meta.url);
const corpus = readdirSync(programs)
  .filter((name) => name.endsWith(".star"))
  .flatMap((name) => readFileSync(fileURLToPath(new URL(name, programs)), "utf8").split("\n---\n"));

const words =
  "and break continue def elif else for if in lambda load not or pass return while as async await class del except finally from global import is nonlocal raise try with yield x y f print True";
const symbols =
  "+ - * / // % & | ^ << >> ~ . , = ; : ( ) [ ] { } < > >= <= == != += -= *= /= //= %= &= |= ^= <<= >>= ** ! ? @ $ ` \\ && || <> -> => ++";
const odd = [
  "\n",
  "\n  ",
  "\n\t",
  "\n    ",
  "\r\n",
  "#c\n",
  '"s"',
  "'''a\nb'''",
  'f"{x!r:>3}"',
  'f"',
  "{",
  "}",
  "b'\\xff'",
];
const numbers = ["0", "1", "1.5", "0x1f", "1e3", "9007199254740993", "012", "1_000"];
const token = fc.constantFrom(...words.split(" "), ...symbols.split(" "), ...odd, ...numbers);
const spaced = fc.tuple(token, fc.constantFrom("", " ", "  ")).map(([text, space]) => text + space);
const tokenSoup = fc.array(spaced, { maxLength: 60 }).map((tokens) => tokens.join(""));
const anyText = fc.string({ unit: anyCharacter(fc), maxLength: 200 });

/** A program of the corpus, truncated and with random tokens inserted. */
const mutatedProgram = fc
  .tuple(
    fc.constantFrom(...corpus),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 8 }), token), { minLength: 1, maxLength: 6 }),
  )
  .map(([program, changes]) => {
    let text = program;
    for (const [where, cut, put] of changes) {
      const at = where % (text.length + 1);
      text = text.slice(0, at) + put + text.slice(at + cut);
    }
    return text;
  });

const programText = fc.oneof(anyText, tokenSoup, mutatedProgram);
const dialect = fc.constantFrom(coreDialect, toolDialect);

/** Every node and every list of nodes below `node`, with its parent. */
function* nodesBelow(node: object, parent: Span): Iterable<readonly [child: Span, parent: Span]> {
  for (const [field, value] of Object.entries(node)) {
    if (["source", "comments", "binding", "scope", "globals", "value"].includes(field) && !isSpan(value))
      continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (!isSpan(child)) continue;
      yield [child, parent];
      yield* nodesBelow(child, child);
    }
  }
}

function isSpan(value: unknown): value is Span & object {
  return typeof value === "object" && value !== null && "start" in value && "end" in value;
}

function checkSpans(file: File, text: string): void {
  for (const [child, parent] of nodesBelow(file, file)) {
    const kind = "kind" in child ? child.kind : "a part";
    const shown = `${kind} from ${child.start} to ${child.end} of ${JSON.stringify(text)}`;
    assert(child.start >= parent.start && child.end <= parent.end, `outside its parent: ${shown}`);
    assert(child.start <= child.end, `ends before it begins: ${shown}`);
    if ("kind" in child && child.kind === "Identifier" && "name" in child) {
      const written = text.slice(child.start, child.end);
      // The names in a load statement are strings, which may have escapes.
      if (!written.includes("\\")) assert.equal(written, child.name, shown);
    }
  }
}

function checkDiagnostics(diagnostics: readonly Diagnostic[], text: string): void {
  let before = 0;
  for (const { span, message, hint } of diagnostics) {
    assert(span !== undefined && span.start <= span.end && span.end <= text.length, message);
    assert(span.start >= before, `out of order: ${message}`);
    before = span.start;
    assert(message.length < 500 && (hint ?? "").length < 500, message);
  }
}

test("the parser and the resolver never throw, and their findings are within the text", () => {
  fc.assert(
    fc.property(programText, dialect, (text, chosen) => {
      const { value, diagnostics } = parseFile({ name: "test.star", text }, chosen);
      checkDiagnostics(diagnostics, text);
      const options = { dialect: chosen, isPredeclared: () => false, isUniversal: () => false };
      checkDiagnostics(resolveFile(value, options), text);
    }),
    { numRuns: runCount(1500) },
  );
});

test("every node is within its parent, and the text of a name is the name", () => {
  // Fields that contain the quote that ends their f-string.
  const ended = ['f" {"n": 0}', 'f"a {"n": 0} b {"m"}"\nx', 'def f():\nf"  {"n": 0}\n    x["n"] += 1'];
  for (const text of [...corpus, ...ended]) {
    checkSpans(parseFile({ name: "test.star", text }, toolDialect).value, text);
  }
  fc.assert(
    fc.property(fc.oneof(tokenSoup, mutatedProgram), dialect, (text, chosen) => {
      checkSpans(parseFile({ name: "test.star", text }, chosen).value, text);
    }),
    { numRuns: runCount(1000) },
  );
});

test("the same text has the same tree and the same findings", () => {
  fc.assert(
    fc.property(mutatedProgram, (text) => {
      const source = { name: "test.star", text };
      assert.deepEqual(parseFile(source, toolDialect), parseFile(source, toolDialect));
    }),
    { numRuns: runCount(100) },
  );
});

test("a truncated program has errors only at its end, or none if it is a valid program", () => {
  const isWhole = (text: string) =>
    parseFile({ name: "test.star", text }, toolDialect).diagnostics.length === 0;
  const whole = corpus.filter(isWhole);
  assert(whole.length > 20);
  for (const program of whole) {
    const lines = program.split("\n");
    for (let count = 1; count < lines.length; count += 7) {
      const text = `${lines.slice(0, count).join("\n")}\n`;
      const { diagnostics } = parseFile({ name: "test.star", text }, toolDialect);
      for (const { code, message } of diagnostics)
        assert.equal(code, "STARLARK_UNFINISHED", `${message}: ${text}`);
    }
  }
});
