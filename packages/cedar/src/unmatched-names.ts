/**
 * Finds names in policies that no configured server has, which are most often
 * misspelled: a `forbid` about such a server forbids nothing. A finding never says that
 * a policy is wrong: what it names can exist later.
 */

import { type Diagnostic, nearestName } from "@toolcrib/diagnostics";
import type { ParsedPolicies, Policy } from "./parse-policies.ts";
import { readsOf } from "./policy-reads.ts";
import { toUid } from "./policy-scope.ts";
import { entityPlace, valuePlace } from "./policy-tokens.ts";
import { labelsReadBy } from "./unknown-values.ts";

/** The names that policies can refer to. */
export interface KnownEntities {
  readonly servers: readonly string[];
  readonly roles: readonly string[];
  /** Names of local clients; `undefined` where they are not known. */
  readonly clients: readonly string[] | undefined;
  /** Labels of data (`data_labels`) of all sources; `undefined` where they are not known. */
  readonly labels: readonly string[] | undefined;
  /** Returns the names of the tools of a server, without its id; `undefined` where they are not known. */
  readonly toolsOf: (server: string) => readonly string[] | undefined;
}

/**
 * Returns a finding for each name in a policy that nothing has: an error for the id of a tool in a form that no tool
 * has (a pattern, a name on the wire), and a warning for an unknown server, tool, label, role or client.
 */
export function findUnmatchedNames(
  { policies }: ParsedPolicies,
  known: KnownEntities,
): readonly Diagnostic[] {
  return policies.flatMap((policy) => [
    ...unmatchedServers(policy, known.servers),
    ...malformedTools(policy),
    ...unmatchedTools(policy, known),
    ...unmatchedLabels(policy, known),
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

function unmatchedTools(policy: Policy, { servers, toolsOf }: KnownEntities): readonly Diagnostic[] {
  const { name, source } = policy;
  return targetsNamedBy(policy).flatMap(({ type, id }): readonly Diagnostic[] => {
    const server = serverOf(`${type} ${id}`);
    if (type !== "Tool" || server === undefined || !servers.includes(server)) return [];
    const own = id.slice(server.length + 1);
    const tools = toolsOf(server);
    if (tools === undefined || tools.some((one) => own === one || own.startsWith(`${one}:`))) return [];
    const near = nearestName(own, tools);
    return [
      {
        severity: "warning",
        code: "CEDAR_UNMATCHED",
        message: `The policy "${name}" names the tool "${id}", and "${server}" has no tool of this name`,
        hint:
          near === undefined
            ? "correct it, or keep it if the tool is added later"
            : `did you mean "${server}:${near}"?`,
        source,
        span: entityPlace(policy, "Tool", id),
      },
    ];
  });
}

function unmatchedLabels(policy: Policy, { labels }: KnownEntities): readonly Diagnostic[] {
  if (labels === undefined) return [];
  const { name, json, source } = policy;
  const unknown = labelsReadBy(json).filter(({ label }) => !labels.includes(label));
  return unknown.map(({ attribute, label }): Diagnostic => {
    const near = nearestName(label, labels);
    return {
      severity: "warning",
      code: "CEDAR_UNMATCHED",
      message: `The policy "${name}" asks for the label "${label}", and no tool server and no toolspec has it in data_labels`,
      hint:
        near === undefined
          ? `correct it, or add it to a source: data_labels: [${JSON.stringify(label)}]`
          : `did you mean "${near}"?`,
      source,
      span: valuePlace(policy, attribute, label),
    };
  });
}

/** Returns the tools, resources, prompts and servers that a policy names. */
export function targetsNamedBy({
  json,
}: Pick<Policy, "json">): readonly { readonly type: string; readonly id: string }[] {
  return [...readsOf([json]).named].map((uid) => {
    const at = uid.indexOf(" ");
    return { type: uid.slice(0, at), id: uid.slice(at + 1) };
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
