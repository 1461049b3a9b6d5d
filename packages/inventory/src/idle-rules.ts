/**
 * Rules of the policy and its files, of redaction, of limits and of hooks that name a tool or prompt which a running server does not
 * have. Only servers that are ready are compared: the lists of the others are not
 * known. Findings about the configuration alone are those of `@toolcrib/config`.
 */

import type { Logger } from "@toolcrib/diagnostics";
import { findUnmatchedRules, type KnownName, ruleListsOf } from "@toolcrib/policy";
import { ownNamespace, savedNamespace } from "@toolcrib/tool";
import { featureSubject } from "./access-subject.ts";
import type { RosterEntry, SourceRoster } from "./source-roster.ts";
import type { ToolIndex } from "./tool-index.ts";

/** A rule without effect at the moment. */
export interface IdleRule {
  /** Its place in the configuration, such as `policy.deny[0]`, or a policy of a file, such as `main.cedar#2`. */
  readonly path: string;
  readonly pattern: string;
  readonly reason: string;
  readonly hint?: string | undefined;
}

interface ToolRule {
  readonly tools: readonly string[] | undefined;
}

/** The sections of a configuration that have rules about tools. */
export interface RuleSections {
  readonly policy: Parameters<typeof ruleListsOf>[0];
  readonly audit: { readonly redact: readonly { readonly tool: string }[] };
  readonly guards: {
    readonly rules: readonly ToolRule[];
    readonly costs: readonly { readonly pattern: string }[];
  };
  readonly hooks: { readonly before: readonly ToolRule[]; readonly after: readonly ToolRule[] };
}

/**
 * Returns the rules of the configuration that match no tool or prompt of the servers that they name.
 *
 * @param policies ids of the tools and prompts that each policy of the policy files names
 */
export function findIdleRules(
  { policy, audit, guards, hooks }: RuleSections,
  index: Pick<ToolIndex, "tools" | "quarantined">,
  roster: Pick<SourceRoster, "entries">,
  policies: readonly { readonly rule: string; readonly ids: readonly string[] }[] = [],
): readonly IdleRule[] {
  const servers = new Map(
    roster.entries
      .filter(({ facts }) => facts.configured !== undefined)
      .map((entry) => [entry.id, entry] as const),
  );
  const tools = Map.groupBy([...index.tools, ...index.quarantined], ({ id }) => id.slice(0, id.indexOf(":")));
  const known = {
    namespaces: [...servers.keys(), ownNamespace, savedNamespace],
    namesIn(namespace: string): readonly KnownName[] | undefined {
      const server = servers.get(namespace);
      if (server !== undefined && !isComplete(server)) return undefined;
      return [...(tools.get(namespace) ?? []), ...promptsOf(server)];
    },
  };
  const redactions = { path: ["audit", "redact"], patterns: audit.redact.map(({ tool }) => tool) };
  const listsOf = (path: string, items: readonly ToolRule[]): ReturnType<typeof ruleListsOf> =>
    items.map(({ tools: patterns = [] }, at) => ({ path: [`${path}[${at}]`, "tools"], patterns }));
  const lists = [
    ...ruleListsOf(policy),
    redactions,
    ...listsOf("guards.limits", guards.rules),
    { path: ["guards", "costs"], patterns: guards.costs.map(({ pattern }) => pattern) },
    ...listsOf("hooks.before_call", hooks.before),
    ...listsOf("hooks.after_call", hooks.after),
  ];
  const idle = (patterns: readonly string[], pathOf: (at: number) => string) =>
    findUnmatchedRules(patterns, known)
      .filter(({ kind }) => kind === "name")
      .map(({ index: at, pattern, reason, hint }) => ({ path: pathOf(at), pattern, reason, hint }));
  return [
    ...lists.flatMap(({ path, patterns }) => idle(patterns, (at) => `${path.join(".")}[${at}]`)),
    ...policies.flatMap(({ rule, ids }) => idle(ids, () => rule)),
  ];
}

/** Writes `rules` to the program log. */
export function warnAboutIdleRules(logger: Logger, rules: readonly IdleRule[]): void {
  for (const { path, pattern, reason, hint } of rules) {
    logger.warn({ rule: path, pattern, reason, hint }, "rule matches nothing known");
  }
}

/** Whether the lists of a source are complete. A toolspec was compared when the configuration was read. */
function isComplete({ source, facts }: RosterEntry): boolean {
  return facts.configured?.group === "servers" && source.health().state === "ready";
}

function promptsOf(entry: RosterEntry | undefined): readonly KnownName[] {
  if (entry === undefined) return [];
  const prompts = entry.features?.prompts() ?? [];
  return prompts.map(({ name }) => featureSubject(entry, "prompts", String(name)));
}
