/**
 * `npm run fuzz -w packages/starlark` runs 20,000 generated programs of each dialect,
 * from a seed that it prints, or from a given seed: `-- --seed 7 --count 1000`.
 *
 * With `--starlark-go PROGRAM`, the interpreter of google/starlark-go (`go build
 * ./cmd/starlark` in its checkout), programs of the core dialect run in both
 * interpreters, which must have the same output and agree on whether the program
 * fails.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Dialect } from "@toolcrib/starlark";
import { execute } from "../test/execute.ts";
import { generateProgram } from "../test/program-generator.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, count: { type: "string" }, "starlark-go": { type: "string" } },
});
const firstSeed = Number(values.seed ?? Date.now() % 1_000_000_000);
const count = Number(values.count ?? 20_000);
const program = values["starlark-go"];

const dialect: Dialect = {
  set: true,
  while: true,
  topLevelControl: true,
  globalReassign: true,
  recursion: true,
};

/** The outcome of a run: its output, and whether it failed. */
interface Run {
  readonly printed: string;
  /** The message of the error that ended the run. */
  readonly error: string | undefined;
  /** Whether the error was a limit, which the other interpreter does not have. */
  readonly limited?: boolean;
}

async function runHere(text: string): Promise<Run> {
  const printed: string[] = [];
  const outcome = await execute(
    { name: "generated.star", text },
    { dialect, limits: { depth: 1000, steps: 500_000 }, print: (line) => printed.push(`${line}\n`) },
  );
  const error =
    outcome.kind === "done"
      ? undefined
      : outcome.kind === "static"
        ? outcome.errors[0]!.message
        : outcome.error.message;
  const limited = outcome.kind === "failed" && outcome.error.kind !== "error";
  return { printed: printed.join(""), error, limited };
}

function runThere(path: string, interpreter: string): Run {
  const { status, stderr } = spawnSync(interpreter, ["-recursion", "-globalreassign", path], {
    encoding: "utf8",
  });
  // Output and errors share a stream; an error starts with its traceback.
  const trace = stderr.search(/^(Traceback \(most|generated\.star:|.*\.star:\d+:\d+: )/m);
  if (status === 0) return { printed: stderr, error: undefined };
  const error = /^Error.*$/m.exec(stderr.slice(trace))?.[0] ?? stderr.slice(trace);
  return { printed: trace === -1 ? stderr : stderr.slice(0, trace), error };
}

/** The difference between two runs; `undefined` if they agree. */
function difference(here: Run, there: Run): string | undefined {
  if (here.printed === there.printed && (here.error === undefined) === (there.error === undefined))
    return undefined;
  const [a, b] = [here.printed.split("\n"), there.printed.split("\n")];
  const at = a.findIndex((line, index) => line !== b[index]);
  return `here:  ${at === -1 ? "" : a[at]} ${here.error ?? ""}\nthere: ${at === -1 ? "" : b[at]} ${there.error ?? ""}`;
}

async function compareAll(interpreter: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "starlark-fuzz-"));
  const path = join(folder, "generated.star");
  let different = 0;
  try {
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const text = generateProgram(seed);
      const here = await runHere(text);
      if (here.limited === true) continue;
      writeFileSync(path, text);
      const found = difference(here, runThere(path, interpreter));
      if (found === undefined) continue;
      different += 1;
      console.log(`seed ${seed}\n${found}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`${count} programs from seed ${firstSeed} on: ${different} differ from starlark-go`);
  return different === 0 ? 0 : 1;
}

/** The test of generated programs, with many more programs. */
function runMany(): number {
  const { status } = spawnSync(
    process.execPath,
    [...process.execArgv, "--test-reporter=spec", join(import.meta.dirname, "../test/generated.test.ts")],
    {
      stdio: "inherit",
      env: {
        ...process.env,
        TOOLCRIB_STARLARK_PROGRAMS: String(count),
        TOOLCRIB_STARLARK_SEED: String(firstSeed),
      },
    },
  );
  console.log(`${count} programs of each dialect from seed ${firstSeed} on`);
  return status ?? 1;
}

process.exitCode = program === undefined ? runMany() : await compareAll(program);
