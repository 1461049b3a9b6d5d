/**
 * The state of a gateway as facts with names, and the changes between two of them:
 * one line each, for logs and programs that follow a gateway. Numbers that change
 * with every call are no changes.
 */

import type { GatewayStatus } from "@toolcrib/gateway";
import { counted } from "../output/counted.ts";
import { reasonLine, safeLine } from "../output/output.ts";
import { listedSources } from "../serve/listed-sources.ts";
import type { GatewayView } from "./gateway-view.ts";

/** A fact, for people and for programs. */
export interface StatusFact {
  readonly text: string;
  readonly json: { readonly what: string; readonly [field: string]: unknown };
}

/** Returns the facts of a state by name. */
export function factsOf(view: GatewayView): ReadonlyMap<string, StatusFact> {
  if (view.kind === "absent") {
    const json = { what: "gateway", state: "absent", reason: view.reason };
    return new Map([["gateway", { text: `gateway absent: ${reasonLine(view.reason)}`, json }]]);
  }
  const { running, status, calls } = view.facts;
  const { pid, url } = running;
  const facts = new Map<string, StatusFact>();
  facts.set("gateway", {
    text: `gateway running: ${safeLine(url)}/mcp, process ${pid}`,
    json: { what: "gateway", state: "running", url, pid },
  });
  for (const { id, health, tools, transport } of listedSources(status as unknown as GatewayStatus)) {
    const { state, reason } = health;
    const why = reason === undefined ? "" : `: ${reasonLine(reason)}`;
    const what = transport === "toolspec" || transport === "package" ? transport : "server";
    facts.set(`source ${id}`, {
      text: `${what} ${safeLine(id)} ${state}, ${counted(tools, "tool")}${why}`,
      json: { what, id, state, tools, reason },
    });
  }
  for (const { id, reason } of status.quarantined) {
    facts.set(`quarantined ${id}`, {
      text: `quarantined ${safeLine(id)}: ${reasonLine(reason)}`,
      json: { what: "quarantined", id, reason },
    });
  }
  const configuration = configurationFact(status);
  if (configuration !== undefined) facts.set("configuration", configuration);
  for (const { id, client, tool, outdated } of calls) {
    if (outdated !== undefined) {
      facts.set(`call ${id}`, {
        text: `cannot be approved any more ${safeLine(id)}: ${safeLine(client.name)} wanted to call ${safeLine(tool)}, and ${reasonLine(outdated)}`,
        json: { what: "call", id, client: client.name, tool, state: "outdated", reason: outdated },
      });
      continue;
    }
    facts.set(`call ${id}`, {
      text: `waits for approval ${safeLine(id)}: ${safeLine(client.name)} wants to call ${safeLine(tool)}`,
      json: { what: "call", id, client: client.name, tool, state: "waits for approval" },
    });
  }
  return facts;
}

/** Whether the configuration in the files is in force, and why not. A gateway of an earlier version does not say. */
function configurationFact(status: object): StatusFact | undefined {
  const { configuration } = status as Partial<Pick<GatewayStatus, "configuration">>;
  if (configuration === undefined) return undefined;
  const { loadedAt, lastError, incomplete = [], pendingRestart = [] } = configuration;
  const what = "configuration";
  const problems = [...(lastError === undefined ? [] : [lastError.message]), ...incomplete];
  if (problems.length > 0) {
    const reason = problems.map(reasonLine).join("; ");
    return {
      text: `the changed configuration is not in force: ${reason}`,
      json: { what, state: "not in force", reason, loadedAt },
    };
  }
  if (pendingRestart.length > 0) {
    const parts = pendingRestart.map(safeLine).join(", ");
    return {
      text: `the configuration needs a restart for ${parts}`,
      json: { what, state: "needs a restart", parts: pendingRestart, loadedAt },
    };
  }
  const text = `configuration in force, loaded ${safeLine(String(loadedAt))}`;
  return { text, json: { what, state: "in force", loadedAt } };
}

/** Returns the facts of `next` that `last` does not have, and what is gone. */
export function changesOf(
  last: ReadonlyMap<string, StatusFact>,
  next: ReadonlyMap<string, StatusFact>,
): readonly StatusFact[] {
  const changed = [...next].flatMap(([name, fact]) => (last.get(name)?.text === fact.text ? [] : [fact]));
  // While no gateway runs, nothing is known about its servers.
  const isKnown = next.get("gateway")?.json["state"] === "running";
  const gone = [...last].flatMap(([name, { json }]): StatusFact[] => {
    if (!isKnown || next.has(name)) return [];
    return [{ text: `${json.what} ${safeLine(String(json["id"]))} gone`, json: { ...json, state: "gone" } }];
  });
  return [...changed, ...gone];
}
