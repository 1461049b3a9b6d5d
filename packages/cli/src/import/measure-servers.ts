/**
 * Starts servers that are not in the configuration yet, each contained and in a home of its own that is removed
 * afterwards, and counts what their lists of tools cost. Nothing of it approves a definition.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@toolcrib/config";
import { messageOf } from "@toolcrib/diagnostics";
import { estimateTokens } from "@toolcrib/discovery";
import { secretVariable } from "@toolcrib/secrets";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { reasonLine } from "../output/output.ts";
import type { PlannedServer } from "./import-types.ts";

const operator = localIdentity("cli", "cli");

/** The result of a start. */
export type Measured =
  | { readonly kind: "measured"; readonly tools: number; readonly tokens: number }
  | { readonly kind: "failed"; readonly reason: string };

/** Starts one server after the other. @returns by id */
export async function measureServers(
  context: CliContext,
  servers: readonly PlannedServer[],
): Promise<ReadonlyMap<string, Measured>> {
  const measured = new Map<string, Measured>();
  for (const server of servers) {
    context.signal.throwIfAborted();
    context.output.note(`Starting ${server.id} …`);
    measured.set(server.id, await measure(context, server));
  }
  return measured;
}

async function measure(context: CliContext, { id, entry, secrets }: PlannedServer): Promise<Measured> {
  const home = await mkdtemp(join(tmpdir(), "toolcrib-measure-"));
  try {
    const missing = secrets.find(({ value }) => value === undefined);
    if (missing !== undefined) return { kind: "failed", reason: `it needs the secret ${missing.name}` };
    // The list of tools alone is wanted: that this home pins them at once approves nothing in the home of the user.
    const text = JSON.stringify({ tool_servers: [{ ...entry, first_contact: "pin" }] });
    const values = secrets.map(({ name, value }) => [secretVariable(name), value] as const);
    const inner: CliContext = {
      ...context,
      env: { ...context.env, ...Object.fromEntries(values) },
      options: { ...context.options, home },
    };
    const { value: config } = await loadConfig([], toLoadConfigDeps(inner), {
      overrides: [{ name: "import", text }],
    });
    if (config === undefined) return { kind: "failed", reason: "its entry is not valid" };
    const { egress, sandbox } = (await loadConfigOrDefaults(context)).config;
    const loaded = { config: { ...config, egress, sandbox }, files: [], warnings: [] };
    const { startLocalGateway } = await import("../access/local-tools.ts");
    await using gateway = await startLocalGateway(inner, loaded, createCommandLogger(inner, "silent"), id);
    const status = gateway.sources().servers.find((one) => one.id === id);
    if (status?.health.state !== "ready") {
      return { kind: "failed", reason: reasonLine(status?.health.reason ?? "it did not start in time") };
    }
    const tools = gateway.listTools(operator).filter(({ namespace }) => namespace === id);
    const definitions = tools.map((tool) => ({
      ...gateway.describe(operator, tool.id)?.definition,
      name: tool.wireName,
    }));
    const tokens = definitions.reduce((sum, one) => sum + estimateTokens(JSON.stringify(one)), 0);
    return { kind: "measured", tools: tools.length, tokens };
  } catch (error) {
    context.signal.throwIfAborted();
    return { kind: "failed", reason: reasonLine(messageOf(error)) };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
