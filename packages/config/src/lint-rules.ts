/**
 * Warns about rules that match nothing known: patterns of `policy`, `guards`, `hooks`, `audit.redact`
 * and `serve.tools` that name no server or toolspec, or no tool of one, and
 * rules, limits and hooks for a client that does not exist. Tools of servers
 * are known where the caller knows what they listed last. Pure.
 */

import { type Diagnostic, nearestName, type Span } from "@toolcrib/diagnostics";
import { entryOf, nodeAt, toDiagnostic } from "@toolcrib/document";
import { findUnmatchedRules, type KnownName, ruleListsOf } from "@toolcrib/policy";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";

/** Namespaces of Toolcrib's own tools and of saved tools. */
const ownNamespaces = ["toolcrib", "saved"] as const;

/** Names of clients without a token file: those of Toolcrib itself, the token that `serve` creates, that of `TOOLCRIB_TOKEN`. */
const standingClients = ["cli", "stdio", "anonymous", "library", "default", "env"] as const;

/**
 * Returns warnings about the rules of `layers` as one configuration.
 *
 * @param tokenNames names of the existing tokens; `undefined` where they are not known
 * @param listedTools names of the tools that tool servers listed last, by their ids, as far as they are known
 */
export function lintRules(
  layers: readonly ConfigLayer[],
  tokenNames: readonly string[] | undefined,
  listedTools: ListedTools,
): Diagnostic[] {
  const identified = layers.flatMap(({ sections: { policy } }) =>
    Object.entries(policy?.clients ?? {}).flatMap(([name, { identity }]) => (identity ? [name] : [])),
  );
  return layers.flatMap((layer) => [
    ...lintPatterns(layer, layers, listedTools),
    ...(tokenNames === undefined
      ? []
      : [...lintClients(layer, tokenNames), ...lintClientLists(layer, [...tokenNames, ...identified])]),
  ]);
}

/** Where a pattern is written: in a list of patterns, as a field of each item, or as the name of an entry. */
function spanOfPattern(layer: ConfigLayer, path: Path, index: number, pattern: string): Span | undefined {
  const whole = nodeAt(layer.tree, path);
  if (whole?.kind === "map") return entryOf(whole, pattern)?.keySpan;
  const node = nodeAt(layer.tree, [...path, index]);
  return (node?.kind === "map" ? nodeAt(node, ["tool"]) : node)?.span;
}

type Path = readonly (string | number)[];

type ListedTools = ReadonlyMap<string, readonly string[]>;

function pathText(path: Path): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join("");
}

function lintPatterns(
  layer: ConfigLayer,
  layers: readonly ConfigLayer[],
  listedTools: ListedTools,
): Diagnostic[] {
  const toolspecs = layers.flatMap((one) => one.toolspecs);
  const ids = layers.flatMap(({ serverIds, toolspecIds }) => [...serverIds, ...toolspecIds]);
  // The id of a toolspec without one is known when its manifest is read.
  if (ids.length === 0 || toolspecs.some(({ isIdGiven, pair }) => !isIdGiven && pair === undefined))
    return [];
  const names = new Map(toolspecs.map(({ id, pair }) => [id, pair && toNames(id, pair.toolspec.tools)]));
  const declared = {
    namespaces: [...new Set([...ids, ...toolspecs].map(({ id }) => id)), ...ownNamespaces],
    namesIn: (namespace: string) => names.get(namespace),
  };
  const known = {
    ...declared,
    namesIn: (namespace: string) => names.get(namespace) ?? listedIn(namespace, listedTools),
  };
  return ruleLists(layer).flatMap(({ path, patterns }) =>
    findUnmatchedRules(patterns, known).flatMap(({ index, pattern, reason, hint }) => {
      if (mayNamePackage(pattern)) return [];
      // Of what a server listed, only the tools are known.
      const isPrompt = /(?::|__)prompts\//.test(pattern);
      if (isPrompt && findUnmatchedRules([pattern], declared).length === 0) return [];
      const span = spanOfPattern(layer, path, index, pattern);
      return span === undefined
        ? []
        : toWarning(layer, {
            message: `Rule ${quote(pattern)} matches nothing known: ${reason}`,
            hint: hint ?? "correct it, or keep it if what it names is added later",
            span,
            path: pathText([...path, index]),
          });
    }),
  );
}

/** Whether a pattern can name an installed package: its toolId has dots, and which ones are installed is not known here. */
function mayNamePackage(pattern: string): boolean {
  return /^[a-z0-9_*?]+(?:\.[a-z0-9_*?]+)+(?:$|:|__)/.test(pattern);
}

function listedIn(id: string, listedTools: ListedTools): readonly KnownName[] | undefined {
  const listed = listedTools.get(id);
  return (
    listed &&
    toNames(
      id,
      listed.map((name) => ({ name })),
    )
  );
}

function toNames(id: string, tools: readonly { readonly name: string }[]): readonly KnownName[] {
  return tools.map(({ name }) => ({ id: `${id}:${name}`, wireName: `${id}__${name}` }));
}

/** The lists of patterns of a layer. */
function ruleLists({
  sections: { policy, guards, hooks, serve, audit, profiles, tools: overrides },
}: ConfigLayer): readonly { readonly path: Path; readonly patterns: readonly string[] }[] {
  const tools = ["serve", "tools"];
  const listsOfItems = (path: Path, items: readonly { readonly tools?: readonly string[] | undefined }[]) =>
    items.map((item, at) => ({ path: [...path, at, "tools"], patterns: item.tools ?? [] }));
  return [
    ...ruleListsOf({ ...policy, waiveApproval: policy?.waive_approval, profiles }),
    { path: ["tools"], patterns: Object.keys(overrides ?? {}) },
    ...Object.entries(profiles ?? {}).map(([name, { pinned = [] }]) => ({
      path: ["profiles", name, "pinned"],
      patterns: pinned,
    })),
    ...listsOfItems(["guards", "limits"], guards?.limits ?? []),
    { path: ["guards", "costs"], patterns: Object.keys(guards?.costs ?? {}) },
    ...listsOfItems(["hooks", "before_call"], hooks?.before_call ?? []),
    ...listsOfItems(["hooks", "after_call"], hooks?.after_call ?? []),
    { path: [...tools, "hidden"], patterns: serve?.tools?.hidden ?? [] },
    { path: [...tools, "pinned"], patterns: serve?.tools?.pinned ?? [] },
    { path: ["audit", "redact"], patterns: (audit?.redact ?? []).map(({ tool }) => tool) },
  ];
}

function lintClients(layer: ConfigLayer, tokenNames: readonly string[]): Diagnostic[] {
  const known = new Set([...tokenNames, ...standingClients]);
  const clients = nodeAt(layer.tree, ["policy", "clients"]);
  return Object.entries(layer.sections.policy?.clients ?? {}).flatMap(([name, { identity }]) => {
    const span = clients === undefined ? undefined : entryOf(clients, name)?.keySpan;
    if (identity !== undefined || known.has(name) || span === undefined) return [];
    const near = nearClient(name, tokenNames);
    return toWarning(layer, {
      message: `Rules for the client ${quote(name)} apply to nobody: no token has this name`,
      hint: `${near === undefined ? "" : `did you mean ${near}? otherwise `}create the token: toolcrib token create ${name}`,
      span,
      path: `policy.clients.${name}`,
    });
  });
}

/** Checks the clients that limits, hooks and `search.learn_except` name. @param names the names that clients can have, besides the standing ones */
function lintClientLists(layer: ConfigLayer, names: readonly string[]): Diagnostic[] {
  const { guards, hooks, search } = layer.sections;
  const known = new Set([...names, ...standingClients]);
  const lists = [
    { path: ["guards", "limits"], items: guards?.limits ?? [], what: "The limit" },
    { path: ["hooks", "before_call"], items: hooks?.before_call ?? [], what: "The hook" },
    { path: ["hooks", "after_call"], items: hooks?.after_call ?? [], what: "The hook" },
  ];
  const named = lists.flatMap(({ path, items, what }) =>
    items.flatMap(({ clients = [] }: { readonly clients?: readonly string[] | undefined }, item) =>
      clients.map((name, at) => ({ name, place: [...path, item, "clients", at], what })),
    ),
  );
  const excepted = (search?.learn_except ?? []).map((name, at) => ({
    name,
    place: ["search", "learn_except", at],
    what: "The list",
  }));
  return [...named, ...excepted].flatMap(({ name, place, what }) => {
    const span = nodeAt(layer.tree, place)?.span;
    if (known.has(name) || span === undefined) return [];
    const near = nearClient(name, names);
    return toWarning(layer, {
      message: `${what} names the client ${quote(name)}, which does not exist: no token has this name`,
      hint: `${near === undefined ? "" : `did you mean ${near}? otherwise `}create the token: toolcrib token create ${name}`,
      span,
      path: pathText(place),
    });
  });
}

/**
 * Returns the client that is meant by a name that no client has. One edit makes a short name that nobody has yet, such
 * as `ci`, a standing one (`cli`): of those, only another spelling of the same letters is suggested.
 */
function nearClient(name: string, names: readonly string[]): string | undefined {
  const isShort = name.length < 4;
  return isShort
    ? (nearestName(name, names) ?? standingClients.find((standing) => standing === name.toLowerCase()))
    : nearestName(name, [...names, ...standingClients]);
}

function toWarning(
  { source }: ConfigLayer,
  problem: Pick<Parameters<typeof toDiagnostic>[0], "message" | "hint" | "span" | "path">,
): Diagnostic {
  return toDiagnostic({ severity: "warning", code: "CONFIG_RULE_UNMATCHED", ...problem }, source);
}
