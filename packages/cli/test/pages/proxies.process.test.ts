/**
 * The configurations of nginx and Caddy on the page about deployment, in the programs themselves: a client gets through
 * with its token, the paths of operators are closed, and bodies have their limit. Ports, certificates and the folders of
 * the program are those of the test.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { delimiter } from "node:path";
import { test } from "node:test";
import {
  createTestAuthority,
  freePort,
  makeTemporaryDirectory,
  runProcess,
  type TemporaryDirectory,
  type TestCertificate,
  waitUntil,
} from "@toolcrib/testing";
import { startServe } from "../transcript.ts";
import { readPage } from "./page-steps.ts";

const host = "tools.example.com";
const page = readPage("operations/deployment.md");
const blockOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? assert.fail(language);

/** Where programs of a system are, which a PATH of a test may not have. */
const path = [process.env["PATH"], "/usr/sbin"].join(delimiter);

/** Where a proxy listens, what it passes requests to, and the certificate that it has. */
interface Ports {
  readonly port: number;
  readonly gateway: string;
}

/** The version of a program; undefined where it is not installed. */
async function versionOf(program: string, ...args: readonly string[]): Promise<string | undefined> {
  const { code, stdout, stderr } = await runProcess("sh", ["-c", `${program} ${args.join(" ")}`], {
    env: { PATH: path },
  });
  return code === 0 ? /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] : undefined;
}

function writeCertificate(directory: TemporaryDirectory, { certificate, key }: TestCertificate): void {
  writeFileSync(directory.join("tls.pem"), certificate);
  writeFileSync(directory.join("tls.key"), key, { mode: 0o600 });
}

const programs = {
  nginx: {
    version: () => versionOf("nginx", "-v"),
    /** Returns the words that start it. */
    write(directory: TemporaryDirectory, { port, gateway }: Ports, version: string): readonly string[] {
      const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
      const isOld = major === 1 && (minor < 25 || (minor === 25 && patch < 1));
      const own = blockOf("nginx")
        .replace("listen 443 ssl;", isOld ? `listen ${port} ssl http2;` : `listen ${port} ssl;`)
        .replace("    http2 on;\n", isOld ? "" : "    http2 on;\n")
        .replaceAll("/etc/ssl/tools.example.com.pem", directory.join("tls.pem"))
        .replaceAll("/etc/ssl/tools.example.com.key", directory.join("tls.key"))
        .replaceAll("http://127.0.0.1:7420", gateway);
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${directory.join(name)};`,
      );
      const text = [
        `pid ${directory.join("nginx.pid")};`,
        `error_log ${directory.join("error.log")};`,
        "daemon off;",
        "worker_processes 1;",
        "events {}",
        `http {\naccess_log off;\n${folders.join("\n")}\n${own}}`,
      ].join("\n");
      writeFileSync(directory.join("nginx.conf"), text);
      return ["nginx", "-e", directory.join("error.log"), "-c", directory.join("nginx.conf")];
    },
  },
  caddy: {
    version: () => versionOf("caddy", "version"),
    write(directory: TemporaryDirectory, { port, gateway }: Ports): readonly string[] {
      const tls = `tls ${directory.join("tls.pem")} ${directory.join("tls.key")}`;
      const own = blockOf("caddyfile")
        .replace(`${host} {`, `https://${host}:${port} {\n    ${tls}`)
        .replaceAll("127.0.0.1:7420", new URL(gateway).host);
      writeFileSync(
        directory.join("Caddyfile"),
        `{\n    admin off\n    auto_https disable_redirects\n}\n${own}`,
      );
      return ["caddy", "run", "--adapter", "caddyfile", "--config", directory.join("Caddyfile")];
    },
  },
} as const;

for (const [name, { version, write }] of Object.entries(programs))
  test(`${name} passes what the page says`, async (context) => {
    const found = await version();
    if (found === undefined) return context.skip(`${name} is not installed`);
    await using directory = await makeTemporaryDirectory();
    const authority = createTestAuthority();
    writeCertificate(directory, authority.sign({ hosts: [host] }));
    const config = /```yaml toolcrib\.yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
    writeFileSync(directory.join("toolcrib.yaml"), config);
    await using gateway = await startServe(["--listen", "127.0.0.1:0"], { directory: directory.path });
    const ports = { port: await freePort(), gateway: gateway.url };
    mkdirSync(directory.join("data"));
    const [program = "", ...args] = write(directory, ports, found);
    const child = spawn(program, args, {
      env: { PATH: path, HOME: directory.path, XDG_DATA_HOME: directory.join("data") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const agent = new Agent({ ca: authority.certificate, servername: host });
    try {
      await use(child, agent, ports.port, directory);
    } finally {
      agent.destroy();
      if (child.exitCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        await ended;
      }
      child.stderr?.destroy();
    }
  });

async function use(
  child: ChildProcess,
  agent: Agent,
  port: number,
  directory: TemporaryDirectory,
): Promise<void> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ask = (target: string, headers: object = {}, body = "") =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, path: target, agent, method: body === "" ? "GET" : "POST" };
      const sent = request({ ...options, headers: { host, ...headers } }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  await waitUntil(async () => {
    assert.equal(child.exitCode, null, errors);
    return await ask("/healthz").then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  const token = readFileSync(directory.join(".toolcrib/tokens/default"), "utf8").trim();
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const initialize = (padding: string) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1", title: padding },
      },
    });
  assert.equal((await ask("/mcp", {}, initialize(""))).status, 401);
  assert.match((await ask("/mcp", headers, initialize(""))).text, /"serverInfo":\{"name":"toolcrib"/);
  // Within the limit of the gateway, which is four mebibytes.
  const status = async (bytes: number) => (await ask("/mcp", headers, initialize("x".repeat(bytes)))).status;
  assert.notEqual(await status(4_100_000), 413);
  // From outside of 10.0.0.0/8.
  for (const target of ["/metrics", "/api/v1/tools"])
    assert.equal((await ask(target, headers)).status, 403, target);
}
