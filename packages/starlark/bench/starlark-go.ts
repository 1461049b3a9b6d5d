/**
 * starlark-go: a binary from the command line, or one that `go install` builds from a
 * pinned version in a temporary folder. It is not a dependency; if neither is
 * available, the tables omit it.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contender, type Found, runProcess } from "./contenders.ts";

const module = "go.starlark.net/cmd/starlark";
const pinned = "v0.0.0-20260908191801-89a6a09411d5";

/** Code that calls `main()` in the dialect of the starlark-go command, whose `time` module has a clock. */
function starlarkLoop(repetitions: number): string {
  return `
def measure():
    fastest = None
    result = None
    for _ in range(${repetitions}):
        start = time.now()
        result = main()
        ms = (time.now() - start) / time.parse_duration("1us") / 1000.0
        if fastest == None or ms < fastest:
            fastest = ms
    print(result, fastest)

measure()
`;
}

/** The binary at `given`; builds one if it is absent. */
export function findStarlarkGo(
  given: string | undefined,
  temporaryFolder: string,
  progress: (line: string) => void,
): Found {
  if (given !== undefined) {
    if (existsSync(given)) return found(given, temporaryFolder);
    return { kind: "missing", reason: `starlark-go has no figures here: there is no "${given}"` };
  }
  const go = spawnSync("go", ["version"], { encoding: "utf8" });
  if (go.status !== 0) {
    const reason =
      "starlark-go has no figures here: there is no Go to build it with, and no --starlark-go PATH";
    return { kind: "missing", reason };
  }
  progress(`Building ${module}@${pinned}`);
  const { status, stderr } = spawnSync("go", ["install", `${module}@${pinned}`], {
    encoding: "utf8",
    timeout: 300_000,
    env: { ...process.env, GOBIN: temporaryFolder, GOFLAGS: "" },
  });
  if (status === 0) return found(join(temporaryFolder, "starlark"), temporaryFolder);
  const why = stderr.trim().split("\n").at(-1) ?? "";
  return { kind: "missing", reason: `starlark-go has no figures here: it could not be built: ${why}` };
}

function found(binary: string, temporaryFolder: string): Found {
  const copy = join(temporaryFolder, "program.star");
  const contender: Contender = {
    name: "starlark-go",
    version: versionOf(binary),
    run: (file, repetitions) => {
      writeFileSync(copy, readFileSync(file, "utf8") + starlarkLoop(repetitions));
      return runProcess(binary, ["-recursion", copy], temporaryFolder);
    },
  };
  return { kind: "found", contender };
}

/** The versions of the module and of the compiler, if Go is available to read them from the binary. */
function versionOf(binary: string): string {
  const { status, stdout } = spawnSync("go", ["version", "-m", binary], { encoding: "utf8" });
  if (status !== 0) return "unknown version";
  const compiler = /: (go\S+)/.exec(stdout)?.[1];
  const version = /\bmod\s+go\.starlark\.net\s+(\S+)/.exec(stdout)?.[1];
  return `${version ?? "unknown version"}, ${compiler ?? "unknown Go"}`;
}
