/**
 * The gateway of one client scenario: a process of `toolcrib serve` with one server, in a home of its own, and the
 * operator, who runs `toolcrib login` with a browser that agrees to everything, and writes a setting where a message
 * asks for it.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { main } from "@toolcrib/cli";
import { browse, makeTemporaryDirectory, type ServerProcess, startServerProcess } from "@toolcrib/testing";

/** Settings of `transport.auth`; secrets are their values. */
export interface AuthSettings {
  readonly grant?: string;
  readonly client_id?: string;
  readonly client_metadata_url?: string;
  readonly client_secret?: string;
  readonly private_key?: string;
  readonly issuer?: string;
}

/** A gateway with one server, and its operator. */
export interface TestedGateway extends AsyncDisposable {
  /** The endpoint of the server. */
  readonly url: string;
  /** Does what a message asks the operator for. @returns whether there was anything to do */
  actOn(message: string, log: (line: string) => void): Promise<boolean>;
  /** The output of the gateway. */
  log(): string;
}

const root = join(import.meta.dirname, "../..");
const serverId = "tested";
/** Milliseconds for one login. */
const loginTimeoutMs = 30_000;
/** Milliseconds for the gateway to try a server again. */
const retryTimeoutMs = 5000;

/** Starts a gateway for the server at `url`. */
export async function startTestedGateway(
  url: string,
  auth: AuthSettings | undefined,
): Promise<TestedGateway> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await makeTemporaryDirectory());
  const config = home.join("toolcrib.yaml");
  const files = ["--config", config, "--home", home.join("home")];
  const secrets: { [name: string]: string } = {};
  let settings = auth;
  let running: ServerProcess | undefined;
  let output = "";
  const restart = async () => {
    await stop();
    writeConfig(config, url, settings, secrets);
    running = await startServe(files, secrets);
  };
  const stop = async () => {
    output += running === undefined ? "" : running.stdout() + running.stderr();
    await running?.[Symbol.asyncDispose]();
    running = undefined;
  };
  stack.defer(stop);
  await restart();
  await untilStarted(files, home.path);
  const owned = stack.move();
  return {
    get url() {
      return `${running?.url}/s/${serverId}`;
    },
    log: () => output + (running === undefined ? "" : running.stdout() + running.stderr()),
    async actOn(message, log) {
      let text = message;
      if (text.includes("toolcrib status")) text += `\n${(await statusOf(files, home.path)).reason}`;
      log(`the operator sees: ${text}`);
      if (/\btoolcrib .*\blogin tested\b/.test(text)) {
        const before = await statusOf(files, home.path);
        const { code, stderr, stdout } = await runCommand(
          ["login", serverId, "--no-browser", ...files],
          secrets,
          home.path,
        );
        log(`toolcrib login: exit code ${code}\n${stdout}${stderr}`);
        if (code === 0) {
          await untilTried(files, home.path, before);
          return true;
        }
        text = stderr;
      }
      const issuer = /write transport\.auth\.issuer: (http[^\s)]+)/.exec(text)?.[1];
      if (issuer === undefined || settings === undefined || settings.issuer === issuer) return false;
      settings = { ...settings, issuer };
      log(`the operator writes issuer: ${issuer}`);
      await restart();
      await untilStarted(files, home.path);
      return true;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Writes the configuration; values of secrets go to `secrets`, which are variables of the environment. */
function writeConfig(
  file: string,
  url: string,
  settings: AuthSettings | undefined,
  secrets: { [name: string]: string },
): void {
  const { client_secret: secret, private_key: key, ...plain } = settings ?? {};
  const reference = (name: string, value: string | undefined) => {
    if (value === undefined) return {};
    const variable = `CONFORMANCE_${name.toUpperCase()}`;
    secrets[`TOOLCRIB_SECRET_${variable}`] = value;
    return { [name]: { secret_key_ref: variable } };
  };
  const auth = {
    type: "oauth",
    ...plain,
    ...reference("client_secret", secret),
    ...reference("private_key", key),
  };
  const transport = { kind: "streamable_http", url, ...(settings === undefined ? {} : { auth }) };
  // The scenarios expect that the first question of a server is passed on.
  const server = { id: serverId, transport, trust_state: "certified", interactive: true };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ tool_servers: [server] }));
}

/** Starts the gateway: the bundle that TOOLCRIB_TEST_COMMAND names, or the sources. */
function startServe(
  files: readonly string[],
  env: { readonly [name: string]: string },
): Promise<ServerProcess> {
  const command = process.env["TOOLCRIB_TEST_COMMAND"] ?? join(root, "packages/cli/src/bin.ts");
  const args = ["--conditions=toolcrib-source", command, "serve", ...files];
  return startServerProcess(process.execPath, [...args, "--listen", "127.0.0.1:0", "--auth", "none"], {
    cwd: root,
    env: { ...env, NO_COLOR: "1" },
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
  });
}

/** The state of the server in `toolcrib status`. */
interface ServerStatus {
  readonly state: string;
  readonly reason: string;
}

async function statusOf(files: readonly string[], directory: string): Promise<ServerStatus> {
  const { stdout } = await runCommand(["status", "--json", ...files], {}, directory);
  const { servers } = JSON.parse(stdout) as {
    readonly servers: readonly { readonly health: Partial<ServerStatus> }[];
  };
  return { state: "starting", reason: "", ...servers[0]?.health };
}

/** Waits until the gateway has connected to the server, or found out that it cannot. */
async function untilStarted(files: readonly string[], directory: string): Promise<void> {
  while ((await statusOf(files, directory)).state === "starting") await delay(50);
}

/** Waits until the gateway has tried the server again, as it does after a login of its own accord. */
async function untilTried(files: readonly string[], directory: string, before: ServerStatus): Promise<void> {
  if (before.reason === "") return;
  const end = Date.now() + retryTimeoutMs;
  while (Date.now() < end && (await statusOf(files, directory)).reason === before.reason) await delay(50);
}

/** Runs `toolcrib` in this process, and opens the address that a login prints. */
async function runCommand(
  args: readonly string[],
  env: { readonly [name: string]: string },
  directory: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: "", stderr: "" };
  let opened = false;
  const streamTo = (name: keyof typeof written) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        written[name] += chunk.toString();
        const address = /^ {2}(https?:\/\/\S+)$/m.exec(written.stderr)?.[1];
        if (address !== undefined && !opened) {
          opened = true;
          // A failure is seen in the result of the login.
          browse(address).catch(() => {});
        }
        done();
      },
    });
  const code = await main({
    args,
    env: { ...process.env, ...env, NO_COLOR: "1" },
    directory,
    userDirectory: directory,
    platform: process.platform,
    stdin: new PassThrough().end(),
    stdout: streamTo("stdout"),
    stderr: streamTo("stderr"),
    now: Date.now,
    signal: AbortSignal.timeout(loginTimeoutMs),
    interceptSignals: () => ({ [Symbol.dispose]() {} }),
    outputClosed: new AbortController().signal,
  });
  return { code, ...written };
}
