/**
 * Decides who may use which tool, resource and prompt: lists of patterns, for
 * everyone and for single clients. The same decision filters lists, search and
 * calls. Deny beats allow; without an allow list everything is allowed that is
 * not denied. The URI of a resource has several spellings: a deny pattern
 * applies if it matches any of them, an allow pattern only if it matches all.
 *
 * Toolcrib's own tools and saved tools need no place in an allow list: they
 * reach only what their caller may use anyway. A deny list can take them away.
 */

import type { PolicyConfig, PolicyRules } from "@toolcrib/config";
import type { Identity, ToolId } from "@toolcrib/tool";
import { ownNamespace, savedNamespace } from "./index/wire-name.ts";
import { ToolPatterns, toResourceNames } from "./tool-patterns.ts";

/** A verdict that explains itself. */
export type Decision =
  | { readonly kind: "allow"; readonly rule: string }
  | {
      readonly kind: "deny";
      readonly code: "POLICY_DENIED";
      readonly reason: string;
      readonly rule: string;
      readonly hint: string;
    };

/** Decides for one configuration. */
export interface ToolPolicy {
  /** @param id of a tool, or of a resource or prompt (`CallTarget.id`) @param wireName its name on the wire; patterns may be written for either name. */
  decide(identity: Identity, id: ToolId, wireName: string): Decision;
}

interface Rules {
  /** Path of the rules in the configuration, such as `policy.clients.ci`. */
  readonly path: string;
  readonly allow: ToolPatterns | undefined;
  readonly deny: ToolPatterns;
}

const allowedByDefault: Decision = { kind: "allow", rule: "default" };
const allowedAsOwn: Decision = { kind: "allow", rule: "own tool" };
/** Longest name in a reason; URIs may be longer. */
const shownMaxLength = 200;

/** Prepare `config`. */
export function createToolPolicy(config: PolicyConfig): ToolPolicy {
  const everyone = toRules(config, "policy");
  const clients = new Map(
    Object.entries(config.clients).map(([name, rules]) => [name, toRules(rules, `policy.clients.${name}`)]),
  );
  return {
    decide(identity, id, wireName) {
      const own = clients.get(identity.name);
      const layers = own === undefined ? [everyone] : [everyone, own];
      const resource = toResourceNames(id, wireName);
      for (const { path, deny } of layers) {
        const found = resource === undefined ? deny.find(id, wireName) : deny.findInAnySpelling(resource);
        if (found !== undefined) {
          return denied(identity, id, `${path}.deny[${found.at}]`, `the pattern "${found.text}" denies it`);
        }
      }
      if (id.startsWith(`${ownNamespace}:`) || id.startsWith(`${savedNamespace}:`)) return allowedAsOwn;
      let rule = allowedByDefault;
      for (const { path, allow } of layers) {
        if (allow === undefined) continue;
        const found = resource === undefined ? allow.find(id, wireName) : allow.findInAllSpellings(resource);
        if (found === undefined) return denied(identity, id, `${path}.allow`, "no pattern allows it");
        rule = { kind: "allow", rule: `${path}.allow[${found.at}]` };
      }
      return rule;
    },
  };
}

function denied(identity: Identity, id: ToolId, rule: string, why: string): Decision {
  const shown = id.length <= shownMaxLength ? id : `${id.slice(0, shownMaxLength)}…`;
  return {
    kind: "deny",
    code: "POLICY_DENIED",
    reason: `"${identity.name}" may not use "${shown}": ${why} (${rule})`,
    rule,
    hint: `the operator can change ${rule.replace(/\[\d+\]$/, "")} in toolcrib.yaml`,
  };
}

function toRules(rules: PolicyRules, path: string): Rules {
  return {
    path,
    allow: rules.allow === undefined ? undefined : new ToolPatterns(rules.allow),
    deny: new ToolPatterns(rules.deny),
  };
}
