/** Sources of one tool each, with a service on loopback. */

import assert from "node:assert/strict";
import type { JsonObject } from "@toolcrib/json";
import { clientCall } from "@toolcrib/testing";
import type { CallContext, ToolResult, ToolSource } from "@toolcrib/tool";
import { createToolpackSource } from "@toolcrib/toolpack";
import { type Manifest, parseManifest, parseToolspec, type Toolspec } from "@toolcrib/toolspec";
import type { LoopbackApi } from "./loopback-api.ts";

/** Returns a manifest of the sealed tier; `credentials` are lines of YAML. */
export function manifestOf(
  tools: readonly string[] = ["call"],
  credentials = '  - {id: key, type: api_key, inject: {header: Authorization, format: "Bearer {token}"}}',
): Manifest {
  const text = `schemaVersion: 2
name: demo
version: 0.1.0
source: {repo: github.com/example/demo, tag: v0.1.0}
image: {ref: ghcr.io/example/demo, digest: "sha256:${"0a".repeat(32)}", entrypoint: /app/server, builder: toolpack}
tier: sealed
category: dev-tools
entitlements: {egress: [api.example.com, other.example.com]}
${credentials === "" ? "" : `credentials:\n${credentials}\n`}tools:
${tools.map((name) => `  - {name: ${name}, default: true}`).join("\n")}
`;
  const { value, diagnostics } = parseManifest({ name: "manifest.yaml", text });
  assert.ok(value, diagnostics.map(({ message }) => message).join("; "));
  return value;
}

/** Returns a toolspec with one tool `call` that has these lines. */
export function toolspecOf(
  lines: string,
  version: 1 | 2 = 2,
  top = "baseUrl: https://api.example.com\n",
): Toolspec {
  const text = `schemaVersion: ${version}
name: demo
version: 0.1.0
${top}tools:
  - name: call
    description: Call it
${lines.replace(/^/gm, "    ")}
`;
  const { value, diagnostics } = parseToolspec({ name: "toolspec.yaml", text });
  assert.ok(value, diagnostics.map(({ message }) => message).join("; "));
  return value;
}

/** A source, and its recorded waits. */
export interface Bench {
  readonly source: ToolSource;
  /** Milliseconds of each sleep; the clock advances by them. */
  readonly slept: readonly number[];
  call(args: object, context?: Partial<CallContext>): Promise<ToolResult>;
}

/** The initial time of every clock here, in milliseconds since the epoch. */
export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Creates the source of `toolspec` over `api`, with a clock that only sleeping advances. */
export function createBench(
  toolspec: Toolspec,
  api: Pick<LoopbackApi, "send">,
  settings: Partial<Parameters<typeof createToolpackSource>[0]> = {},
): Bench {
  const slept: number[] = [];
  let clock = startedAt;
  const deps: Parameters<typeof createToolpackSource>[1] = {
    send: api.send,
    now: () => clock,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      slept.push(ms);
      clock += ms;
    },
    random: () => 0.5,
    version: "1.2.3",
  };
  const source = createToolpackSource(
    { manifest: manifestOf(), toolspec, tokenOf: (id) => `<${id}>`, ...settings },
    deps,
  );
  return {
    source,
    slept,
    async call(args, context = {}) {
      const [tool] = source.tools();
      assert.ok(tool);
      return source.call(tool, args as JsonObject, clientCall(context));
    },
  };
}

/** Returns the texts of a result. */
export function textsOf({ content }: ToolResult): readonly unknown[] {
  return content.map((block) => block["text"] ?? block);
}
