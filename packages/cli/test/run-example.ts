/**
 * Runs the examples of error codes as `toolcrib explain` shows them. A line of an example is a
 * command line of `toolcrib`, one of a shell, `toolcrib serve &`, the head and body of an HTTP
 * request, or a message that a client with a session sends. Examples with the same files and the
 * same lines before share a folder and a gateway. Servers are at port 9000 of the loopback address.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { loadExplained } from "@toolcrib/cli";
import { makeTemporaryDirectory, runProcess, type ServerProcess, writeFiles } from "@toolcrib/testing";
import { type ExampleServer, startExampleServer } from "./example-server.ts";
import { cleanEnvironment, modulesCommandLine, normalize, runToolcrib, startServe } from "./transcript.ts";

/** A code whose example runs. */
export type Produced = Awaited<ReturnType<typeof loadExplained>>[number];

const gatewayAddress = "127.0.0.1:7420";
const serverAddress = "127.0.0.1:9000";
const commandTimeoutMs = 60_000;

/** Runs examples, those with the same setting one after the other in one folder. Returns the output of each by code. */
export async function runExamples(
  examples: readonly Produced[],
  report: (code: string, output: string) => void,
): Promise<void> {
  await using server = await startExampleServer();
  const groups = Map.groupBy(examples, ({ code, example }) =>
    example.before === undefined ? code : JSON.stringify([example.files, example.before]),
  );
  for (const [one, ...others] of groups.values()) {
    if (one === undefined) continue;
    await using setting = await openSetting(one, server);
    for (const { code, example } of [one, ...others]) report(code, await setting.run(example.run ?? ""));
  }
}

/** Runs an example after what its fix says, and returns the output. */
export async function runRepaired(one: Produced): Promise<string> {
  await using server = await startExampleServer();
  await using setting = await openSetting(one, server);
  const { repaired, run = "" } = one.example;
  if (repaired?.files !== undefined) setting.write(repaired.files);
  for (const line of repaired?.before ?? []) await setting.run(line);
  return await setting.run(repaired?.run ?? run);
}

async function openSetting({ code, example }: Produced, server: ExampleServer): Promise<Setting> {
  const setting = new Setting(await makeTemporaryDirectory(), server.port);
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
  readonly #serverPort: number;
  #gateway: ServerProcess | undefined;
  #session: string | undefined;
  #texts = "";

  constructor(directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>, serverPort: number) {
    this.#directory = directory;
    this.#serverPort = serverPort;
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
    return this.#unplaced(output);
  }

  async #perform(line: string): Promise<string> {
    if (/^(?:\{"|\[\{)/.test(line)) return await this.#ask(line);
    if (/^[A-Z]+ \/\S* HTTP\/1\.1\n/.test(line)) return await this.#request(line);
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
      env: cleanEnvironment(directory),
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

  /** Sends an HTTP request with the length of its body, and returns the status and the body of the answer. */
  async #request(text: string): Promise<string> {
    const [head = "", body = ""] = text.split("\n\n");
    const length =
      body === "" || /content-length/i.test(head) ? "" : `\r\nContent-Length: ${Buffer.byteLength(body)}`;
    const sent = `${head.trimEnd().replaceAll("\n", "\r\n")}${length}\r\nConnection: close\r\n\r\n${body}`;
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
    const placed = text.replaceAll(serverAddress, `127.0.0.1:${this.#serverPort}`);
    return this.#gateway === undefined
      ? placed
      : placed.replaceAll(gatewayAddress, new URL(this.#gateway.url).host);
  }

  #unplaced(text: string): string {
    const own =
      this.#gateway === undefined ? text : text.replaceAll(new URL(this.#gateway.url).host, gatewayAddress);
    const placed = own
      .replaceAll(`127.0.0.1:${this.#serverPort}`, "<server>")
      .replaceAll(gatewayAddress, "<gateway>");
    return withoutRandomness(
      normalize(placed.replaceAll(this.#directory.path, "/home/ada"), this.#directory.path),
      this.#texts,
    )
      .replaceAll("<server>", serverAddress)
      .replaceAll("<gateway>", gatewayAddress)
      .trimEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** Replaces ids, digests and times that differ from run to run. @param known texts whose digests stay */
function withoutRandomness(text: string, known: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "CALL")
    .replace(/\bcall:[0-9a-f]{16}\b/g, (id) => (known.includes(id) ? id : "call:0123456789abcdef"))
    .replace(/\bsha256:[0-9a-f]{64}\b/g, (digest) => (known.includes(digest) ? digest : "sha256:…"))
    .replace(/\bkey [0-9a-f]{12}\b/g, "key …")
    .replace(/"id":"[a-z0-9]+\.[a-z0-9]+\.(?=\d{3}-\d{16}")/g, '"id":"…')
    .replace(/"signature":"[^"]*"/g, '"signature":"…"')
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
