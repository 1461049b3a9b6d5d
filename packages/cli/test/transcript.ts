/**
 * Runs the command like a user and returns transcripts: each command line with its output
 * and exit code. Text that differs from run to run is replaced.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { main } from "@toolcrib/cli";
import {
  echoStdioPath,
  fixtureCommand,
  type ProcessOutcome,
  runProcess,
  type ServerProcess,
  startServerProcess,
} from "@toolcrib/testing";

const root = join(import.meta.dirname, "../../..");
const compileCache = join(root, "node_modules/.cache/toolcrib-tests");
const isSource = fileURLToPath(import.meta.resolve("@toolcrib/cli")).endsWith(".ts");

/** The file that is `toolcrib` on the PATH. */
export const launcherPath = join(root, "packages/cli/bin/toolcrib.js");

/** Arguments of Node that run the command, on the sources or on the build, like the tests. */
export const modulesCommandLine: readonly string[] = isSource
  ? ["--conditions=toolcrib-source", join(root, "packages/cli/src/bin.ts")]
  : [join(root, "packages/cli/dist/bin.js")];

const bundle = process.env["TOOLCRIB_TEST_COMMAND"];

/** The same with the bundle of the sources that `npm test` names, which starts in half of the time. */
export const commandLine: readonly string[] =
  isSource && bundle !== undefined ? ["--conditions=toolcrib-source", bundle] : modulesCommandLine;

/** Input, environment and folder of a command. */
export interface RunSetting {
  readonly directory: string;
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Whether a command that is always a process runs in this process nevertheless, because it starts nothing. */
  readonly isHere?: boolean;
  /** The columns of a terminal that both outputs are, for a command in this process. @default no terminal */
  readonly columns?: number;
  /** Milliseconds until the process is ended and the test fails. @default 120000 */
  readonly timeoutMs?: number;
}

/** Variables of a network with a proxy, which `doctor` reports. */
const networkVariables = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"],
  ...["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
];

/** Returns the environment of a test: a home below `directory`, no colours, and no settings of the machine. */
export function cleanEnvironment(directory: string): { readonly [name: string]: string | undefined } {
  return {
    HOME: directory,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    XDG_CONFIG_HOME: undefined,
    TOOLCRIB_HOME: undefined,
    TOOLCRIB_TOKEN: undefined,
    TOOLCRIB_LISTEN: undefined,
    TOOLCRIB_LOG_LEVEL: undefined,
    NO_COLOR: undefined,
    FORCE_COLOR: undefined,
    NODE_OPTIONS: undefined,
    ...Object.fromEntries(networkVariables.map((name) => [name, undefined])),
    // Tests start the command many times, so they share Node's compile cache.
    NODE_COMPILE_CACHE: compileCache,
  };
}

/**
 * Words of commands that are always processes: they serve, build images, or hand their terminal to another program.
 * All others pass the environment of the test to the programs that they start.
 */
const ownProcess: ReadonlySet<string> = new Set(["serve", "metatool", "toolpack", "egress"]);

/**
 * Runs `toolcrib args`: in this process where the command allows it, which takes a tenth of the
 * time of a process, otherwise as `runToolcribProcess` does.
 */
export async function runToolcrib(args: readonly string[], setting: RunSetting): Promise<ProcessOutcome> {
  const handsOver = args.includes("sandbox") && args.includes("run");
  const isNamed = setting.isHere !== true && (handsOver || args.some((word) => ownProcess.has(word)));
  const isProcess = isNamed || setting.env?.["NODE_OPTIONS"] !== undefined;
  return isProcess ? runToolcribProcess(args, setting) : runHere(args, setting);
}

async function runHere(args: readonly string[], setting: RunSetting): Promise<ProcessOutcome> {
  const { directory, stdin = "", timeoutMs = 120_000, columns } = setting;
  const given = { ...process.env, ...cleanEnvironment(directory), ...setting.env };
  const env = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const written = { stdout: "", stderr: "" };
  const terminal = columns === undefined ? {} : { isTTY: true as const, columns };
  const streamTo = (name: keyof typeof written) =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write(chunk: string | Buffer, _encoding, done) {
          written[name] += chunk.toString();
          done();
        },
      }),
      terminal,
    );
  const signal = AbortSignal.timeout(timeoutMs);
  const run = () =>
    main({
      args,
      env,
      directory,
      userDirectory: env["HOME"] ?? directory,
      platform: process.platform,
      stdin: new PassThrough().end(stdin),
      stdout: streamTo("stdout"),
      stderr: streamTo("stderr"),
      now: Date.now,
      signal,
      interceptSignals: () => ({ [Symbol.dispose]() {} }),
      outputClosed: new AbortController().signal,
    });
  const code = await runIn(directory, run);
  assert.ok(!signal.aborted, `${commandText(args)} did not end within ${timeoutMs} ms\n${written.stderr}`);
  return { code, signal: null, ...written };
}

/** The folder of the commands that run in this process at the moment. */
let place: Place | undefined;

interface Place {
  readonly directory: string;
  /** The working directory to return to. */
  readonly before: string;
  /** Resolves after the last command. */
  readonly end: PromiseWithResolvers<void>;
  count: number;
}

/** Calls `run` with `directory` as the working directory, together with other calls for the same one only. */
async function runIn<T>(directory: string, run: () => Promise<T>): Promise<T> {
  while (place !== undefined && place.directory !== directory) await place.end.promise;
  place ??= { directory, before: process.cwd(), end: Promise.withResolvers(), count: 0 };
  const mine = place;
  mine.count += 1;
  process.chdir(directory);
  try {
    return await run();
  } finally {
    mine.count -= 1;
    if (mine.count === 0) {
      process.chdir(mine.before);
      place = undefined;
      mine.end.resolve();
    }
  }
}

/** Runs `toolcrib args` in a process of its own. */
export function runToolcribProcess(args: readonly string[], setting: RunSetting): Promise<ProcessOutcome> {
  const { directory, stdin, env, timeoutMs } = setting;
  return runProcess(process.execPath, [...commandLine, ...args], {
    cwd: directory,
    stdin,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    env: { ...cleanEnvironment(directory), ...env },
  });
}

/** Runs all command lines concurrently, and returns their transcript in the given order. */
export async function transcript(
  commands: readonly (readonly string[])[],
  setting: RunSetting,
): Promise<string> {
  const texts = await Promise.all(
    commands.map(async (args) => {
      const outcome = await runToolcrib(args, setting);
      return `${commandText(args)}\n${outcomeText(outcome)}`;
    }),
  );
  return normalize(texts.join("\n"), setting.directory);
}

function commandText(args: readonly string[]): string {
  const quoted = args.map((word) => (/^[\w./:=@,-]+$/.test(word) ? word : `'${word}'`));
  return `$ ${["toolcrib", ...quoted].join(" ")}`;
}

function outcomeText({ code, signal, stdout, stderr }: ProcessOutcome): string {
  const errors = stderr === "" ? "" : `${stderr.trimEnd().replace(/^/gm, "! ")}\n`;
  return `${stdout}${errors}[${signal ?? code}]\n`;
}

/** Replaces everything in `text` that differs between runs by a name. */
export function normalize(text: string, directory: string): string {
  return text
    .replaceAll(`${process.execPath} ${launcherPath}`, "toolcrib")
    .replaceAll(directory, "DIR")
    .replaceAll(process.execPath, "NODE")
    .replaceAll(process.version, "vNODE")
    .replaceAll(root, "ROOT")
    .replace(/\btcb_[\w-]{20,}/g, "tcb_TOKEN")
    .replace(/\b127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}(?:-[0-9a-f]{4}-[0-9a-f]{12})?\b/g, "CALL")
    .replace(/PATH "[^"\n]*"/g, 'PATH "…"')
    .replace(/\bprocess \d+/g, "process PID")
    .replace(/\bkill \d+/g, "kill PID")
    .replace(/\bup \d+ s\b/g, "up N s")
    .replace(/\bready after [\d.]+ s\b/g, "ready after N s")
    .replace(/\b\d+(?:\.\d+)? m?s(?= )/g, "N ms");
}

/** Replaces what differs from machine to machine: its disk, its limits, its sandbox, the names of its programs. */
export function onAnyMachine(text: string): string {
  return text
    .replace(/[\d,]+ MiB free/g, "N MiB free")
    .replace(/(open files"?[:,]\s*(?:"message": ")?)(?:at most \d+|no limit)/g, "$1at most N")
    .replace(/^. sandbox: .*\n(?: {4}fix: .*\n)?/gm, "✓ sandbox: TIER\n")
    .replace(
      /"status": "\w+",(\s+"subject": "sandbox",\s+"message": )".*"(?:,\s+"fix": ".*")?/g,
      '"status": "ok",$1"TIER"',
    )
    .replace(/in use by .*\(process PID\)/, "in use by another program");
}

/** Returns the configuration of a stdio server that runs the echo fixture. */
export function echoServer(id: string, ...flags: readonly string[]): object {
  const env = { NODE_COMPILE_CACHE: compileCache };
  return {
    id,
    transport: { kind: "stdio", ...fixtureCommand(echoStdioPath, ...flags), env },
    first_contact: "pin",
  };
}

/** Starts `toolcrib serve` and waits until it prints its address. */
export function startServe(args: readonly string[], setting: RunSetting): Promise<ServerProcess> {
  return startServerProcess(process.execPath, [...commandLine, "serve", ...args], {
    cwd: setting.directory,
    env: { ...cleanEnvironment(setting.directory), ...setting.env },
    urlPattern: /http:\/\/127\.0\.0\.1:\d+(?=\/mcp)/,
  });
}

/** Sorts the lines of servers and toolspecs that `serve` prints, because they are printed as each becomes ready. */
export function sortServers(text: string): string {
  return text.replace(
    /(?:^ {2}[✓✗…] .*\n)+/m,
    (lines) => `${lines.trimEnd().split("\n").sort().join("\n")}\n`,
  );
}

/** Returns the path of a golden file of this package. */
export function golden(name: string): string {
  return join(import.meta.dirname, "golden", name);
}

/** Returns the path of the run file of the one gateway that runs in the home of `directory`; `undefined` if there is none. */
export function runFileIn(directory: string): string | undefined {
  const folder = join(directory, ".toolcrib/run");
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^gateway-\d+\.json$/.test(name))
    : [];
  assert.ok(names.length <= 1, names.join(", "));
  return names[0] === undefined ? undefined : join(folder, names[0]);
}
