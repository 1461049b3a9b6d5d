/**
 * The machine as implementations see it: its platform, and the runtimes and packages on it. Each
 * is found by asking the runtime itself, once. The programs that are asked are started by
 * the given function, contained as the programs of the package are.
 */

import { NotStarted } from "../endpoint-runner.ts";
import { decodeOutput } from "../local/program-output.ts";
import { runProgram, type StartProgram } from "../local/run-program.ts";
import { parseVersion, type Version } from "./version.ts";

/** A runtime on this machine. */
export interface FoundRuntime {
  readonly kind: RuntimeKind;
  /** The program: a complete path, or a name in PATH. */
  readonly command: string;
  readonly version: Version;
}

/** The kinds of runtimes that packages name. */
export type RuntimeKind = "node" | "python" | "dotnet";

/** The questions of the selection of an implementation about a machine. Tests pass their own. */
export interface Machine {
  /** System and architecture, as packages write them: `linux-x64`, `win-x64`, `darwin-arm64`. */
  readonly platform: string;
  /** Returns the runtimes of a kind that are on the machine, the preferred one first. */
  runtimes(kind: RuntimeKind): Promise<readonly FoundRuntime[]>;
  /** Returns the version of a library that programs of the package can import from `runtime`; undefined without it. */
  libraryVersion(runtime: FoundRuntime, name: string): Promise<string | undefined>;
  /** Whether the machine has a graphics processor for computing. */
  hasGpu(): Promise<boolean>;
}

/** Dependencies of the search for the machine. */
export interface MachineDeps {
  /** `process.platform` and `process.arch`. */
  readonly system: { readonly platform: string; readonly arch: string };
  /** The Node that runs Toolcrib, and its version. */
  readonly node: { readonly command: string; readonly version: string };
  readonly start: StartProgram;
  /** Whether a path exists. */
  readonly exists: (path: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Time limit of one question to a runtime. */
const probeTimeoutMs = 20_000;
const probeOutputMaxBytes = 64 * 1024;

/** Commands of Python, of which the first that exists and fits is used. */
const pythonCommands = [
  "python3",
  "python",
  "python3.14",
  "python3.13",
  "python3.12",
  "python3.11",
  "python3.10",
];

/** Returns the platform in the words of packages. */
export function platformOf({ platform, arch }: MachineDeps["system"]): string {
  return `${platform === "win32" ? "win" : platform}-${arch}`;
}

/** Creates a machine that is found by asking. Answers are kept. */
export function createMachine(deps: MachineDeps): Machine {
  const { node, exists } = deps;
  const kept = new Map<string, Promise<unknown>>();
  const once = <Value>(key: string, find: () => Promise<Value>): Promise<Value> => {
    const known = kept.get(key) ?? find();
    kept.set(key, known);
    return known as Promise<Value>;
  };
  return {
    platform: platformOf(deps.system),
    runtimes: (kind) =>
      once(kind, async () => {
        switch (kind) {
          case "node":
            return [{ kind, command: node.command, version: parseVersion(node.version) ?? [0, 0, 0] }];
          case "python":
            return await findPythons(deps);
          case "dotnet":
            return await findDotnet(deps);
        }
      }),
    libraryVersion: ({ kind, command }, name) =>
      once(`library ${command} ${name}`, async () => {
        const program = libraryPrograms[kind];
        if (program === undefined) return undefined;
        return (await ask({ command, args: [...program, name] }, deps))?.trim();
      }),
    hasGpu: () =>
      once("gpu", async () => {
        const devices = ["/dev/nvidia0", "/dev/kfd"];
        return (await Promise.all(devices.map(exists))).includes(true);
      }),
  };
}

/** Arguments with which a runtime writes the version of the library that the next argument names. */
const libraryPrograms: { readonly [Kind in RuntimeKind]: readonly string[] | undefined } = {
  python: ["-c", "import importlib.metadata,sys;print(importlib.metadata.version(sys.argv[1]))"],
  node: [
    "-e",
    "const{createRequire}=require('node:module');const r=createRequire(process.cwd()+'/x.js');console.log(r(process.argv[1]+'/package.json').version)",
  ],
  // A program of .NET brings its libraries.
  dotnet: undefined,
};

async function findPythons(deps: MachineDeps): Promise<readonly FoundRuntime[]> {
  const program = "import sys;print('.'.join(str(part) for part in sys.version_info[:3]))";
  const found = await Promise.all(
    pythonCommands.map(async (command) => {
      const version = parseVersion((await ask({ command, args: ["-c", program] }, deps)) ?? "");
      return version === undefined ? [] : [{ kind: "python" as const, command, version }];
    }),
  );
  return found.flat();
}

/** The versions of .NET that `dotnet` can start programs with. */
async function findDotnet(deps: MachineDeps): Promise<readonly FoundRuntime[]> {
  const text = (await ask({ command: "dotnet", args: ["--list-runtimes"] }, deps)) ?? "";
  return [...text.matchAll(/^Microsoft\.NETCore\.App (\S+) /gm)].flatMap(([, written = ""]) => {
    const version = parseVersion(written);
    return version === undefined ? [] : [{ kind: "dotnet" as const, command: "dotnet", version }];
  });
}

/** Returns what a program writes; undefined where it cannot be started or fails. */
async function ask(
  program: Parameters<typeof runProgram>[1],
  { start, signal }: MachineDeps,
): Promise<string | undefined> {
  try {
    const end = await runProgram(start, program, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]),
      outputMaxBytes: probeOutputMaxBytes,
    });
    return end.code === 0 && !end.isTooLarge ? decodeOutput(end.stdout) : undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof NotStarted || (error as Error).name === "TimeoutError") return undefined;
    throw error;
  }
}
