/**
 * Runs the tools that fetch packages (npm, uv, go) in sandboxes: with the network,
 * one folder that they may write, and the user's settings of the registry. They
 * see no home, no other package and nothing of the gateway.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isCodedError } from "@toolcrib/diagnostics";
import type { LaunchSpec, ProcessLauncher } from "@toolcrib/process";
import { defaultSandboxLimits, type Sandboxes, type SandboxLimits } from "@toolcrib/sandbox";
import { fetchEnvironment } from "./fetch-environment.ts";
import { cacheName, type FetchStep, type FetchWorkplace } from "./fetch-recipe.ts";
import type { PackageKind, PackageRun } from "./package-run.ts";
import { RunnersError } from "./runners-error.ts";

/** Dependencies of the sandboxes of fetches. */
export interface FetchSandboxDeps {
  readonly launcher: ProcessLauncher;
  readonly sandboxes: Sandboxes;
  /** `preferred`: a fetch runs uncontained where no sandbox works. */
  readonly mode: "required" | "preferred";
  readonly env: { readonly [name: string]: string | undefined };
  readonly userHome: string;
  /** Folders and files that a fetch does not see. */
  readonly hiddenPaths: readonly string[];
  /** Ends all fetches. */
  readonly signal: AbortSignal;
}

const mebibyte = 1024 * 1024;

/** Limits of the tools: a compiler needs more memory than a server. */
const limits: SandboxLimits = {
  ...defaultSandboxLimits,
  memoryBytes: 4096 * mebibyte,
  processes: 1024,
  openFiles: 16_384,
};

/** Milliseconds of one step: Go compiles its whole standard library first. */
const stepMaxMs = 900_000;
/** Bytes of standard output that a step may write. */
const outputMaxBytes = 8 * mebibyte;

/** Runs the steps of fetches. */
export class FetchSandbox {
  readonly #deps: FetchSandboxDeps;

  constructor(deps: FetchSandboxDeps) {
    this.#deps = deps;
  }

  /** Returns the workplace of one fetch in `folder`. */
  at(run: PackageRun, folder: string, runner: string): FetchWorkplace {
    const cache = join(folder, cacheName);
    mkdirSync(cache);
    return { folder, cache, runner, run: (step) => this.#run(run, folder, step) };
  }

  async #run({ kind, packages }: PackageRun, folder: string, step: FetchStep): Promise<string> {
    const { launcher, signal, userHome } = this.#deps;
    const { env, files } = fetchEnvironment(kind, this.#deps.env, userHome);
    const late = AbortSignal.timeout(stepMaxMs);
    const either = AbortSignal.any([signal, late]);
    await using launched = await launcher.launch(
      {
        command: step.command,
        args: step.args,
        env: { ...env, ...step.env },
        cwd: folder,
        label: `fetch ${packages[0]}`,
        contain: this.#containIn(folder, files),
      },
      { signal: either },
    );
    launched.stdin.end();
    const stop = (): void => {
      launched.stop(0);
    };
    either.addEventListener("abort", stop, { once: true });
    try {
      const output = text(limitedTo(launched.stdout, outputMaxBytes));
      const [printed, exit] = await Promise.all([output, launched.exited]);
      if (exit.code === 0) return printed;
      if (late.aborted) throw failed(packages, `it took longer than ${stepMaxMs / 1000} s`, kind);
      throw failed(packages, lastLines(launched.stderr.tail(60)) ?? exit.description, kind);
    } finally {
      either.removeEventListener("abort", stop);
    }
  }

  #containIn(folder: string, files: readonly string[]): LaunchSpec["contain"] {
    const { sandboxes, mode, hiddenPaths } = this.#deps;
    return async (request) => {
      const policy = {
        network: "allow",
        readPaths: files,
        writePaths: [folder],
        ownPaths: [folder, ...files],
        home: "temporary",
        hiddenPaths,
        limits,
      } as const;
      try {
        return await sandboxes.prepare(request, policy);
      } catch (error) {
        const isMissing = isCodedError(error) && error.code === "SANDBOX_UNAVAILABLE";
        if (!isMissing || mode === "required") throw error;
        return { request, async [Symbol.asyncDispose]() {} };
      }
    };
  }
}

async function* limitedTo(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxBytes) yield chunk;
  }
}

/** Lines of npm, uv and go that say nothing about the cause. */
const noisePattern =
  /complete log of this run|^npm (warn|notice)|^npm error (code|errno|syscall|type)\b|^\s*$|^npm error\s*$/i;

function lastLines(lines: readonly string[]): string | undefined {
  const useful = lines
    .filter((line) => !noisePattern.test(line))
    .map((line) => line.replace(/^npm error /, ""));
  return useful.length === 0 ? undefined : useful.slice(0, 6).join("; ").slice(0, 800);
}

const settingsOf: { readonly [kind in PackageKind]: string } = {
  npm: "the registry in ~/.npmrc",
  python: "the index in UV_INDEX_URL or uv.toml",
  go: "GOPROXY",
};

function failed(packages: readonly string[], reason: string, kind: PackageKind): RunnersError {
  const what = packages.join(", ");
  return new RunnersError("PACKAGE_FETCH_FAILED", `"${what}" could not be fetched: ${reason}`, {
    hint: `check its name, the connection, and ${settingsOf[kind]}; a package that was fetched once starts without the network`,
  });
}
