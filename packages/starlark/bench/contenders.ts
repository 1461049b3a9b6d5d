/**
 * The interpreters that run the programs. Each run is a separate process that calls
 * `main()` of one program several times, and reports its result and the time of the
 * fastest call. CPython and starlark-go run the program with an appended loop. They
 * measure time within the process, so that startup and compilation are not included.
 */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The result of one process. */
export interface ProgramRun {
  /** The result of `main()`, as text. */
  readonly result: string;
  /** Milliseconds of the fastest call. */
  readonly ms: number;
}

/** An interpreter. */
export interface Contender {
  readonly name: string;
  readonly version: string;
  /** Calls `main()` of the program in `file` several times. */
  readonly run: (file: string, repetitions: number) => ProgramRun;
}

/** An interpreter, or the reason why it does not take part. */
export type Found =
  | { readonly kind: "found"; readonly contender: Contender }
  | { readonly kind: "missing"; readonly reason: string };

const timeoutMs = 120_000;

/** Runs `command` to its end, and parses `<result> <milliseconds>` from its last line of output. */
export function runProcess(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): ProgramRun {
  const { status, stdout, stderr, error, signal } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: timeoutMs,
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error !== undefined) throw error;
  if (status !== 0) {
    throw new Error(`${command} ended with ${signal ?? `code ${status}`}: ${stderr.slice(-2000)}`);
  }
  // starlark-go prints to standard error.
  const line = `${stdout}${stderr}`.trim().split("\n").at(-1) ?? "";
  const [result, ms] = line.split(" ");
  if (result === undefined || ms === undefined || !(Number(ms) > 0)) {
    throw new Error(`${command} wrote "${line}" and no result with a time`);
  }
  return { result, ms: Number(ms) };
}

/** This engine, run from source with all limits; with a compile cache that the first run fills, if asked. */
export function own(temporaryFolder: string, { isCached = false } = {}): Contender {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(import.meta.dirname, "../package.json"), "utf8"),
  );
  const script = join(import.meta.dirname, "run-program.ts");
  return {
    name: "toolcrib",
    version: manifest.version,
    run: (file, repetitions) =>
      runProcess(
        process.execPath,
        ["--conditions=toolcrib-source", script, file, String(repetitions)],
        temporaryFolder,
        isCached ? { NODE_COMPILE_CACHE: join(temporaryFolder, "compile") } : {},
      ),
  };
}

/** The module `json` of Starlark, for Python. */
const pythonPrelude = `
import json as _json

class json:
    decode = _json.loads

    def encode(x):
        return _json.dumps(x, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
`;

/** Python code that calls `main()`. */
function pythonLoop(repetitions: number): string {
  return `
import time

def measure():
    fastest = None
    for _ in range(${repetitions}):
        start = time.perf_counter()
        result = main()
        ms = (time.perf_counter() - start) * 1000
        if fastest == None or ms < fastest:
            fastest = ms
    print(result, fastest)

measure()
`;
}

/** The `python3` of the search path. */
export function cpython(temporaryFolder: string): Found {
  const { status, stdout } = spawnSync("python3", ["--version"], { encoding: "utf8" });
  if (status !== 0) return { kind: "missing", reason: "CPython has no figures here: there is no python3" };
  const copy = join(temporaryFolder, "program.py");
  const run = (file: string, repetitions: number): ProgramRun => {
    writeFileSync(copy, pythonPrelude + readFileSync(file, "utf8") + pythonLoop(repetitions));
    return runProcess("python3", [copy], temporaryFolder);
  };
  return {
    kind: "found",
    contender: { name: "CPython", version: stdout.trim().replace("Python ", ""), run },
  };
}
