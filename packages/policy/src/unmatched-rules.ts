/**
 * Finds rules that match nothing known, which are most often misspelled: a deny
 * rule without effect leaves open what it is meant to close. A finding never
 * says that a rule is wrong: what it names can exist later.
 *
 * Pure. The caller knows the names.
 */

import { nearestName } from "@toolcrib/diagnostics";
import type { ToolId } from "@toolcrib/tool";
import { matchesGlob, splitPattern } from "./tool-patterns.ts";

/** A tool, or a prompt (`server:prompts/NAME`). */
export interface KnownName {
  readonly id: ToolId;
  readonly wireName: string;
}

/** The names that rules can refer to. */
export interface KnownNames {
  /** Ids of all servers and toolspecs, and other namespaces of tools. */
  readonly namespaces: readonly string[];
  /** All tools and prompts of a namespace; `undefined` where they are not known completely. */
  readonly namesIn: (namespace: string) => readonly KnownName[] | undefined;
}

/** A list of patterns, and its path in a configuration, such as `policy`, `clients`, `ci`, `deny`. */
interface RuleList {
  readonly path: readonly string[];
  readonly patterns: readonly string[];
}

interface WrittenRules {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Returns the lists of the section `policy`. */
export function ruleListsOf(
  policy: WrittenRules & {
    readonly clients?: { readonly [name: string]: WrittenRules } | undefined;
    readonly waiveApproval?: readonly string[] | undefined;
    readonly profiles?:
      | {
          readonly [name: string]: {
            readonly tools?: readonly string[] | undefined;
            readonly exclude?: readonly string[] | undefined;
          };
        }
      | undefined;
  },
): readonly RuleList[] {
  const listsAt = (path: readonly string[], { allow = [], deny = [] }: WrittenRules) => [
    { path: [...path, "allow"], patterns: allow },
    { path: [...path, "deny"], patterns: deny },
  ];
  const clients = Object.entries(policy.clients ?? {});
  return [
    ...listsAt(["policy"], policy),
    { path: ["policy", "waive_approval"], patterns: policy.waiveApproval ?? [] },
    ...clients.flatMap(([name, rules]) => listsAt(["policy", "clients", name], rules)),
    ...Object.entries(policy.profiles ?? {}).flatMap(([name, { tools = [], exclude = [] }]) => [
      { path: ["profiles", name, "tools"], patterns: tools },
      { path: ["profiles", name, "exclude"], patterns: exclude },
    ]),
  ];
}

/** A rule that matches nothing known. */
export interface UnmatchedRule {
  /** Position in its list. */
  readonly index: number;
  readonly pattern: string;
  /** The unknown part of the pattern. */
  readonly kind: "namespace" | "name";
  readonly reason: string;
  readonly hint: string | undefined;
}

/**
 * Returns the patterns that match nothing in `known`. A pattern for all namespaces, such as `*:delete_*`, is a
 * precaution and never reported. The URIs of resources cannot be known, so only their namespace is checked.
 */
export function findUnmatchedRules(patterns: readonly string[], known: KnownNames): readonly UnmatchedRule[] {
  return patterns.flatMap((pattern, index) => {
    const finding = checkPattern(pattern, known);
    return finding === undefined ? [] : [{ index, pattern, ...finding }];
  });
}

type Finding = Pick<UnmatchedRule, "kind" | "reason" | "hint">;

function checkPattern(pattern: string, known: KnownNames): Finding | undefined {
  const parts = splitPattern(pattern);
  if (parts === undefined) return checkBareName(pattern, known);
  const { namespace, separator, name } = parts;
  if (/^[*?]+$/.test(namespace)) return undefined;
  const matching = known.namespaces.filter((one) => matchesGlob(namespace, one));
  if (matching.length === 0) {
    const near = nearestName(namespace, known.namespaces);
    return {
      kind: "namespace",
      reason: `no tool server and no toolspec is called "${namespace}"`,
      hint: near === undefined ? undefined : `did you mean "${near}${separator}${name}"?`,
    };
  }
  if (name.startsWith("resources/")) return undefined;
  return checkName(pattern, `${separator}${name}`, matching, known);
}

/** Checks the part of `pattern` after its namespace, which is one of `namespaces`. */
function checkName(
  pattern: string,
  ending: string,
  namespaces: readonly string[],
  { namesIn }: KnownNames,
): Finding | undefined {
  const lists = namespaces.map(namesIn);
  const names = lists.flatMap((list) => list ?? []);
  if (lists.includes(undefined) || names.some((name) => matchesName(pattern, name))) return undefined;
  const [namespace = ""] = namespaces;
  const at = namespace.length;
  const isWire = ending.startsWith("__");
  const near = nearestName(
    `${namespace}${ending}`.slice(at),
    names.map(({ id, wireName }) => (isWire ? wireName : id).slice(at)),
  );
  const subject = ending.includes("prompts/") ? "prompt" : "tool";
  return {
    kind: "name",
    reason: `"${namespaces.join('", "')}" has no ${subject} that it matches`,
    hint: near === undefined ? undefined : `did you mean "${namespace}${near}"?`,
  };
}

function matchesName(pattern: string, { id, wireName }: KnownName): boolean {
  return matchesGlob(pattern, id) || matchesGlob(pattern, wireName);
}

/** Checks a pattern without a namespace: the wire name of a tool without one, or the id of a server by mistake. */
function checkBareName(pattern: string, { namespaces, namesIn }: KnownNames): Finding | undefined {
  if (/[*?]/.test(pattern)) return undefined;
  const lists = namespaces.map(namesIn);
  if (lists.some((list) => list?.some((name) => matchesName(pattern, name)))) return undefined;
  if (namespaces.includes(pattern)) {
    const reason = `"${pattern}" is a server, and the rule names a tool of that name`;
    return {
      kind: "namespace",
      reason,
      hint: `write "${pattern}:*" for all its tools, resources and prompts`,
    };
  }
  if (lists.includes(undefined)) return undefined;
  const near = nearestName(
    pattern,
    lists.flatMap((list) => list?.map(({ wireName }) => wireName) ?? []),
  );
  const hint = near === undefined ? undefined : `did you mean "${near}"?`;
  return { kind: "name", reason: "no tool has this name", hint };
}
