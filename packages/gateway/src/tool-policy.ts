/**
 * Who may use which tool: lists of patterns, for everyone and for single
 * clients. The same decision filters lists, search and calls. Deny beats
 * allow; without an allow list everything is allowed that is not denied.
 */

import type { Identity, ToolId } from "@toolcrib/tool";
import { policyDenied } from "./codes.ts";
import type { PolicyConfig, PolicyRules } from "./config/config-types.ts";

/** A verdict that explains itself. */
export type Decision =
  | { readonly kind: "allow"; readonly rule: string }
  | {
      readonly kind: "deny";
      readonly code: typeof policyDenied;
      readonly reason: string;
      readonly rule: string;
      readonly hint: string;
    };

/** Decides for one configuration. */
export interface ToolPolicy {
  /** @param wireName the tool's name on the wire; patterns may be written for either name. */
  decide(identity: Identity, id: ToolId, wireName: string): Decision;
}

interface CompiledRules {
  /** Path of the rules in the configuration, such as `policy.clients.ci`. */
  readonly path: string;
  readonly allow: readonly CompiledPattern[] | undefined;
  readonly deny: readonly CompiledPattern[];
}

interface CompiledPattern {
  readonly text: string;
  readonly expression: RegExp;
}

const allowedByDefault: Decision = { kind: "allow", rule: "default" };

/** Compile `config`. */
export function createToolPolicy(config: PolicyConfig): ToolPolicy {
  const everyone = compile(config, "policy");
  const clients = new Map(
    Object.entries(config.clients).map(([name, rules]) => [name, compile(rules, `policy.clients.${name}`)]),
  );
  return {
    decide(identity, id, wireName) {
      const own = clients.get(identity.name);
      const layers = own === undefined ? [everyone] : [everyone, own];
      for (const { path, deny } of layers) {
        const at = deny.findIndex((pattern) => matches(pattern, id, wireName));
        if (at !== -1)
          return denied(identity, id, `${path}.deny[${at}]`, `the pattern "${deny[at]?.text}" denies it`);
      }
      let rule = allowedByDefault;
      for (const { path, allow } of layers) {
        if (allow === undefined) continue;
        const at = allow.findIndex((pattern) => matches(pattern, id, wireName));
        if (at === -1) return denied(identity, id, `${path}.allow`, "no pattern allows it");
        rule = { kind: "allow", rule: `${path}.allow[${at}]` };
      }
      return rule;
    },
  };
}

function denied(identity: Identity, id: ToolId, rule: string, why: string): Decision {
  return {
    kind: "deny",
    code: policyDenied,
    reason: `"${identity.name}" may not use "${id}": ${why} (${rule})`,
    rule,
    hint: `the operator can change ${rule.replace(/\[\d+\]$/, "")} in toolcrib.yaml`,
  };
}

function compile(rules: PolicyRules, path: string): CompiledRules {
  return { path, allow: rules.allow?.map(toPattern), deny: rules.deny.map(toPattern) };
}

/** Translate a glob: `*` is any text, `?` one character, everything else itself; case matters. */
function toPattern(text: string): CompiledPattern {
  const escaped = text.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  // Runs of `*` mean what one means, and would make the expression slow.
  const source = escaped.replace(/\*+/g, ".*").replaceAll("?", ".");
  return { text, expression: new RegExp(`^${source}$`, "su") };
}

function matches({ expression }: CompiledPattern, id: ToolId, wireName: string): boolean {
  return expression.test(id) || expression.test(wireName);
}
