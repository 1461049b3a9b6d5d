/**
 * Clients of the official Python SDK, versions 1 and 2, over each transport: a
 * server that works, one with a malformed definition, one that cannot start, and an
 * API with a tool that is not enabled. `python/install.sh` installs the SDK; without
 * it, the tests of a version are skipped.
 */

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  sampleManifest,
  sampleToolspec,
  type TemporaryDirectory,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

/** The report of `python/client.py`. */
interface Report {
  readonly protocol: string;
  readonly server: string;
  readonly tools: readonly string[];
  readonly calls: readonly CallReport[];
}

interface CallReport {
  readonly text?: string;
  readonly structured?: unknown;
  readonly isError?: boolean;
  readonly error?: { readonly code: number; readonly message: string };
  readonly progress: readonly (readonly [number, number, string])[];
}

type TransportKind = "stdio" | "http" | "sse" | "bridge";

const folder = join(import.meta.dirname, "python");
const cache = join(import.meta.dirname, "../../../../node_modules/.cache/toolcrib-python");

/** The clients: a version of the SDK, and how version 2 negotiates the protocol. */
const clients = [
  { version: "v1", mode: "legacy", protocol: "2025-11-25", transports: ["stdio", "http", "sse", "bridge"] },
  { version: "v2", mode: "legacy", protocol: "2025-11-25", transports: ["stdio", "http", "sse", "bridge"] },
  { version: "v2", mode: "auto", protocol: "2026-07-28", transports: ["stdio", "http", "bridge"] },
] as const;

const malformed = { name: "malformed", inputSchema: { type: "string" } };
const wellFormed = { name: "well_formed", inputSchema: { type: "object" } };

const calls = [
  { name: "works__echo", arguments: { text: "hello" } },
  { name: "works__structured", arguments: { value: 21 } },
  { name: "works__progress", arguments: { steps: 3, delayMs: 20 } },
  { name: "works__fail", arguments: { message: "failed on purpose" } },
  { name: "partly__well_formed", arguments: { a: 1 } },
  { name: "partly__malformed", arguments: {} },
  { name: "works__no_such_tool", arguments: {} },
  { name: "acme__add_repo", arguments: { name: "new" } },
  { name: "down__echo", arguments: { text: "hello" } },
];

describe("clients of the official Python SDK", () => {
  let directory: TemporaryDirectory;
  let gateway: ServedGateway;
  let config: string;

  before(async () => {
    directory = await makeTemporaryDirectory();
    config = writeSetting(directory);
    gateway = await serveGateway(config, directory.join("home"), environment());
    // Afterwards, the state of each server is known: ready, or the reason why it is not.
    await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
  });

  after(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await directory?.[Symbol.asyncDispose]();
  });

  const environment = () => ({
    PATH: process.env["PATH"] ?? "",
    TOOLCRIB_CATALOG: directory.join("catalog"),
  });

  function transportOf(kind: TransportKind): object {
    if (kind === "bridge") {
      const args = [...commandLine, "bridge", "--config", config, "--home", directory.join("home")];
      return { kind: "stdio", command: process.execPath, args, env: environment() };
    }
    if (kind !== "stdio") {
      const url = `${gateway.baseUrl}/${kind === "sse" ? "sse" : "mcp"}`;
      return { kind, url, token: gateway.token };
    }
    const home = directory.join("stdio-home");
    const args = [...commandLine, "serve", "--stdio", "--config", config, "--home", home];
    return { kind, command: process.execPath, args, env: environment() };
  }

  for (const { version, mode, protocol, transports } of clients) {
    const isInstalled = existsSync(join(cache, version, "installed.txt"));
    const skip =
      !isInstalled &&
      `the Python SDK ${version} is not installed, see packages/cli/test/e2e/python/install.sh`;

    for (const kind of transports) {
      it(`Python SDK ${version} over ${kind} (${protocol})`, { skip }, async () => {
        const plan = {
          transport: transportOf(kind),
          mode,
          until: ["works__echo", "partly__well_formed", "acme__get_repo", "search_tools"],
          calls,
        };
        const report = await follow(version, plan);
        assert.equal(report.protocol, protocol);
        assert.equal(report.server, "toolcrib");
        checkList(report.tools);
        checkCalls(report.calls);
      });
    }
  }
});

/** Writes the configuration and the catalogue. Returns the path of the configuration. */
function writeSetting(directory: TemporaryDirectory): string {
  writeFiles(directory.join("catalog"), {
    "manifests/acme/0.1.0.yaml": sampleManifest("acme", { credentials: "" }),
    "toolspecs/acme/0.1.0.yaml": sampleToolspec("acme"),
  });
  const server = (id: string, ...flags: readonly string[]) => ({
    id,
    transport: { kind: "stdio", ...fixtureCommand(echoStdioPath, ...flags) },
    trust_state: "certified",
  });
  const document = {
    tool_servers: [
      server("works"),
      server("partly", "--builtin", "", "--define", JSON.stringify([malformed, wellFormed])),
      server("down", "--die"),
    ],
    toolspecs: [{ name: "acme" }],
  };
  const path = directory.join("toolcrib.yaml");
  writeFileSync(path, JSON.stringify(document));
  return path;
}

async function follow(version: string, plan: object): Promise<Report> {
  const python = join(cache, version, "bin/python");
  const { code, stdout, stderr } = await runProcess(python, [join(folder, "client.py")], {
    stdin: JSON.stringify(plan),
  });
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  return JSON.parse(stdout) as Report;
}

/** The list has the tools of each server that works, and no tool that cannot be called. */
function checkList(tools: readonly string[]): void {
  for (const name of ["works__structured", "acme__list_repos"]) assert.ok(tools.includes(name), name);
  const hidden = tools.filter((name) => /^down__|malformed|add_repo/.test(name));
  assert.deepEqual(hidden, []);
}

function checkCalls(reports: readonly CallReport[]): void {
  const of = (name: string) => {
    const report = reports[calls.findIndex((call) => call.name === name)];
    assert.ok(report, name);
    return report;
  };
  /** Errors of the protocol and results with `isError` both reach the model. */
  const refusalOf = (name: string) => {
    const { error, isError, text } = of(name);
    assert.ok(error !== undefined || isError === true, `${name} is refused`);
    return error?.message ?? text ?? "";
  };
  assert.deepEqual([of("works__echo").text, of("works__echo").isError], ["hello", false]);
  assert.deepEqual(of("works__structured").structured, { value: 21, doubled: 42 });
  assert.deepEqual(
    of("works__progress").progress,
    [1, 2, 3].map((step) => [step, 3, `step ${step}`]),
  );
  assert.deepEqual([of("works__fail").text, of("works__fail").isError], ["failed on purpose", true]);
  assert.deepEqual(JSON.parse(of("partly__well_formed").text ?? ""), { a: 1 });

  // The reason, and the hint what to do.
  assert.match(refusalOf("partly__malformed"), /it is quarantined: "partly:malformed" is malformed/);
  assert.match(refusalOf("works__no_such_tool"), /Unknown tool: "works__no_such_tool"/);
  assert.match(
    refusalOf("acme__add_repo"),
    /it is not enabled; to enable it, write tools: \[default, add_repo\] in the entry "acme"/,
  );
  assert.match(
    refusalOf("down__echo"),
    /the server "down" is not available; its operator sees the reason with toolcrib status/,
  );
}
