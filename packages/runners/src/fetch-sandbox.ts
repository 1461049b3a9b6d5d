/**
 * Runs the tools that fetch packages (npm, uv, go) in sandboxes: with a network
 * that leads to the registries of the user's settings and nowhere else, one folder
 * that they may write, and these settings. They see no home, no other package and
 * nothing of the gateway.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isCodedError } from "@toolcrib/diagnostics";
import type { ContainedRequest, LaunchSpec, ProcessLauncher } from "@toolcrib/process";
import { defaultSandboxLimits, type Sandboxes, type SandboxLimits } from "@toolcrib/sandbox";
import { type FetchEnvironment, fetchEnvironment } from "./fetch-environment.ts";
import { cacheName, type FetchStep, type FetchWorkplace } from "./fetch-recipe.ts";
import { findRegistries, type RegistrySearch } from "./find-registries.ts";
import type { PackageKind, PackageRun } from "./package-run.ts";
import { type Registries, showOrigin } from "./registry-origins.ts";
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
  /** Hosts that fetches reach in addition to the registries of the settings: `host` or `host:port`. */
  readonly registryHosts: readonly string[];
  /** Opens the exit of the network of one step. */
  readonly openExit: (request: FetchExitRequest) => Promise<FetchExit>;
}

/** The reach of a step of a fetch. */
export interface FetchExitRequest extends Registries {
  /** The package, for the audit. */
  readonly label: string;
}

/** The only exit of the network of one step. */
export interface FetchExit extends AsyncDisposable {
  /** URL of the proxy at which the step finds it. */
  readonly url: string;
  readonly takeListener: NonNullable<ContainedRequest["takeListener"]>;
  /** Hosts that the step asked for and may not reach. */
  refused(): readonly string[];
  /** Returns the number of bytes that the step got so far. */
  receivedBytes(): number;
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
const stepMaxMs = 1_800_000;
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
    const { env, userHome, registryHosts: hosts } = this.#deps;
    const cache = join(folder, cacheName);
    mkdirSync(cache);
    const settings = fetchEnvironment(run, env, userHome);
    const place: FetchPlace = { run, folder, settings, exits: [] };
    const runStep: RegistrySearch["runStep"] = (step, found) => this.#run(place, step, found);
    let registries: Promise<Registries> | undefined;
    return {
      folder,
      cache,
      runner,
      receivedBytes: () => place.exits.reduce((sum, exit) => sum + exit.receivedBytes(), 0),
      run: async (step) => {
        if (step.isLocal === true) return await runStep(step, undefined);
        registries ??= findRegistries({ run, runner, settings, hosts, runStep });
        return await runStep(step, await registries);
      },
    };
  }

  /** Runs a step, which reaches `registries`, or nothing. */
  async #run(place: FetchPlace, step: FetchStep, registries: Registries | undefined): Promise<string> {
    const { launcher, signal, openExit } = this.#deps;
    const { folder, settings } = place;
    const { packages } = place.run;
    const late = AbortSignal.timeout(stepMaxMs);
    const either = AbortSignal.any([signal, late]);
    const label = `fetch ${packages[0]}`;
    await using exit = registries && (await openExit({ ...registries, label }));
    if (exit !== undefined) place.exits.push(exit);
    await using launched = await launcher.launch(
      {
        command: step.command,
        args: step.args,
        env: { ...settings.env, ...step.env },
        cwd: folder,
        label,
        isTask: true,
        contain: this.#containIn(place, exit),
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
      const [printed, exited] = await Promise.all([output, launched.exited]);
      if (exited.code === 0) return printed;
      // It was ended from outside, and has not failed. A deadline ends with a reason of its own.
      if (signal.aborted && !isTimeout(signal.reason)) throw signal.reason;
      if (late.aborted) throw failed(place.run, `it took longer than ${stepMaxMs / 1000} s`);
      const refused = exit?.refused() ?? [];
      if (registries !== undefined && refused.length > 0) throw outOfBounds(place.run, refused, registries);
      const lines = launched.stderr.tail(60);
      throw failed(place.run, lastLines(lines) ?? exited.description, isAbsence(place.run, lines));
    } finally {
      either.removeEventListener("abort", stop);
    }
  }

  #containIn({ folder, settings }: FetchPlace, exit: FetchExit | undefined): LaunchSpec["contain"] {
    const { sandboxes, mode, hiddenPaths } = this.#deps;
    const { files, folders, proxies } = settings;
    return async (request) => {
      const policy = {
        network: exit === undefined ? "deny" : "scoped",
        readPaths: [...files, ...folders],
        writePaths: [folder],
        ownPaths: [folder, ...files],
        home: "temporary",
        hiddenPaths,
        limits,
      } as const;
      try {
        const env = { ...request.env, ...(exit === undefined ? {} : exitVariables(exit.url)) };
        const prepared = await sandboxes.prepare({ ...request, env }, policy);
        return exit === undefined ? prepared : { ...prepared, takeListener: exit.takeListener };
      } catch (error) {
        const isMissing = isCodedError(error) && error.code === "SANDBOX_UNAVAILABLE";
        if (!isMissing || mode === "required") throw error;
        const env = { ...request.env, ...proxies };
        return { request: { ...request, env }, async [Symbol.asyncDispose]() {} };
      }
    };
  }
}

/** One fetch: what it fetches, where to, and with which settings. */
interface FetchPlace {
  readonly run: PackageRun;
  readonly folder: string;
  readonly settings: FetchEnvironment;
  /** Those of all steps so far. */
  readonly exits: FetchExit[];
}

/** Variables that lead npm, uv and go to the exit, for every host. */
function exitVariables(url: string): { readonly [name: string]: string } {
  const all = Object.fromEntries(
    ["https_proxy", "http_proxy"].flatMap((name) => [
      [name, url],
      [name.toUpperCase(), url],
    ]),
  );
  const npm = { npm_config_proxy: url, npm_config_https_proxy: url, npm_config_noproxy: "" };
  return { ...all, ...npm, no_proxy: "", NO_PROXY: "" };
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
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

/**
 * The output of tools where the registry does not have a package or version. npm prints a code. uv and go have none:
 * theirs are parts of sentences, with spaces, which no name of a package has.
 */
const absentPatterns: { readonly [kind in PackageKind]: RegExp } = {
  npm: /(?:^|\n)npm (?:error|ERR!) code (?:E404|ETARGET|ENOVERSIONS)\s*(?:\n|$)/,
  python: /was not found in the package registry|there (?:is|are) no versions? of /,
  go: /: (?:404 Not Found|410 Gone)(?:\n|$)|: unknown revision |: no matching versions for query /,
};

/** Whether a tool printed that the registry does not have the package, in contrast to a registry that does not answer. */
function isAbsence({ kind }: PackageRun, lines: readonly string[]): boolean {
  // uv breaks its sentences at the width of a terminal.
  const printed = kind === "python" ? lines.join(" ").replace(/\s+/g, " ") : lines.join("\n");
  return absentPatterns[kind].test(printed);
}

const settingsOf: { readonly [kind in PackageKind]: string } = {
  npm: "the registry in ~/.npmrc",
  python: "the index in UV_INDEX_URL or uv.toml",
  go: "GOPROXY",
};

/** The error of a step that asked for a host which is no registry. */
function outOfBounds(
  { kind, packages }: PackageRun,
  refused: readonly string[],
  { origins }: Registries,
): RunnersError {
  const what = packages.join(", ");
  const hosts = refused.slice(0, 5).join(", ");
  const allowed = origins.map(showOrigin).join(", ");
  return new RunnersError(
    "PACKAGE_FETCH_FAILED",
    `"${what}" could not be fetched: it asks for ${hosts}; fetches reach the registries of this machine alone (${allowed})`,
    {
      hint: `if it belongs to the registry, add it: sandbox: { registry_hosts: [${refused[0]}] }; else check ${settingsOf[kind]}`,
    },
  );
}

/** The output of the tools where the proxy of their sandbox accepted a host and could not connect to it. */
const noConnectionPattern = /fatal alert: AccessDenied|alert access denied|access denied alert/i;

/** The output of npm, with explanations on four more lines, where the registry does not know a package. */
const missingPattern = /404 Not Found - GET (\S+?)(?:;|\s|$)/;

/** The output of npm, also with explanations, where the registry knows the package and not the version. */
const missingVersionPattern = /No match(?:ing version)? found for (?:version )?([^\s;]+?)\.?(?:;|\s|$)/i;

/** The output of uv where no Python, or none of the right version, is among those that it sees. */
const noPythonPattern = /No interpreter found|requires Python|does not satisfy Python|No Python/i;

function failed({ kind, packages, python }: PackageRun, reason: string, isAbsent = false): RunnersError {
  const what = packages.join(", ");
  const missing = missingPattern.exec(reason)?.[1];
  const missingVersion = kind === "npm" ? missingVersionPattern.exec(reason)?.[1] : undefined;
  const state = noConnectionPattern.test(reason)
    ? `this machine could not connect to a host of the registry: ${reason}`
    : missing !== undefined
      ? `the registry has no such package (404 for ${missing})`
      : missingVersion !== undefined
        ? `the registry has no version that matches ${missingVersion}`
        : reason;
  const wantedGo = /requires go >= ([\d.]+)/.exec(reason)?.[1];
  const isPython = kind === "python" && noPythonPattern.test(reason);
  const usual =
    missingVersion !== undefined
      ? "name a version that the registry has, or none for the newest"
      : `check its name, the connection, and ${settingsOf[kind]}; a package that was fetched once starts without the network`;
  return new RunnersError("PACKAGE_FETCH_FAILED", `"${what}" could not be fetched: ${state}`, {
    hint: isPython
      ? pythonHint(packages, python)
      : kind === "go" && wantedGo !== undefined
        ? `fetches use the installed Go and download none: install Go ${wantedGo}, or name an older version of the module`
        : usual,
    ...(isAbsent ? { data: { isAbsent } } : {}),
  });
}

function pythonHint([first = ""]: readonly string[], python: string | undefined): string {
  const wanted = python === undefined ? "/path/to/python3" : `/path/to/python${python.replace(/^\D*/, "")}`;
  return `fetches use the Pythons of the system, of PATH, of pyenv and of uv (uv python list --only-installed), and download none: install one, or name it: args: ["--python", "${wanted}", "${first}"]`;
}
