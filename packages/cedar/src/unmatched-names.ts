/**
 * Finds names in policies that no configured server has, which are most often
 * misspelled: a `forbid` about such a server forbids nothing. A finding never says that
 * a policy is wrong: what it names can exist later.
 */

import { type Diagnostic, nearestName } from "@toolcrib/diagnostics";
import type { ParsedPolicies, Policy } from "./parse-policies.ts";
import { readsOf } from "./policy-reads.ts";
import { toUid } from "./policy-scope.ts";
import { entityPlace } from "./policy-tokens.ts";

/** The names that policies can refer to. */
export interface KnownEntities {
  readonly servers: readonly string[];
  readonly roles: readonly string[];
  /** Names of local clients; `undefined` where they are not known. */
  readonly clients: readonly string[] | undefined;
}

/**
 * Returns a finding for each name in a policy that nothing has: an error for the id of a tool in a form that no tool
 * has (a pattern, a name on the wire), and a warning for an unknown server, role or client.
 */
export function findUnmatchedNames(
  { policies }: ParsedPolicies,
  known: KnownEntities,
): readonly Diagnostic[] {
  return policies.flatMap((policy) => [
    ...unmatchedServers(policy, known.servers),
    ...malformedTools(policy),
    ...unmatchedPrincipals(policy, known),
  ]);
}

/** Ids of tools that only lists of patterns allow. */
function malformedTools(policy: Policy): readonly Diagnostic[] {
  const { name, json, source } = policy;
  const ids = [...readsOf([json]).named].filter((uid) => uid.startsWith("Tool ")).map((uid) => uid.slice(5));
  return ids.flatMap((id): readonly Diagnostic[] => {
    if (!isMalformed(id)) return [];
    const span = entityPlace(policy, "Tool", id);
    const shared = { severity: "error", code: "CEDAR_TOOL_ID", source, span } as const;
    if (/[*?]/.test(id)) {
      const message = `The policy "${name}" names the tool "${id}", and the id of a tool is no pattern`;
      return [{ ...shared, message, hint: 'compare the name: resource.name like "write_*"' }];
    }
    const message = `The policy "${name}" names the tool "${id}", which is a name on the wire and no id`;
    return [{ ...shared, message, hint: `did you mean Tool::"${id.replace("__", ":")}"?` }];
  });
}

/** Whether no tool can have the id `id`: it is a pattern, or a name on the wire. */
function isMalformed(id: string): boolean {
  return /[*?]/.test(id) || (!id.includes(":") && id.includes("__"));
}

function unmatchedPrincipals(policy: Policy, { roles, clients }: KnownEntities): readonly Diagnostic[] {
  const { name, json, source } = policy;
  const { principal } = json;
  if (!("entity" in principal)) return [];
  const { type, id } = toUid(principal.entity);
  const names = type === "Role" ? roles : type === "Client" && !id.includes(" ") ? clients : undefined;
  if (names === undefined || names.includes(id)) return [];
  const near = nearestName(id, names);
  const what = type === "Role" ? "no client has this role" : "no client has this name";
  return [
    {
      severity: "warning",
      code: "CEDAR_UNMATCHED",
      message: `The policy "${name}" is about ${type}::"${id}", and ${what}`,
      hint: near === undefined ? "correct it, or keep it if it is added later" : `did you mean "${near}"?`,
      source,
      span: entityPlace(policy, type, id),
    },
  ];
}

function unmatchedServers(policy: Policy, serverIds: readonly string[]): readonly Diagnostic[] {
  const { name, json, source } = policy;
  const named = new Map<string, string>();
  for (const uid of readsOf([json]).named) {
    const server = serverOf(uid);
    if (server !== undefined && !serverIds.includes(server) && !named.has(server)) named.set(server, uid);
  }
  return [...named].map(([id, uid]): Diagnostic => {
    const near = nearestName(id, serverIds);
    const at = uid.indexOf(" ");
    return {
      severity: "warning",
      code: "CEDAR_UNMATCHED",
      message: `The policy "${name}" names "${id}", and no tool server and no toolspec has this id`,
      hint:
        near === undefined
          ? "correct it, or keep it if the server is added later"
          : `did you mean "${near}"?`,
      source,
      span: entityPlace(policy, uid.slice(0, at), uid.slice(at + 1)),
    };
  });
}

/** Returns the server that an entity (`type id`) is or belongs to; undefined for other entities, and for ids that are errors. */
function serverOf(uid: string): string | undefined {
  const at = uid.indexOf(" ");
  const [type, id] = [uid.slice(0, at), uid.slice(at + 1)];
  if (type === "ToolServer") return id;
  if (type === "Tool" && isMalformed(id)) return undefined;
  return type === "Tool" || type === "Resource" || type === "Prompt" ? id.split(":")[0] : undefined;
}
