/**
 * The suite of bazelbuild/starlark: programs that must succeed, and programs that
 * must fail with a message. The upstream runner ignores the output of a program that
 * succeeds, so a failing `assert_eq` is not noticed; here it ends the program.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { coreDialect } from "@toolcrib/starlark";
import { AssertionLog, fatalAssertions } from "../test/assertions.ts";
import { execute, type Outcome } from "../test/execute.ts";
import { type FileResult, type Miss, type SuiteResult, scoreText, sumScores } from "./report.ts";

/** Runs all files of the suite at `folder`. */
export async function runBazelbuild(folder: string): Promise<SuiteResult> {
  const files: FileResult[] = [];
  for (const origin of ["java", "go", "rust"]) {
    const below = `test_suite/testdata/${origin}`;
    for (const name of readdirSync(join(folder, below)).sort()) {
      if (name.endsWith(".star") || name.endsWith(".sky"))
        files.push(await runFile(folder, `${below}/${name}`));
    }
  }
  const chunks = sumScores(files.map((file) => file.chunks));
  return { suite: "bazelbuild", files, summary: `bazelbuild: ${scoreText(chunks)} chunks` };
}

async function runFile(folder: string, file: string): Promise<FileResult> {
  const misses: Miss[] = [];
  const log = new AssertionLog();
  const chunks = readChunks(readFileSync(join(folder, file), "utf8"));
  let passed = 0;
  for (const { firstLine, text, expected } of chunks) {
    const outcome = await execute(
      { name: file, text },
      { dialect: coreDialect, predeclared: fatalAssertions(log) },
    );
    const miss = missOf(outcome, expected);
    if (miss === undefined) passed += 1;
    else misses.push({ file, line: firstLine, ...miss });
  }
  const { count, failures } = log;
  return {
    file,
    chunks: { passed, total: chunks.length },
    assertions: { passed: count - failures.length, total: count },
    misses,
  };
}

/** The problem, if any. Any of the `expected` messages is sufficient. */
function missOf(
  outcome: Outcome,
  expected: readonly string[],
): { readonly want: string; readonly got: string } | undefined {
  const error = errorOf(outcome);
  const want = expected.length === 0 ? "success" : expected.join(" or ");
  if (error === undefined) return expected.length === 0 ? undefined : { want, got: "success" };
  const text = error.toLowerCase();
  const matches = expected
    .map((pattern) => pattern.toLowerCase())
    .some((pattern) => text.includes(pattern) || new RegExp(pattern).test(text));
  return matches ? undefined : { want, got: error };
}

/** The complete text of an error. */
function errorOf(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case "done":
      return undefined;
    case "static":
      return outcome.errors.map(({ line, message }) => `${line}: ${message}`).join("\n");
    case "failed":
      return outcome.error.traceback;
  }
}

interface Chunk {
  readonly firstLine: number;
  readonly text: string;
  /** Alternatives for a part of the error; empty if the program must succeed. */
  readonly expected: readonly string[];
}

const expectation = /^(.*?) *### *(?:(go|java|rust):)? *(.*)$/;

/** Splits a file; messages for other implementations are omitted. */
function readChunks(file: string): Chunk[] {
  const chunks: Chunk[] = [];
  let firstLine = 1;
  let code: string[] = [];
  let expected: string[] = [];
  const lines = file.split("\n");
  const finish = (nextLine: number): void => {
    chunks.push({ firstLine, text: "\n".repeat(firstLine - 1) + code.join("\n"), expected });
    firstLine = nextLine;
    code = [];
    expected = [];
  };
  for (const [index, raw] of lines.entries()) {
    const line = raw.trimEnd();
    if (line === "---") {
      finish(index + 2);
      continue;
    }
    const match = expectation.exec(line);
    if (match !== null && match[2] !== "rust") expected.push(match[3]!);
    code.push(match === null ? line : match[1]!);
  }
  finish(0);
  return chunks;
}
