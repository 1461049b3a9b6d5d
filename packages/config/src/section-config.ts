/**
 * Translates the sections other than `tool_servers` to the types of the parsed
 * configuration, and fills in their defaults. No other file does.
 */

import assert from "node:assert/strict";
import type { PolicyFile } from "@toolcrib/cedar";
import type { PolicyConfig, PolicyFloor, PolicyRules, ServeConfig } from "./config-types.ts";
import { toListConfig, toProfileRules } from "./discovery-shape.ts";
import type { ConfigDocument } from "./document-shape.ts";
import type { PolicyDocument } from "./policy-shape.ts";
import { toServeOAuth } from "./serve-auth-shape.ts";
import { parseListen, type ServeDocument, serveDefaults } from "./serve-shape.ts";

/** @param files the files of `policy.files` that were read, by their paths */
export function toPolicyConfig(
  document: PolicyDocument | undefined,
  floor: PolicyFloor,
  profiles: ConfigDocument["profiles"],
  files: ReadonlyMap<string, PolicyFile>,
): PolicyConfig {
  const clients = Object.entries(document?.clients ?? {}).map(
    ([name, { identity, approvals, roles, labels, profile, ...rules }]) => {
      const own = {
        ...toRules(rules),
        ...(profile === undefined ? {} : { profile }),
        ...(roles === undefined ? {} : { roles }),
        ...(labels === undefined ? {} : { labels }),
        ...(approvals?.elicitation === true ? { approvesByElicitation: true } : {}),
      };
      return [name, identity === undefined ? own : { ...own, identity }] as const;
    },
  );
  return {
    ...toRules(document),
    clients: Object.fromEntries(clients),
    waiveApproval: document?.waive_approval ?? [],
    files: (document?.files ?? []).map((path) => files.get(path) ?? { path, name: path, text: undefined }),
    floor,
    ...toProfileRules(profiles),
  };
}

function toRules(document: Pick<PolicyDocument, "allow" | "deny"> | undefined): PolicyRules {
  return { allow: document?.allow, deny: document?.deny ?? [] };
}

export function toServeConfig(document: ServeDocument | undefined): ServeConfig {
  const { limits } = document ?? {};
  const listen = parseListen(document?.listen ?? serveDefaults.listen);
  assert(listen !== undefined, "serve.listen was checked");
  return {
    listen,
    auth: typeof document?.auth === "string" ? document.auth : serveDefaults.auth,
    ...(typeof document?.auth === "object" ? { oauth: toServeOAuth(document.auth) } : {}),
    mode: document?.mode ?? serveDefaults.mode,
    listWaitSeconds: document?.list_wait_seconds ?? serveDefaults.listWaitSeconds,
    sharesHome: document?.shared_home ?? true,
    list: toListConfig(document?.list),
    results: { tokenBudget: document?.results?.token_budget },
    tools: { hidden: document?.tools?.hidden ?? [], pinned: document?.tools?.pinned ?? [] },
    allowedHosts: document?.allowed_hosts ?? [],
    allowedOrigins: document?.allowed_origins ?? [],
    limits: {
      bodyMaxBytes: limits?.body_max_bytes ?? serveDefaults.bodyMaxBytes,
      resultMaxBytes: limits?.result_max_bytes ?? serveDefaults.resultMaxBytes,
      maxSessions: limits?.max_sessions ?? serveDefaults.maxSessions,
      sessionIdleSeconds: limits?.session_idle_seconds ?? serveDefaults.sessionIdleSeconds,
      maxConcurrentCalls: limits?.max_concurrent_calls ?? serveDefaults.maxConcurrentCalls,
      maxCallsPerServer: limits?.max_calls_per_server ?? serveDefaults.maxCallsPerServer,
      maxQueuedCallsPerServer: limits?.max_queued_calls_per_server ?? serveDefaults.maxQueuedCallsPerServer,
      maxTasks: limits?.max_tasks ?? serveDefaults.maxTasks,
      taskResultsMaxBytes: limits?.task_results_max_bytes ?? serveDefaults.taskResultsMaxBytes,
      taskTtlSeconds: limits?.task_ttl_seconds ?? serveDefaults.taskTtlSeconds,
      taskTtlMaxSeconds: limits?.task_ttl_max_seconds ?? serveDefaults.taskTtlMaxSeconds,
    },
  };
}
