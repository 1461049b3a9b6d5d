/**
 * Runs the two commands of the page about supergateway with the pinned packages: npx finds them in the folder in which
 * it is started, and is offline. The first must offer the tools of its server over HTTP, and the second those of the
 * gateway, whose address and token take the place of the ones on the page, over its standard streams.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The commands, and what they need. */
export interface SupergatewayCase {
  /** As the page has them. */
  readonly lines: readonly string[];
  /** Where the packages are installed. */
  readonly folder: string;
  readonly work: string;
  readonly env: { readonly [name: string]: string };
  readonly gateway: { readonly url: string; readonly token: string };
}

/** Milliseconds for the first answer of a bridge. */
const startMs = 60_000;

/** Runs both. */
export async function runSupergateway({
  lines,
  folder,
  work,
  env,
  gateway,
}: SupergatewayCase): Promise<void> {
  const [overHttp, overStdio, ...others] = lines;
  assert.ok(overHttp !== undefined && overStdio !== undefined && others.length === 0, lines.join("\n"));
  symlinkSync(folder, join(work, "node_modules"));
  mkdirSync(join(work, "my-folder"));
  const offline = { ...env, npm_config_offline: "true", npm_config_update_notifier: "false" };

  const child = spawn("sh", ["-c", overHttp], { cwd: work, env: offline, stdio: "ignore", detached: true });
  try {
    const port = /--port (\d+)/.exec(overHttp)?.[1];
    const names = await untilListening(() =>
      toolsOf(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`))),
    );
    assert.ok(names.includes("read_text_file"), names.join(", "));
  } finally {
    const ended = once(child, "exit");
    if (child.exitCode === null) {
      // Its shell, npx and the bridge are one group.
      process.kill(-child.pid!, "SIGTERM");
      await ended;
    }
  }

  const line = overStdio.replace("https://mcp.example.com/mcp", gateway.url);
  assert.notEqual(line, overStdio);
  const command = line.replace("some-access-token", gateway.token);
  assert.notEqual(command, line);
  const names = await toolsOf(
    new StdioClientTransport({
      command: "sh",
      args: ["-c", `exec ${command}`],
      cwd: work,
      env: offline,
      stderr: "ignore",
    }),
  );
  assert.ok(names.includes("echo__echo"), names.join(", "));
}

async function untilListening<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + startMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await delay(500);
    }
  }
}

/** The names of all tools. */
async function toolsOf(transport: Parameters<Client["connect"]>[0]): Promise<readonly string[]> {
  const client = new Client({ name: "verify", version: "1.0.0" });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    return tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}
