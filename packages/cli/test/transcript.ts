/**
 * Runs the command like a user and returns transcripts: each command line with its output
 * and exit code. Text that differs from run to run is replaced.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
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

/**
 * Arguments of Node that run the command, on the sources or on the build, like the
 * tests. `npm test` names a bundle of the sources, which starts in half of the time.
 */
export const commandLine: readonly string[] = isSource
  ? [
      "--conditions=toolcrib-source",
      process.env["TOOLCRIB_TEST_COMMAND"] ?? join(root, "packages/cli/src/bin.ts"),
    ]
  : [join(root, "packages/cli/dist/bin.js")];

/** Input, environment and folder of a command. */
export interface RunSetting {
  readonly directory: string;
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Milliseconds until the process is ended and the test fails. @default 60000 */
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

/** Runs `toolcrib args`. */
export function runToolcrib(args: readonly string[], setting: RunSetting): Promise<ProcessOutcome> {
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
    .replace(/\b\d+(?:\.\d+)? m?s(?= )/g, "N ms");
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
