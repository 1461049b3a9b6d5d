/**
 * Kills upstream servers and the gateway with SIGKILL while clients make calls. Every call
 * gets one response or a closed connection, calls of other servers do not fail, and no
 * process remains.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type AuditRecord, type AuditStore, openAuditReader } from "@toolcrib/store";
import {
  canFindProcesses,
  echoStdioPath,
  findProcessesByEnvironment,
  fixtureCommand,
  makeTemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

const needsProc = canFindProcesses ? false : "finding processes by their environment needs /proc";
const victims = ["victim-a", "victim-b", "victim-c", "victim-d"];
const steady = ["steady-a", "steady-b"];

function writeConfig(folder: string, mark: string): string {
  const { command, args } = fixtureCommand(echoStdioPath);
  const path = join(folder, "toolcrib.json");
  const servers = [...victims, ...steady].map((id) => ({
    id,
    transport: { kind: "stdio", command, args, env: { TEST_MARK: mark } },
    trust_state: "certified",
  }));
  writeFileSync(
    path,
    JSON.stringify({ tool_servers: servers, serve: { limits: { max_concurrent_calls: 1000 } } }),
  );
  return path;
}

/** A session of raw HTTP calls that counts their outcomes. */
async function openSession(gateway: ServedGateway) {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${gateway.token}`,
  };
  const post = (body: object) =>
    fetch(`${gateway.baseUrl}/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
  const opened = await post({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "kill", version: "1" } },
  });
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") as string;
  await opened.text();
  await (await post({ jsonrpc: "2.0", method: "notifications/initialized" })).text();
  let lastId = 0;
  return async (name: string, args: object) => {
    lastId += 1;
    const id = lastId;
    const response = await post({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: args },
    });
    const text = await response.text();
    const answers = response.headers.get("content-type")?.startsWith("text/event-stream")
      ? [...text.matchAll(/^data: (\{.*)$/gm)].map((match) => JSON.parse(match[1] as string) as Answer)
      : [JSON.parse(text) as Answer];
    const own = answers.filter((answer) => answer.id === id);
    assert.equal(own.length, 1, `call ${id} has ${own.length} answers: ${text.slice(0, 300)}`);
    return own[0] as Answer;
  };
}

interface Answer {
  readonly id?: unknown;
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text?: string }[] };
  readonly error?: { readonly message: string };
}

interface Status {
  readonly callsInFlight: number;
  readonly servers: readonly {
    readonly id: string;
    readonly pid?: number;
    readonly health: { readonly state: string };
  }[];
}

async function statusOf(gateway: ServedGateway): Promise<Status> {
  const response = await fetch(`${gateway.baseUrl}/api/v1/status`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  return (await response.json()) as Status;
}

async function pidOf(gateway: ServedGateway, id: string): Promise<number | undefined> {
  const { servers } = await statusOf(gateway);
  const server = servers.find((one) => one.id === id);
  return server?.health.state === "ready" ? server.pid : undefined;
}

describe("killed processes under load", { skip: needsProc }, () => {
  it("20 killed upstreams: each call is answered once, no other server's call fails, no process remains", async () => {
    await using directory = await makeTemporaryDirectory();
    const mark = randomUUID();
    const counts = { answered: 0, hit: 0 };
    /** Number of successful calls by server. */
    const served = new Map<string, number>();
    {
      await using gateway = await serveGateway(
        writeConfig(directory.path, mark),
        join(directory.path, "home"),
      );
      await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
      let isRunning = true;
      const worker = async (server: string) => {
        const call = await openSession(gateway);
        for (let turn = 0; isRunning; turn += 1) {
          const text = `${server} ${turn}`;
          const [tool, args] = turn % 2 === 0 ? ["echo", { text }] : ["sleep", { ms: 15 }];
          const answer = await call(`${server}__${tool}`, args as object);
          counts.answered += 1;
          if (steady.includes(server)) {
            assert.notEqual(answer.result?.isError, true, JSON.stringify(answer));
            assert.equal(answer.error, undefined, JSON.stringify(answer));
          }
          if (answer.result?.isError === true) {
            counts.hit += 1;
            assert.match(JSON.stringify(answer), /ended before it answered|not available/);
            // A client waits before it tries again.
            await new Promise((resolve) => setTimeout(resolve, 20));
            continue;
          }
          served.set(server, (served.get(server) ?? 0) + 1);
          if (tool === "echo") assert.equal(answer.result?.content[0]?.text, text);
        }
      };
      const workers = [...victims, ...victims, ...steady, ...steady].map(worker);
      const killer = async (server: string) => {
        for (let kill = 0; kill < 5; kill += 1) {
          await waitUntil(async () => (await pidOf(gateway, server)) !== undefined);
          const pid = await pidOf(gateway, server);
          const before = served.get(server) ?? 0;
          await waitUntil(() => (served.get(server) ?? 0) > before + 4, { what: `${server} is called` });
          process.kill(pid as number, "SIGKILL");
          await waitUntil(async () => (await pidOf(gateway, server)) !== pid);
        }
      };
      await Promise.all(victims.map(killer));
      isRunning = false;
      await Promise.all(workers);
      assert.ok(counts.hit > 0, "no call was in flight at any kill");
    }
    await waitUntil(async () => findProcessesByEnvironment(`TEST_MARK=${mark}`).length === 0);
  });

  it("5 killed gateways: each call is answered or its connection closed, and no server outlives its gateway", async () => {
    await using directory = await makeTemporaryDirectory();
    for (let round = 0; round < 5; round += 1) {
      const mark = randomUUID();
      const gateway = await serveGateway(writeConfig(directory.path, mark), join(directory.path, "home"));
      await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
      const call = await openSession(gateway);
      await call("victim-a__spawn_child", {});
      const outcomes: Promise<"answered" | "closed">[] = [];
      for (let at = 0; at < 40; at += 1) {
        const [tool, args] = at % 2 === 0 ? ["echo", { text: "x" }] : ["sleep", { ms: 60_000 }];
        outcomes.push(
          call(`${steady[at % 4 < 2 ? 0 : 1]}__${tool}`, args as object).then(
            () => "answered" as const,
            () => "closed" as const,
          ),
        );
      }
      await waitUntil(async () => (await statusOf(gateway)).callsInFlight >= 20, {
        what: "the calls that sleep are in flight",
      });
      process.kill(gateway.process.pid, "SIGKILL");
      const settled = await Promise.all(outcomes);
      // The 20 calls of `sleep` cannot have been answered; the number of others depends on the machine.
      assert.ok(settled.filter((outcome) => outcome === "closed").length >= 20);
      await waitUntil(async () => findProcessesByEnvironment(`TEST_MARK=${mark}`).length === 0);
      await gateway[Symbol.asyncDispose]();
    }
    // The next start completes what the killed gateways left, and only that.
    const home = join(directory.path, "home");
    await using _next = await serveGateway(writeConfig(directory.path, randomUUID()), home);
    await using reader = await openAuditReader({ home });
    await waitUntil(async () => (await unfinishedCalls(reader)).length === 0);
    const sleeping = await reader.list({ type: "call.intent", tool: "*:sleep", limit: 1000 });
    const unknown = await reader.list({ outcome: "unknown", tool: "*:sleep", limit: 1000 });
    assert.ok(sleeping.length > 0);
    assert.deepEqual(unknown.map(callIdOf).sort(), sleeping.map(callIdOf).sort());
  });
});

/** Ids of the calls that have an intent and no completion. */
async function unfinishedCalls(reader: Pick<AuditStore, "list">): Promise<readonly string[]> {
  const [intents, completions] = await Promise.all([
    reader.list({ type: "call.intent", limit: 1000 }),
    reader.list({ type: "call.completed", limit: 1000 }),
  ]);
  const completed = new Set(completions.map(callIdOf));
  return intents.map(callIdOf).filter((callId) => !completed.has(callId));
}

function callIdOf({ data }: AuditRecord): string {
  return "callId" in data ? (data.callId ?? "") : "";
}
