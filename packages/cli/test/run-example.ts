/**
 * Runs the examples of error codes as `toolcrib explain` shows them. A line of an example is a
 * command line of `toolcrib`, one of a shell, `toolcrib serve &`, the head and body of an HTTP
 * request, or a message that a client with a session sends. ` &` after a request or a message sends it
 * without waiting for its answer. Examples with the same files and the same lines before share a folder
 * and a gateway. Servers are at port 9000 of the loopback address, and an API with TLS at port 9443,
 * whose certificate is signed by the authority in `ca.pem`.
 */

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { loadExplained } from "@toolcrib/cli";
import {
  makeTemporaryDirectory,
  runProcess,
  type ServerProcess,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { type ExampleApi, startExampleApi } from "./example-api.ts";
import { type ExampleServer, startExampleServer } from "./example-server.ts";
import {
  cleanEnvironment,
  commandLine,
  modulesCommandLine,
  normalize,
  runToolcrib,
  startServe,
} from "./transcript.ts";

/** A code whose example runs. */
export type Produced = Awaited<ReturnType<typeof loadExplained>>[number];

const gatewayAddress = "127.0.0.1:7420";
const serverAddress = "127.0.0.1:9000";
const apiAddress = "127.0.0.1:9443";
/** The ids of a call that waits and of a task in texts of examples: the last ones that an output had. */
const shownIds = { call: "call:0123456789abcdef", task: "786512e2-9e0d-44bd-8f29-789f320fe840" } as const;
const commandTimeoutMs = 60_000;

/** Runs examples, those with the same setting one after the other in one folder. Returns the output of each by code. */
export async function runExamples(
  examples: readonly Produced[],
  report: (code: string, output: string) => void,
): Promise<void> {
  await using servers = await startServers();
  const groups = Map.groupBy(examples, ({ code, example }) =>
    example.before === undefined ? code : JSON.stringify([example.files, example.before]),
  );
  for (const [one, ...others] of groups.values()) {
    if (one === undefined) continue;
    await using setting = await openSetting(one, servers);
    for (const { code, example } of [one, ...others]) report(code, await setting.run(example.run ?? ""));
  }
}

/** Runs an example after what its fix says, and returns the output. */
export async function runRepaired(one: Produced): Promise<string> {
  await using servers = await startServers();
  await using setting = await openSetting(one, servers);
  const { repaired, run = "" } = one.example;
  if (repaired?.files !== undefined) setting.write(repaired.files);
  for (const line of repaired?.before ?? []) await setting.run(line);
  return await setting.run(repaired?.run ?? run);
}

/** The servers of all examples. */
interface Servers extends AsyncDisposable {
  readonly mcp: ExampleServer;
  readonly api: ExampleApi;
}

async function startServers(): Promise<Servers> {
  const mcp = await startExampleServer();
  const api = await startExampleApi();
  return {
    mcp,
    api,
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

async function openSetting({ code, example }: Produced, servers: Servers): Promise<Setting> {
  const setting = new Setting(await makeTemporaryDirectory(), servers);
  try {
    setting.write(example.files ?? {});
    for (const line of example.before ?? []) await setting.run(line);
    return setting;
  } catch (error) {
    await setting[Symbol.asyncDispose]();
    throw new Error(`Cannot prepare the example of ${code}`, { cause: error });
  }
}

/** A folder with the files of an example, and the gateway that its lines started. */
class Setting implements AsyncDisposable {
  readonly #directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  readonly #servers: Servers;
  /** The requests whose answers nobody waits for. */
  readonly #sent = new Set<Socket>();
  #gateway: ServerProcess | undefined;
  #session: string | undefined;
  #callId: string = shownIds.call;
  #taskId: string = shownIds.task;
  #texts = "";

  constructor(directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>, servers: Servers) {
    this.#directory = directory;
    this.#servers = servers;
    writeFiles(directory.path, { "ca.pem": servers.api.authority, ".bin/toolcrib": launcher });
    chmodSync(directory.join(".bin/toolcrib"), 0o755);
  }

  /** Remembers the texts of an example: digests in them are the same in each run. */
  write(files: { readonly [path: string]: string }): void {
    this.#texts += Object.values(files).join("\n");
    writeFiles(
      this.#directory.path,
      Object.fromEntries(Object.entries(files).map(([path, text]) => [path, this.#placed(text)])),
    );
  }

  /** Runs a line, and returns what it prints, without what differs from run to run. */
  async run(line: string): Promise<string> {
    this.#texts += line;
    const output = await this.#perform(this.#placed(line));
    this.#callId = output.match(/\bcall:[0-9a-f]{16}\b/g)?.at(-1) ?? this.#callId;
    this.#taskId = /"taskId":"([\w-]+)"/.exec(output)?.[1] ?? this.#taskId;
    return this.#unplaced(output);
  }

  async #perform(line: string): Promise<string> {
    if (/^(?:\{"|\[\{)/.test(line)) {
      if (!line.endsWith(" &")) return await this.#ask(line);
      return await this.#send(await this.#messageRequest(line.slice(0, -" &".length)));
    }
    if (/^[A-Z]+ \/\S* HTTP\/1\.1\n/.test(line)) {
      return await (line.endsWith(" &") ? this.#send(line.slice(0, -" &".length)) : this.#request(line));
    }
    if (line === "kill %1") {
      await this.#gateway?.[Symbol.asyncDispose]();
      return "";
    }
    if (/^node /.test(line)) return await this.#program(line);
    if (line === "toolcrib serve &") {
      this.#gateway = await startServe(["--listen", "127.0.0.1:0"], { directory: this.#directory.path });
      return "";
    }
    if (/^(?:[A-Z_]+=\S* )*toolcrib /.test(line)) return await this.#command(line);
    const directory = this.#directory.path;
    const outcome = await runProcess("/bin/sh", ["-c", line], {
      cwd: directory,
      env: this.#shellEnvironment(),
    });
    assert.equal(outcome.code, 0, `${line}\n${outcome.stderr}`);
    return outcome.stdout;
  }

  /** Runs a program that uses the packages. */
  async #program(line: string): Promise<string> {
    const directory = this.#directory.path;
    const modules = join(directory, "node_modules");
    if (!existsSync(modules)) symlinkSync(join(import.meta.dirname, "../../../node_modules"), modules);
    const options = modulesCommandLine.filter((word) => word.startsWith("--conditions"));
    const outcome = await runProcess(process.execPath, [...options, ...line.split(" ").slice(1)], {
      cwd: directory,
      env: cleanEnvironment(directory),
    });
    return `${outcome.stdout}${outcome.stderr}`;
  }

  async #command(line: string): Promise<string> {
    const { env, args, input, filter } = wordsOf(line);
    const directory = this.#directory.path;
    const stdin = input === undefined ? "" : readFileSync(this.#directory.join(input), "utf8");
    const isHere = /^(?:install|uninstall|registry|publish|outdated|update|lock)$/.test(args[0] ?? "");
    const setting = { directory, stdin, env, isHere, timeoutMs: commandTimeoutMs };
    const { stdout, stderr } = await runToolcrib(args, setting);
    const parts = [stdout, stderr].map((part) => part.trim()).filter((part) => part !== "");
    const lines = parts.join("\n").split("\n");
    return (filter === undefined ? lines : lines.filter((one) => one.includes(filter))).join("\n");
  }

  /** Lines of a shell find the command on the PATH. */
  #shellEnvironment(): { readonly [name: string]: string | undefined } {
    const env = cleanEnvironment(this.#directory.path);
    return { ...env, PATH: `${this.#directory.join(".bin")}:${env["PATH"]}` };
  }

  /** Sends an HTTP request, and waits until the server has its call, not for the answer. */
  async #send(text: string): Promise<string> {
    const held = this.#servers.mcp.heldCount;
    const { hostname, port } = new URL(this.#gatewayUrl());
    const socket = connect(Number(port), hostname);
    this.#sent.add(socket.on("error", () => {}).resume());
    await new Promise<void>((resolve) => socket.write(encodeRequest(text), () => resolve()));
    if (text.includes(heldTool))
      await waitUntil(() => this.#servers.mcp.heldCount > held, { what: "the call at the server" });
    return "";
  }

  /** Returns the HTTP request with which a client with a session sends a message. */
  async #messageRequest(message: string): Promise<string> {
    this.#session ??= await this.#openSession();
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: ${new URL(this.#gatewayUrl()).host}`,
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      `Mcp-Session-Id: ${this.#session}`,
      "Mcp-Protocol-Version: 2025-11-25",
    ];
    return `${head.join("\n")}\n\n${message}`;
  }

  /** Sends an HTTP request with the length of its body, and returns the status and the body of the answer. */
  async #request(text: string): Promise<string> {
    const sent = encodeRequest(text);
    const { hostname, port } = new URL(this.#gatewayUrl());
    const answer = await new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = connect(Number(port), hostname, () => socket.write(sent));
      socket.setEncoding("utf8").on("data", (part) => {
        received += part;
      });
      socket.once("end", () => resolve(received)).once("error", reject);
    });
    const [, status = "", content = ""] =
      /^HTTP\/1\.1 (\d+ .*)\r\n[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(answer) ?? [];
    return [`HTTP ${status}`, content.replace(/^[0-9a-f]+\r\n([\s\S]*?)\r\n0\r\n\r\n$/, "$1")]
      .join("\n")
      .trim();
  }

  /** Sends a message as a client that has initialized its session, and returns the answer. */
  async #ask(message: string): Promise<string> {
    this.#session ??= await this.#openSession();
    const answer = await this.#post(message, this.#session);
    const body = await answer.text();
    const events = body.split("\n").filter((one) => one.startsWith("data: {"));
    return events.at(-1)?.slice("data: ".length) ?? body;
  }

  async #openSession(): Promise<string> {
    const initialize = {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "example", version: "1.0.0" },
      },
    };
    const answer = await this.#post(JSON.stringify(initialize));
    await answer.text();
    const session = answer.headers.get("mcp-session-id") ?? "";
    await (await this.#post('{"jsonrpc":"2.0","method":"notifications/initialized"}', session)).text();
    return session;
  }

  #post(body: string, session?: string): Promise<Response> {
    return fetch(`${this.#gatewayUrl()}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body,
    });
  }

  #gatewayUrl(): string {
    assert.ok(this.#gateway !== undefined, "the example starts no gateway");
    return this.#gateway.url;
  }

  #placed(text: string): string {
    const placed = text
      .replaceAll(serverAddress, `127.0.0.1:${this.#servers.mcp.port}`)
      .replaceAll(apiAddress, `127.0.0.1:${this.#servers.api.port}`)
      .replaceAll(shownIds.call, this.#callId)
      .replaceAll(shownIds.task, this.#taskId);
    return this.#gateway === undefined
      ? placed
      : placed.replaceAll(gatewayAddress, new URL(this.#gateway.url).host);
  }

  #unplaced(text: string): string {
    const own =
      this.#gateway === undefined ? text : text.replaceAll(new URL(this.#gateway.url).host, gatewayAddress);
    const placed = own
      .replaceAll(`127.0.0.1:${this.#servers.mcp.port}`, "\u0000server\u0000")
      .replaceAll(`127.0.0.1:${this.#servers.api.port}`, "\u0000api\u0000")
      .replaceAll(gatewayAddress, "\u0000gateway\u0000");
    return withoutRandomness(
      normalize(placed.replaceAll(this.#directory.path, "/home/ada"), this.#directory.path),
      this.#texts,
    )
      .replaceAll("\u0000server\u0000", serverAddress)
      .replaceAll("\u0000api\u0000", apiAddress)
      .replaceAll("\u0000gateway\u0000", gatewayAddress)
      .trimEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sent) socket.destroy();
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** The tool whose calls the server does not answer. */
const heldTool = "__export";

/** The command for lines of a shell. */
const launcher = `#!/bin/sh\nexec ${[process.execPath, ...commandLine].map((word) => `'${word}'`).join(" ")} "$@"\n`;

/** Returns a request as it is sent: with the length of its body, and the last of its connection. */
function encodeRequest(text: string): string {
  const [head = "", body = ""] = text.split("\n\n");
  const length =
    body === "" || /content-length/i.test(head) ? "" : `\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return `${head.trimEnd().replaceAll("\n", "\r\n")}${length}\r\nConnection: close\r\n\r\n${body}`;
}

/** Replaces ids, digests and times that differ from run to run. @param known texts whose digests stay */
function withoutRandomness(text: string, known: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
      id === shownIds.task ? id : "CALL",
    )
    .replace(/"taskId":\s?"[\w-]{36,}"/g, `"taskId":"${shownIds.task}"`)
    .replace(/\bcall:[0-9a-f]{16}\b/g, (id) => (known.includes(id) ? id : shownIds.call))
    .replace(/\bsha256:[0-9a-f]{64}\b/g, (digest) => (known.includes(digest) ? digest : "sha256:…"))
    .replace(/\bkey [0-9a-f]{12}\b/g, "key …")
    .replace(/"id":"[a-z0-9]+\.[a-z0-9]+\.(\d{3})-\d{16}"/g, '"id":"…$1-…"')
    .replace(/"signature":"[^"]*"/g, '"signature":"…"')
    .replace(/"run":"[a-z0-9]+\.[a-z0-9]+\.(\d{3})"/g, '"run":"….$1"')
    .replace(/\/run\/[0-9a-f]{12}\.sock\b/g, "/run/….sock")
    .replace(/\/embeddings\/[0-9a-f]{40}\b/g, "/embeddings/…")
    .replace(/\/registries\/[0-9a-f]{32}\b/g, "/registries/…")
    .replace(/"(?:[0-9a-f]{64}|[0-9a-f]{16})"/g, '"…"')
    .replace(/("(?:durationMs|position|executionTime|resultBytes)":\s?)[\d.]+/g, "$1N")
    .replace(/\b(at byte|after) \d+\b/g, "$1 N")
    .replace(/possible again in [^,;]*,/g, "possible again in N h,");
}

/** A command line in its parts. */
interface Words {
  readonly env: { readonly [name: string]: string };
  readonly args: readonly string[];
  readonly input: string | undefined;
  /** The word of `2>&1 | grep WORD` at its end. */
  readonly filter: string | undefined;
}

/** Splits a command line: variables before it, words (in single quotes with spaces), `< FILE` as input, `2>&1 | grep WORD`. */
function wordsOf(line: string): Words {
  const [, command = line, filter] = /^(.*?)(?: 2>&1 \| grep (\S+))?$/.exec(line) ?? [];
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const start = words.indexOf("toolcrib");
  const env = Object.fromEntries(
    words
      .slice(0, start)
      .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
  );
  const at = words.indexOf("<");
  const args = words.slice(start + 1, at === -1 ? undefined : at);
  return { env, args, input: at === -1 ? undefined : words[at + 1], filter };
}
