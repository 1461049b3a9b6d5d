/**
 * The suite of google/starlark-go: programs with assertions (`eval`), and errors of
 * the resolver and the parser with their messages. Its test of protocol buffers is
 * not run, because this engine does not support them.
 */

import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Diagnostic, hasErrors, positionAt } from "@toolcrib/diagnostics";
import {
  type Dialect,
  jsonModule,
  mathModule,
  parseFile,
  resolveFile,
  StarlarkModule,
  timeModule,
  type Value,
} from "@toolcrib/starlark";
import { AssertionLog, assertModule } from "../test/assertions.ts";
import { type Chunk, hasOption, readChunks } from "../test/chunked-file.ts";
import { execute, type LocatedError } from "../test/execute.ts";
import { starlarkGoEnvironment } from "../test/host-values.ts";
import { expectedFailures } from "./expected-failures.ts";
import { type FileResult, type Miss, type Score, type SuiteResult, scoreText, sumScores } from "./report.ts";

/**
 * The files of `eval`, with the number of assertions that go.starlark.net makes in
 * each. A program that ends early fails its remaining assertions.
 */
const evalFiles: readonly (readonly [file: string, assertions: number])[] = [
  ["starlark/testdata/assign.star", 54],
  ["starlark/testdata/bool.star", 32],
  ["starlark/testdata/builtins.star", 150],
  ["starlark/testdata/bytes.star", 87],
  ["starlark/testdata/control.star", 8],
  ["starlark/testdata/dict.star", 108],
  ["starlark/testdata/float.star", 345],
  ["starlark/testdata/function.star", 50],
  ["starlark/testdata/int.star", 216],
  ["starlark/testdata/json.star", 99],
  ["starlark/testdata/list.star", 108],
  ["starlark/testdata/math.star", 327],
  ["starlark/testdata/misc.star", 34],
  ["starlark/testdata/module.star", 7],
  ["starlark/testdata/recursion.star", 2],
  ["starlark/testdata/set.star", 113],
  ["starlark/testdata/string.star", 340],
  ["starlark/testdata/time.star", 90],
  ["starlark/testdata/tuple.star", 35],
  ["starlark/testdata/while.star", 3],
  ["starlarkstruct/testdata/struct.star", 37],
];

/** The suite is trusted, and one of its programs needs the depth that go.starlark.net allows. */
const limits = { steps: 1_000_000_000, depth: 100_000, memoryBytes: 1024 * 1024 * 1024, wallMs: 120_000 };

const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

const resolveData = "resolve/testdata/resolve.star";
const syntaxData = "syntax/testdata/errors.star";

/** Runs the suite at `folder`. */
export async function runStarlarkGo(folder: string): Promise<SuiteResult> {
  const evaluated: FileResult[] = [];
  for (const [file, assertions] of evalFiles) evaluated.push(await evaluateFile(folder, file, assertions));
  const resolved = judgeFile(folder, resolveData, resolverErrors);
  const parsed = judgeFile(folder, syntaxData, firstSyntaxError);

  const chunks = scoreText(sumScores(evaluated.map((file) => file.chunks)));
  const assertions = scoreText(sumScores(evaluated.map((file) => file.assertions)));
  const wording = scoreText(sumScores([resolved.wording, parsed.wording]));
  return {
    suite: "starlark-go",
    files: [...evaluated, resolved, parsed],
    summary:
      `starlark-go: eval ${chunks} chunks, ${assertions} assertions; ` +
      `resolve ${scoreText(resolved.chunks)}; syntax ${scoreText(parsed.chunks)}; wording ${wording}`,
  };
}

/** The options that a chunk requests. */
function dialectOf(chunk: Chunk): Dialect {
  return {
    set: hasOption(chunk, "set"),
    while: hasOption(chunk, "while"),
    topLevelControl: hasOption(chunk, "toplevelcontrol"),
    globalReassign: hasOption(chunk, "globalreassign"),
    loadBindsGlobally: hasOption(chunk, "loadbindsglobally"),
    recursion: hasOption(chunk, "recursion"),
  };
}

async function evaluateFile(folder: string, file: string, assertionCount: number): Promise<FileResult> {
  const misses: Miss[] = [];
  const chunks = readChunks(readFileSync(join(folder, file), "utf8"));
  let chunksPassed = 0;
  let assertionsMade = 0;
  let assertionsPassed = 0;
  for (const original of chunks) {
    const { chunk, left, misses: leaving } = await leaveOut(folder, file, original);
    misses.push(...leaving);
    assertionsMade += left;
    const log = new AssertionLog();
    const found = await evaluateChunk(folder, file, chunk, log);
    for (const { line, message } of log.failures) {
      found.push({ file, line, want: "an assertion that holds", got: message });
    }
    assertionsMade += log.count;
    assertionsPassed += log.count - log.failures.length;
    if (found.length === 0 && left === 0) chunksPassed += 1;
    misses.push(...found);
  }
  if (assertionsMade !== assertionCount) {
    misses.push({ file, line: 0, want: `${assertionCount} assertions`, got: `${assertionsMade}` });
  }
  return {
    file,
    chunks: { passed: chunksPassed, total: chunks.length },
    assertions: { passed: Math.min(assertionsPassed, assertionCount), total: assertionCount },
    misses,
  };
}

/**
 * `original` without the lines that are expected to end it, removed one after the
 * other. Each of them must end the program while it is present.
 */
async function leaveOut(
  folder: string,
  file: string,
  original: Chunk,
): Promise<{ readonly chunk: Chunk; readonly left: number; readonly misses: readonly Miss[] }> {
  const misses: Miss[] = [];
  let chunk = original;
  let left = 0;
  const lastLine = original.text.split("\n").length;
  for (const entry of expectedFailures) {
    const { line, endsProgram } = entry;
    if (entry.file !== file || endsProgram !== true || line < original.firstLine || line > lastLine) continue;
    const found = await evaluateChunk(folder, file, chunk, new AssertionLog());
    const ending = found.find((miss) => miss.line === line);
    // A line that no longer ends the program remains in the list and is reported.
    if (ending === undefined) continue;
    misses.push(ending);
    left += 1;
    const lines = chunk.text.split("\n");
    lines[line - 1] = "";
    chunk = { ...chunk, text: lines.join("\n") };
  }
  return { chunk, left, misses };
}

async function evaluateChunk(folder: string, file: string, chunk: Chunk, log: AssertionLog): Promise<Miss[]> {
  const load = async (name: string): Promise<StarlarkModule> => {
    switch (name) {
      case "assert.star":
        return assertModule(log);
      case "json.star":
        return only("json", jsonModule);
      case "math.star":
        return only("math", mathModule);
      case "time.star":
        return only("time", timeModule);
      default:
        return loadBeside(folder, file, name);
    }
  };
  const outcome = await execute(
    { name: file, text: chunk.text },
    { dialect: dialectOf(chunk), predeclared: starlarkGoEnvironment, limits, load, nowNs },
  );
  switch (outcome.kind) {
    case "done":
      return compareErrors(file, chunk, []);
    case "static":
      return outcome.errors.map(({ line, message }) => {
        return { file, line, want: "a program that compiles", got: message };
      });
    case "failed":
      return compareErrors(file, chunk, [outcome.failure]);
  }
}

/** The globals of the file `name` in the folder of `file`. */
async function loadBeside(folder: string, file: string, name: string): Promise<StarlarkModule> {
  const path = posix.join(posix.dirname(file), name);
  const source = { name: path, text: readFileSync(join(folder, path), "utf8") };
  const outcome = await execute(source, { dialect: {}, limits });
  if (outcome.kind === "done") return outcome.module;
  throw new Error(`cannot load ${path}`);
}

function only(name: string, value: Value): StarlarkModule {
  return new StarlarkModule(`${name}.star`, new Map([[name, value]]));
}

/** Differences between the actual and the expected errors of a chunk. */
function compareErrors(file: string, chunk: Chunk, errors: readonly LocatedError[]): Miss[] {
  return [...misplaced(file, chunk, errors), ...misworded(file, chunk, errors)];
}

/** Unexpected errors, and lines with an expected error but none reported. */
function misplaced(file: string, chunk: Chunk, errors: readonly LocatedError[]): Miss[] {
  const misses: Miss[] = [];
  const open = new Set(chunk.expected.keys());
  for (const { line, message } of errors) {
    if (!open.delete(line)) misses.push({ file, line, want: "no error, or one only", got: message });
  }
  for (const line of open) {
    misses.push({ file, line, want: `an error that matches ${chunk.expected.get(line)}`, got: "none" });
  }
  return misses;
}

/** Errors at the right lines with different messages. */
function misworded(file: string, chunk: Chunk, errors: readonly LocatedError[]): Miss[] {
  return errors.flatMap(({ line, message }) => {
    const pattern = chunk.expected.get(line);
    if (pattern === undefined || pattern.test(message)) return [];
    return [{ file, line, want: `an error that matches ${pattern}`, got: message }];
  });
}

/** Checks a file of static errors. A chunk passes if every error is at its line; messages have a separate score. */
function judgeFile(
  folder: string,
  file: string,
  errorsOf: (file: string, chunk: Chunk) => readonly LocatedError[],
): FileResult {
  const misses: Miss[] = [];
  const chunks = readChunks(readFileSync(join(folder, file), "utf8"));
  const scores: Score[] = [];
  let passed = 0;
  for (const chunk of chunks) {
    const errors = errorsOf(file, chunk);
    const places = misplaced(file, chunk, errors);
    if (places.length === 0) passed += 1;
    const words = misworded(file, chunk, errors);
    const matching = [...chunk.expected].filter(([line, pattern]) =>
      errors.some((error) => error.line === line && pattern.test(error.message)),
    );
    scores.push({ passed: matching.length, total: chunk.expected.size });
    misses.push(...places, ...words);
  }
  return { file, chunks: { passed, total: chunks.length }, wording: sumScores(scores), misses };
}

/** The errors of the resolver, in an environment of a few names. */
function resolverErrors(file: string, chunk: Chunk): readonly LocatedError[] {
  const dialect = dialectOf(chunk);
  const source = { name: file, text: chunk.text };
  const parsed = parseFile(source, dialect);
  if (hasErrors(parsed.diagnostics)) return locate(parsed.diagnostics);
  const universal = new Set(["U", "float"]);
  return locate(
    resolveFile(parsed.value, {
      dialect,
      isPredeclared: (name) => name === "M",
      isUniversal: (name) => universal.has(name),
    }),
  );
}

/** The first error of the parser, at which the suite expects it to stop. */
function firstSyntaxError(file: string, chunk: Chunk): readonly LocatedError[] {
  const { diagnostics } = parseFile({ name: file, text: chunk.text }, dialectOf(chunk));
  return locate(diagnostics).slice(0, 1);
}

function locate(diagnostics: readonly Diagnostic[]): LocatedError[] {
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ message, source, span }) => ({
      line: source === undefined || span === undefined ? 0 : positionAt(source.text, span.start).lineNumber,
      message,
    }));
}
