/**
 * Explains a decision: the policies that decided, the conditions that did not hold
 * and the values that they read, and the smallest change that would allow a request.
 * It evaluates each condition alone, which takes milliseconds: not for the path of a call.
 */

import type { CedarValueJson, EntityJson, Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { ClientAttributes, PolicyRequest } from "@toolcrib/policy";
import { type CedarModule, loadCedar } from "./cedar-module.ts";
import { conditionsOf, isVariable, memberOf, operandsOf, operationOf, textOf } from "./expressions.ts";
import type { Policy } from "./parse-policies.ts";
import { isPartMatched, type ScopedRequest } from "./policy-scope.ts";
import { actionEntities, callContext, clientEntities, scopeOf, targetEntities } from "./request-entities.ts";
import { isWellFormed } from "./well-formed.ts";

/** A part of a policy and what it found. */
export interface ExplainedPart {
  readonly kind: "head" | "condition";
  /** As the policy writes it, such as `resource.read_only`, or the head: `principal == Client::"ci"`. */
  readonly text: string;
  readonly holds: boolean;
  /** The values that it read, such as `resource.read_only is false`. */
  readonly values: readonly string[];
}

/** A policy and how its parts relate to a request. */
export interface ExplainedPolicy {
  readonly rule: string;
  readonly effect: "permit" | "forbid";
  readonly parts: readonly ExplainedPart[];
  /** Whether all parts hold: a `permit` permits, a `forbid` forbids. */
  readonly applies: boolean;
}

/** Explains how `policies` relate to `request`: those that apply first, then those of which the fewest parts do not hold. */
export async function explainPolicies(
  policies: readonly Policy[],
  request: PolicyRequest,
  attributes: ClientAttributes,
): Promise<readonly ExplainedPolicy[]> {
  const cedar = await loadCedar();
  const situation = situationOf(request, attributes);
  const explained = policies.map((policy) => explainPolicy(cedar, policy, situation));
  const missing = ({ parts }: ExplainedPolicy) => parts.filter(({ holds }) => !holds).length;
  return explained.sort((a, b) => missing(a) - missing(b));
}

/** A request as the engine needs it. */
export interface Situation {
  readonly scope: ScopedRequest;
  readonly context: Readonly<Record<string, CedarValueJson>>;
  readonly entities: readonly EntityJson[];
}

/** Returns a request as the engine needs it. */
export function situationOf(request: PolicyRequest, attributes: ClientAttributes): Situation {
  const { identity, action, target, call } = request;
  const facts = call === undefined ? undefined : callContext(call, undefined, undefined);
  return {
    scope: scopeOf(identity, action, target, attributes),
    context: facts?.context ?? {},
    entities: [
      ...actionEntities,
      ...clientEntities(identity, attributes),
      ...targetEntities(target),
      ...(facts?.entities ?? []),
    ],
  };
}

function explainPolicy(cedar: CedarModule, { rule, json }: Policy, situation: Situation): ExplainedPolicy {
  const heads = (["principal", "action", "resource"] as const)
    .filter((part) => json[part].op !== "All")
    .map((part) => ({
      kind: "head" as const,
      text: headText(cedar, json, part),
      holds: isPartMatched(json, part, situation.scope),
      values: [headValue(part, situation.scope[part])],
    }));
  const conditions = conditionsOf(json).map((expr) => ({
    kind: "condition" as const,
    text: expressionText(cedar, expr),
    holds: isTrue(cedar, expr, situation),
    values: valuesOf(expr, situation),
  }));
  const parts = [...heads, ...conditions];
  return { rule, effect: json.effect, parts, applies: parts.every(({ holds }) => holds) };
}

/** The entity of a head, with the roles of a client. */
function headValue(part: string, entity: ScopedRequest["principal"]): string {
  const roles = part === "principal" ? entity.parents.map(({ id }) => id) : [];
  const named = `${part} is ${nameOf(entity)}`;
  return roles.length === 0 ? named : `${named} with the roles ${roles.join(", ")}`;
}

const anything: PolicyJson = {
  effect: "permit",
  principal: { op: "All" },
  action: { op: "All" },
  resource: { op: "All" },
  conditions: [],
};

/** Whether a condition holds. One that cannot be evaluated, such as by an absent tag, does not. */
export function isTrue(cedar: CedarModule, expr: Expr, { scope, context, entities }: Situation): boolean {
  const asked = {
    principal: uidOf(scope.principal),
    action: uidOf(scope.action),
    resource: uidOf(scope.resource),
    context: { ...context },
    policies: { staticPolicies: { condition: { ...anything, conditions: [{ kind: "when", body: expr }] } } },
    entities: [...entities],
  } satisfies Parameters<CedarModule["isAuthorized"]>[0];
  if (!isWellFormed([asked.principal, asked.resource, asked.context, asked.entities])) return false;
  const answer = cedar.isAuthorized(asked);
  return answer.type === "success" && answer.response.decision === "allow";
}

function uidOf({ type, id }: { readonly type: string; readonly id: string }) {
  return { type, id };
}

function nameOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}::${JSON.stringify(id)}`;
}

/** The text of a constraint of the head, such as `resource in ToolServer::"github"`. */
function headText(cedar: CedarModule, policy: PolicyJson, part: "principal" | "action" | "resource"): string {
  const text = policyText(cedar, { ...anything, [part]: policy[part] });
  const parts = text
    .slice(text.indexOf("(") + 1, text.lastIndexOf(")"))
    .split(/,\s*(?=(?:action|resource)\b)/);
  return (parts.find((one) => one.trim().startsWith(part)) ?? part).trim().replace(/,$/, "");
}

function expressionText(cedar: CedarModule, expr: Expr): string {
  const text = policyText(cedar, { ...anything, conditions: [{ kind: "when", body: expr }] });
  return text
    .slice(text.indexOf("{") + 1, text.lastIndexOf("}"))
    .trim()
    .replace(/\s+/g, " ");
}

function policyText(cedar: CedarModule, policy: PolicyJson): string {
  const answer = cedar.policyToText(policy);
  return answer.type === "success" ? answer.text : "";
}

/** Returns the values of the members and tags that `expr` reads. */
function valuesOf(expr: Expr, situation: Situation): readonly string[] {
  const found = new Set<string>();
  const visit = (one: Expr) => {
    const path = pathOf(one);
    if (path !== undefined) {
      const value = valueAt(path, situation);
      found.add(`${shownPath(path)} is ${value === undefined ? "absent" : shownValue(value)}`);
      return;
    }
    operandsOf(one).forEach(visit);
  };
  visit(expr);
  return [...found];
}

/** A path into a request. A `tag` is read with getTag or hasTag. */
interface Path {
  readonly root: "principal" | "resource" | "context";
  readonly members: readonly string[];
  readonly tag: string | undefined;
}

function pathOf(expr: Expr): Path | undefined {
  const tagged = operationOf(expr, "getTag") ?? operationOf(expr, "hasTag");
  if (tagged !== undefined) {
    const tag = textOf(tagged.right);
    const path = tag === undefined ? undefined : pathOf(tagged.left);
    return path === undefined || path.tag !== undefined ? undefined : { ...path, tag };
  }
  for (const root of ["principal", "resource", "context"] as const) {
    if (isVariable(expr, root)) return { root, members: [], tag: undefined };
  }
  const member = memberOf(expr);
  const path = member === undefined ? undefined : pathOf(member.left);
  if (member === undefined || path === undefined || path.tag !== undefined) return undefined;
  return { ...path, members: [...path.members, member.attr] };
}

function valueAt({ root, members, tag }: Path, { scope, context, entities }: Situation): unknown {
  const entityAt = (value: unknown) => {
    const { __entity: uid } = (value ?? {}) as { __entity?: { type: string; id: string } };
    return uid === undefined
      ? undefined
      : entities.find(({ uid: one }) => "type" in one && one.type === uid.type && one.id === uid.id);
  };
  let value: unknown = root === "context" ? context : { __entity: uidOf(scope[root]) };
  for (const name of members) {
    const holder = entityAt(value)?.attrs ?? value;
    value = (holder as { readonly [name: string]: unknown } | undefined)?.[name];
  }
  return tag === undefined
    ? entityAt(value) === undefined
      ? value
      : nameOf(uidIn(value))
    : entityAt(value)?.tags?.[tag];
}

function uidIn(value: unknown): { readonly type: string; readonly id: string } {
  return (value as { readonly __entity: { readonly type: string; readonly id: string } }).__entity;
}

function shownPath({ root, members, tag }: Path): string {
  const path = [root, ...members].join(".");
  return tag === undefined ? path : `${path}.getTag(${JSON.stringify(tag)})`;
}

/** Longest value that is shown, in characters. */
const valueMaxLength = 100;

function shownValue(value: unknown): string {
  const text = typeof value === "string" && /^[A-Z]\w*::"/.test(value) ? value : JSON.stringify(value);
  return text.length <= valueMaxLength ? text : `${text.slice(0, valueMaxLength)}…`;
}
