/**
 * Changes the switches of the home for a command: through the running gateway, which knows the tools and records the
 * change in its trail, or in the file of the home, which a gateway that starts later reads.
 */

import { randomBytes } from "node:crypto";
import { type Switchable, Switches, type SwitchOutcome } from "@toolcrib/admission";
import { isCodedError, type Logger } from "@toolcrib/diagnostics";
import { isJsonObject } from "@toolcrib/json";
import { findUnmatchedRules } from "@toolcrib/policy";
import { SwitchStore } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { getFromGateway, postToGateway } from "../access/gateway-api.ts";
import { findReachableGateways, installedIds } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { rememberedTools } from "../known-names/remembered-tools.ts";
import { reasonLine } from "../output/output.ts";
import { entriesOf } from "./config-entries.ts";

/** A request to enable or disable servers or tools. */
export interface SwitchRequest {
  readonly kind: "server" | "tool";
  readonly names: readonly string[];
  readonly isEnabled: boolean;
}

/** When a change takes effect: no gateway runs, it reloads by itself, or it has to be restarted. */
export type Effect = "at start" | "soon" | "after a restart";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Switches servers or tools. @throws {CodedError} when nothing was switched */
export async function switchNow(
  context: CliContext,
  { kind, names, isEnabled }: SwitchRequest,
): Promise<SwitchOutcome & { readonly effect: Effect }> {
  const { options, output, signal } = context;
  const [name = "", ...others] = names;
  const also = others.length === 0 ? "" : `?${new URLSearchParams(others.map((one) => ["also", one]))}`;
  const path = `/api/v1/${kind}s/${encodeURIComponent(name)}/${isEnabled ? "enable" : "disable"}${also}`;
  for (const running of await findReachableGateways(options.home)) {
    try {
      const outcome = (await postToGateway(running, path, signal)) as unknown as SwitchOutcome;
      return { ...outcome, effect: (await reloads(running, signal)) ? "soon" : "after a restart" };
    } catch (error) {
      signal.throwIfAborted();
      if (!isCodedError(error) || error.code !== "CLI_GATEWAY_UNUSABLE") throw error;
      output.note(`${output.noteStyle("yellow", "warning")}: ${reasonLine(error.message)}`);
    }
  }
  await using home = await openTrail(context);
  const switchable = await switchableIn(context);
  const switches = new Switches({
    store: new SwitchStore(options.home, { randomBytes }),
    audit: home.audit,
    logger: silent,
    now: context.now,
    switchable: () => switchable,
  });
  return {
    ...(await switches.change({ kind, names, isEnabled }, localIdentity("cli", "cli"))),
    effect: "at start",
  };
}

/** Whether a gateway watches its files: its status then says when it loaded them. */
async function reloads(running: RunningGateway, signal: AbortSignal): Promise<boolean> {
  const status = await getFromGateway(running, "/api/v1/status", signal);
  return isJsonObject(status) && isJsonObject(status["configuration"]);
}

async function switchableIn(context: CliContext): Promise<Switchable> {
  const { config } = await loadConfigOrDefaults(context);
  const entries = [...entriesOf(config), ...config.disabled.packages];
  const packages = await installedIds(context);
  const serverIds = [...new Set([...entries.map(({ id }) => id), ...packages])];
  const remembered = await rememberedTools(context.options.home, [
    ...config.toolServers,
    ...config.disabled.toolServers,
  ]);
  return {
    serverIds,
    offInFiles: entries.flatMap(({ id, isOff }) => (isOff === true ? [id] : [])),
    toolId: (name) => [...remembered.values()].flat().find(({ wireName }) => wireName === name)?.id,
    unmatchedTool(name) {
      const known = {
        namespaces: [...serverIds, "toolcrib", "saved"],
        namesIn: (id: string) => remembered.get(id),
      };
      const [finding] = findUnmatchedRules([name], known);
      if (finding === undefined) return undefined;
      return `no tool matches "${name.slice(0, 256)}"${finding.hint === undefined ? "" : `; ${finding.hint}`}`;
    },
  };
}
