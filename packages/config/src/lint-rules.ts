/**
 * Warns about rules that match nothing known: patterns of `policy`, `audit.redact` and
 * `serve.tools` that name no server or toolspec, or no tool of a toolspec, and
 * rules of `policy.clients` for a client that does not exist. Tools of servers
 * are known only while the servers run. Pure.
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
 */
export function lintRules(
  layers: readonly ConfigLayer[],
  tokenNames: readonly string[] | undefined,
): Diagnostic[] {
  return layers.flatMap((layer) => [
    ...lintPatterns(layer, layers),
    ...(tokenNames === undefined ? [] : lintClients(layer, tokenNames)),
  ]);
}

/** Where a pattern is written: in a list of patterns, or as a field of each item. */
function spanOfPattern(layer: ConfigLayer, path: readonly string[], index: number): Span | undefined {
  const node = nodeAt(layer.tree, [...path, index]);
  return (node?.kind === "map" ? nodeAt(node, ["tool"]) : node)?.span;
}

function lintPatterns(layer: ConfigLayer, layers: readonly ConfigLayer[]): Diagnostic[] {
  const toolspecs = layers.flatMap((one) => one.toolspecs);
  const ids = layers.flatMap(({ serverIds, toolspecIds }) => [...serverIds, ...toolspecIds]);
  // The id of a toolspec without one is known when its manifest is read.
  if (ids.length === 0 || toolspecs.some(({ isIdGiven, pair }) => !isIdGiven && pair === undefined))
    return [];
  const names = new Map(toolspecs.map(({ id, pair }) => [id, pair && toNames(id, pair.toolspec.tools)]));
  const known = {
    namespaces: [...new Set([...ids, ...toolspecs].map(({ id }) => id)), ...ownNamespaces],
    namesIn: (namespace: string) => names.get(namespace),
  };
  return ruleLists(layer).flatMap(({ path, patterns }) =>
    findUnmatchedRules(patterns, known).flatMap(({ index, pattern, reason, hint }) => {
      const span = spanOfPattern(layer, path, index);
      return span === undefined
        ? []
        : toWarning(layer, {
            message: `Rule ${quote(pattern)} matches nothing known: ${reason}`,
            hint: hint ?? "correct it, or keep it if what it names is added later",
            span,
            path: `${path.join(".")}[${index}]`,
          });
    }),
  );
}

function toNames(id: string, tools: readonly { readonly name: string }[]): readonly KnownName[] {
  return tools.map(({ name }) => ({ id: `${id}:${name}`, wireName: `${id}__${name}` }));
}

/** The lists of patterns of a layer. */
function ruleLists({ sections: { policy, serve, audit } }: ConfigLayer): ReturnType<typeof ruleListsOf> {
  const tools = ["serve", "tools"];
  return [
    ...ruleListsOf(policy ?? {}),
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
    const near = nearestName(name, [...tokenNames, ...standingClients]);
    return toWarning(layer, {
      message: `Rules for the client ${quote(name)} apply to nobody: no token has this name`,
      hint: `${near === undefined ? "" : `did you mean ${near}? otherwise `}create the token: toolcrib token create NAME`,
      span,
      path: `policy.clients.${name}`,
    });
  });
}

function toWarning(
  { source }: ConfigLayer,
  problem: Pick<Parameters<typeof toDiagnostic>[0], "message" | "hint" | "span" | "path">,
): Diagnostic {
  return toDiagnostic({ severity: "warning", code: "CONFIG_RULE_UNMATCHED", ...problem }, source);
}
