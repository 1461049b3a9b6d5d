/**
 * Decides requests by policies in Cedar. What no policy permits is denied, and so is
 * everything about which a policy cannot be evaluated: Cedar itself leaves such a
 * policy out, which would turn off a `forbid`.
 *
 * Decisions are shared between requests that do not differ in anything that a policy
 * reads (`readsOf`): an evaluation takes 0.1 to 1 ms, a shared decision some microseconds. Of an
 * argument that policies only compare with their own texts and numbers, they read the answers.
 */

import { hash } from "node:crypto";
import type { AuthorizationError, EntityJson } from "@cedar-policy/cedar-wasm/nodejs";
import { messageOf } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";
import type {
  CallFacts,
  ClientAttributes,
  Decision,
  FilePolicies,
  PolicyRequest,
  PolicyServer,
  PolicyTarget,
} from "@toolcrib/policy";
import { isNormalizedUri } from "@toolcrib/policy";
import { type Identity, rightsKey } from "@toolcrib/tool";
import type { ArgumentQuestion } from "./argument-questions.ts";
import { CedarError } from "./cedar-error.ts";
import { type CedarModule, cedarInForce, isInForce, loadCedar } from "./cedar-module.ts";
import type { ParsedPolicies, Policy } from "./parse-policies.ts";
import { type PolicyReads, readsOf } from "./policy-reads.ts";
import { isPartMatched, isScopeMatched } from "./policy-scope.ts";
import {
  actionEntities,
  argumentText,
  callContext,
  clientEntities,
  clientIdOf,
  scopeOf,
  targetEntities,
  targetUid,
  timeMembers,
} from "./request-entities.ts";
import { targetsNamedBy } from "./unmatched-names.ts";
import { isWellFormed } from "./well-formed.ts";

/** Dependencies of the policies. */
export interface CedarPoliciesDeps {
  /** Returns the roles and labels of a client. */
  readonly attributesOf: (identity: Identity) => ClientAttributes;
}

/** Most verdicts that are remembered. */
const maxVerdicts = 20_000;
/** Longest text by which a verdict is remembered, in characters. Clients choose parts of it: names, URIs, facts of a call. */
const verdictKeyMaxLength = 1000;
/** Most clients whose entities are remembered. */
const maxClients = 1000;

/** The facts about a client. */
interface KnownClient {
  /** Short, and different for each client. */
  readonly key: string;
  /** Its id in policies. */
  readonly id: string;
  readonly name: string;
  readonly attributes: ClientAttributes;
  readonly entities: readonly EntityJson[];
}

/** The facts about a target. */
interface KnownTarget {
  /** The parts of it that policies read. */
  readonly key: string;
  readonly entities: readonly EntityJson[];
}

/** Loads the engine and prepares `parsed`. @throws {Error} when the engine cannot be loaded, failed too often, or refuses valid policies */
export async function openCedarPolicies(
  parsed: ParsedPolicies,
  deps: CedarPoliciesDeps,
): Promise<CedarPolicies> {
  await loadCedar();
  return new CedarPolicies(parsed, deps);
}

/** Policies of files, ready to decide. Dispose of it after the last decision. */
export class CedarPolicies implements FilePolicies, Disposable {
  static #opened = 0;

  readonly digest: string;
  readonly policies: readonly Policy[];
  /** The engine that has these policies. */
  #cedar: CedarModule;
  readonly #deps: CedarPoliciesDeps;
  readonly #byRule: ReadonlyMap<string, Policy>;
  readonly #reads: PolicyReads;
  /** The questions of all policies together about arguments. */
  readonly #asked: Pick<PolicyReads, "textQuestions" | "integerQuestions">;
  /** The policies that read arguments, each with what it reads. */
  readonly #readers: readonly { readonly policy: Policy; readonly reads: PolicyReads }[];
  readonly #readsUris: boolean;
  readonly #setId: string;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #clients = new Map<string, KnownClient>();
  readonly #targets = new WeakMap<PolicyTarget, KnownTarget>();

  constructor({ policies, sources }: ParsedPolicies, deps: CedarPoliciesDeps) {
    this.#deps = deps;
    this.policies = policies;
    this.#byRule = new Map(policies.map((policy) => [policy.rule, policy]));
    this.#reads = readsOf(policies.map(({ json }) => json));
    const { textQuestions, integerQuestions } = this.#reads;
    this.#asked = { textQuestions, integerQuestions };
    this.#readers = policies
      .map((policy) => ({ policy, reads: readsOf([policy.json]) }))
      .filter(({ reads: { texts, integers } }) => texts?.size !== 0 || integers?.size !== 0);
    this.#readsUris = readsUris(this.#reads);
    const texts = sources.map(({ name, text }) => [name, text]);
    this.digest = `sha256:${hash("sha256", JSON.stringify(texts), "hex")}`;
    CedarPolicies.#opened += 1;
    this.#setId = `toolcrib ${CedarPolicies.#opened}`;
    this.#cedar = this.#prepared(cedarInForce());
  }

  /** Frees the memory of the engine. Never throws. */
  [Symbol.dispose](): void {
    this.#verdicts.clear();
    try {
      if (isInForce(this.#cedar)) this.#cedar.preparsePolicySet(this.#setId, { staticPolicies: {} });
    } catch {
      // It is out of use now, which is reported, and its memory is free without it.
    }
  }

  /** Returns the engine with these policies. */
  #engine(): CedarModule {
    const cedar = cedarInForce();
    if (cedar !== this.#cedar) this.#cedar = this.#prepared(cedar);
    return cedar;
  }

  /** Whether no engine can be had for now. */
  get isDown(): boolean {
    try {
      this.#engine();
      return false;
    } catch {
      return true;
    }
  }

  /** Gives an engine these policies. */
  #prepared(cedar: CedarModule): CedarModule {
    const staticPolicies = Object.fromEntries(this.policies.map(({ rule, text }) => [rule, text]));
    const prepared = cedar.preparsePolicySet(this.#setId, { staticPolicies });
    if (prepared.type === "failure") throw new Error(prepared.errors[0]?.message ?? "policies were refused");
    return cedar;
  }

  decide(request: PolicyRequest): Decision {
    const client = this.#clientOf(request.identity);
    const target = this.#targetOf(request.target);
    const facts = request.call === undefined ? "" : this.#callKey(request.call);
    const key = `${client.key} ${request.action} ${target.key} ${facts}`;
    const isRemembered = facts !== undefined && key.length <= verdictKeyMaxLength;
    if (!isRemembered) return toDecision(this.#evaluate(request, client, target), request);
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#evaluate(request, client, target);
      if (verdict.kind === "unavailable") return toDecision(verdict, request);
      if (this.#verdicts.size >= maxVerdicts) this.#verdicts.clear();
      this.#verdicts.set(key, verdict);
    }
    return toDecision(verdict, request);
  }

  /** Ids of the tools and prompts that each policy names. */
  namedTargets(): readonly { readonly rule: string; readonly ids: readonly string[] }[] {
    return this.policies.map((policy) => ({
      rule: policy.rule,
      ids: targetsNamedBy(policy).flatMap(({ type, id }) =>
        type === "Tool" || type === "Prompt" ? [id] : [],
      ),
    }));
  }

  /** The clients about which these policies decided. */
  seenClients(): readonly (ClientAttributes & { readonly id: string })[] {
    return [...this.#clients.values()].map(({ id, attributes }) => ({ ...attributes, id }));
  }

  /** Whether a policy about the request reads arguments. */
  dependsOnArguments({ identity, action, target }: PolicyRequest): boolean {
    const { attributes } = this.#clientOf(identity);
    const scope = scopeOf(identity, action, target, attributes);
    return this.#readers.some(({ policy }) => isScopeMatched(policy.json, scope));
  }

  mayReach(identity: Identity, server: PolicyServer): boolean {
    const { attributes } = this.#clientOf(identity);
    const kinds = ["tool", "resource", "prompt"] as const;
    return this.policies.some(({ json }) => {
      if (json.effect !== "permit") return false;
      // Which tools the server has is not known, so a policy that names one of them counts.
      const named = "entity" in json.resource && json.resource.op === "==";
      return kinds.some((kind) => {
        const scope = scopeOf(identity, "call", { kind, id: "", server }, attributes);
        const action = isPartMatched(json, "action", scope);
        return (
          isPartMatched(json, "principal", scope) &&
          action &&
          (named || isPartMatched(json, "resource", scope))
        );
      });
    });
  }

  /** Evaluates a request by all policies. */
  #evaluate(request: PolicyRequest, client: KnownClient, target: KnownTarget): Verdict {
    const unclear = this.#unclearReason(request, client);
    if (unclear !== undefined) return unclear;
    const { action, call } = request;
    const facts = call === undefined ? undefined : callContext(call, this.#reads.texts, this.#reads.integers);
    const scope = scopeOf(request.identity, action, request.target, client.attributes);
    const asked = {
      principal: { type: scope.principal.type, id: scope.principal.id },
      action: { type: "Action", id: action },
      resource: targetUid(request.target),
      context: facts?.context ?? {},
      preparsedPolicySetId: this.#setId,
      entities: [...client.entities, ...target.entities, ...actionEntities, ...(facts?.entities ?? [])],
    };
    if (!isWellFormed(asked)) return refused(notWellFormed, allPolicies);
    try {
      const answer = this.#engine().statefulIsAuthorized(asked);
      if (answer.type === "failure") {
        return refused(`the policies cannot be evaluated: ${answer.errors[0]?.message}`, allPolicies);
      }
      const { decision, diagnostics } = answer.response;
      const [error] = diagnostics.errors;
      if (error !== undefined) return this.#failed(error);
      const policies = this.#inOrder(diagnostics.reason);
      return decision === "allow" ? allowed(policies) : forbidden(policies);
    } catch (cause) {
      return { kind: "unavailable", why: unavailableText(cause) };
    }
  }

  /** A policy that cannot be evaluated denies, whatever its effect is. */
  #failed({ policyId, error }: AuthorizationError): Verdict {
    const name = this.#byRule.get(policyId)?.name ?? policyId;
    return refused(`the policy "${name}" cannot be evaluated: ${error.message}`, policyId);
  }

  /** Returns why policies cannot judge a request; undefined where they can. */
  #unclearReason(
    { identity, action, target, call }: PolicyRequest,
    { attributes }: KnownClient,
  ): Verdict | undefined {
    if (this.#readsUris && target.kind === "resource" && !isNormalizedUri(target.name)) {
      return refused("its URI is not normalized (RFC 3986), and policies compare URIs", allPolicies);
    }
    if (call === undefined || this.#readers.length === 0) return undefined;
    const scope = scopeOf(identity, action, target, attributes);
    for (const { policy, reads } of this.#readers) {
      const argument = unclearArgument(call, reads);
      if (argument === undefined || !isScopeMatched(policy.json, scope)) continue;
      return refused(
        `the policy "${policy.name}" cannot judge its argument "${argument.name}", which is not ${argument.wanted}`,
        policy.rule,
      );
    }
    return undefined;
  }

  #inOrder(rules: readonly string[]): readonly Policy[] {
    return this.policies.filter(({ rule }) => rules.includes(rule));
  }

  #clientOf(identity: Identity): KnownClient {
    const key = rightsKey(identity);
    const known = this.#clients.get(key);
    // The name decides nothing, but policies can read it.
    if (known !== undefined && known.name === identity.name) return known;
    if (this.#clients.size >= maxClients) {
      this.#clients.clear();
      this.#verdicts.clear();
    }
    const attributes = this.#deps.attributesOf(identity);
    const client = {
      key: JSON.stringify([key, identity.name]),
      id: clientIdOf(identity),
      name: identity.name,
      attributes,
      entities: clientEntities(identity, attributes),
    };
    this.#clients.set(key, client);
    return client;
  }

  #targetOf(target: PolicyTarget): KnownTarget {
    const known = this.#targets.get(target);
    if (known !== undefined) return known;
    const entities = targetEntities(target);
    const made = { key: targetKey(target, entities, this.#reads), entities };
    this.#targets.set(target, made);
    return made;
  }

  /** Returns what policies read of a call; undefined where its decision is not to be remembered. */
  #callKey(call: CallFacts): string | undefined {
    const { context, times, texts, integers } = this.#reads;
    const { textQuestions, integerQuestions } = this.#asked;
    if (context === undefined) return undefined;
    if (times === undefined || texts === undefined || integers === undefined) return undefined;
    const read: unknown[] = [];
    for (const name of texts) read.push(readOfText(argumentOf(call, name), textQuestions.get(name)));
    for (const name of integers) read.push(readOfInteger(argumentOf(call, name), integerQuestions.get(name)));
    if (context.has("depth")) read.push(call.depth);
    if (context.has("parent")) read.push(call.parentTool);
    if (context.has("era")) read.push(call.era);
    if (context.has("labels")) read.push(call.labels.toSorted());
    if (context.has("seen_labels")) read.push(call.seenLabels.toSorted());
    const time = new Date(call.now);
    for (const name of times) read.push(timeMembers.get(name)?.(time));
    return JSON.stringify(read);
  }
}

/** Maximum length of a name in a reason; longer names, such as URIs, are truncated. */
const shownMaxLength = 200;

/** Why a text with half of a surrogate pair is refused. */
const notWellFormed =
  "a text that policies read is not well-formed Unicode: it has half of a surrogate pair (\\ud800 to \\udfff)";

/** The rule of a denial that no single policy causes. */
export const allPolicies = "policy.files";

/** The decision of policies about all requests that do not differ in anything that they read. */
type Verdict =
  | Extract<Decision, { readonly kind: "allow" }>
  | {
      readonly kind: "refused";
      readonly why: string;
      readonly rule: string;
      readonly message: string | undefined;
    }
  /** The engine failed. It is not remembered: the next one decides. */
  | { readonly kind: "unavailable"; readonly why: string };

function unavailableText(cause: unknown): string {
  if (!(cause instanceof CedarError)) return `the policy engine failed: ${messageOf(cause)}`;
  return cause.message.replace(/^T/, "t");
}

function allowed(policies: readonly Policy[]): Verdict {
  const rule = policies[0]?.rule ?? allPolicies;
  const waivesApproval = policies.some((policy) => policy.waivesApproval);
  return waivesApproval ? { kind: "allow", rule, waivesApproval } : { kind: "allow", rule };
}

/** @param policies those that forbid; empty where no policy permits */
function forbidden([policy]: readonly Policy[]): Verdict {
  if (policy === undefined) return refused("no policy permits it", allPolicies);
  return refused(`the policy "${policy.name}" forbids it`, policy.rule, policy.message);
}

function refused(why: string, rule: string, message?: string): Verdict {
  return { kind: "refused", why, rule, message };
}

function toDecision(verdict: Verdict, { identity, target: { id }, action }: PolicyRequest): Decision {
  if (verdict.kind === "allow") return verdict;
  const shown = id.length <= shownMaxLength ? id : `${id.slice(0, shownMaxLength)}…`;
  const verb = action === "save" || action === "approve" ? action : "use";
  if (verdict.kind === "unavailable") {
    return {
      kind: "deny",
      code: "POLICY_UNAVAILABLE",
      reason: `"${identity.name}" may not ${verb} "${shown}" now: ${verdict.why} (${allPolicies})`,
      rule: allPolicies,
      hint: "try again in a minute; the operator sees the state of the engine with toolcrib status",
    };
  }
  const { why, rule, message } = verdict;
  return {
    kind: "deny",
    code: "POLICY_DENIED",
    reason: `"${identity.name}" may not ${verb} "${shown}": ${why} (${rule})`,
    rule,
    // The hint about a call names the record of the call, which the gateway makes.
    ...(action === "call" ? undefined : { hint: `toolcrib why "${shown}" shows what would allow it` }),
    ...(message === undefined ? undefined : { message }),
  };
}

/** Whether policies compare URIs of resources: by a name, or by naming a resource. */
function readsUris({ resource, named }: PolicyReads): boolean {
  if (resource === undefined || resource.has("name") || resource.has("wire_name")) return true;
  return named.values().some((uid) => uid.startsWith("Resource "));
}

function argumentOf({ args }: Pick<CallFacts, "args">, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** Returns what policies learn of an argument that they read as a text; all of it where they ask more than questions. */
function readOfText(
  value: JsonValue | undefined,
  questions: readonly ArgumentQuestion[] | undefined,
): unknown {
  if (value === undefined || value === null) return null;
  const text = argumentText(value);
  if (text === undefined) return unclear;
  // A text with half of a surrogate pair is refused.
  return questions !== undefined && text.isWellFormed() ? answersTo(questions, text) : [text];
}

/** The same for an argument that they read as a whole number. */
function readOfInteger(
  value: JsonValue | undefined,
  questions: readonly ArgumentQuestion[] | undefined,
): unknown {
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value)) return unclear;
  return questions === undefined ? [value] : answersTo(questions, value as number);
}

/** Stands for an argument in a form that policies do not judge. Answers are a text, and a whole argument is alone in a list. */
const unclear: readonly unknown[] = [];

/** Returns the answers as a text of digits, with a first one for an argument without questions. */
function answersTo(questions: readonly ArgumentQuestion[], value: string | number): string {
  let answers = "1";
  for (const question of questions) answers += question(value) ? "1" : "0";
  return answers;
}

/** Returns the first argument that a policy reads in a form that it does not have. An absent one, or `null`, is no argument. */
function unclearArgument(
  { args }: CallFacts,
  { texts, integers }: PolicyReads,
): { readonly name: string; readonly wanted: string } | undefined {
  for (const name of texts ?? Object.keys(args)) {
    const value = argumentOf({ args }, name);
    if (value !== undefined && value !== null && argumentText(value) === undefined) {
      return { name, wanted: "a short text, a number, true or false" };
    }
  }
  for (const name of integers ?? Object.keys(args)) {
    const value = argumentOf({ args }, name);
    if (value !== undefined && value !== null && !Number.isSafeInteger(value)) {
      return { name, wanted: "a whole number" };
    }
  }
  return undefined;
}

/** Returns what policies read of a target, as a text. */
function targetKey(target: PolicyTarget, [entity]: readonly EntityJson[], reads: PolicyReads): string {
  const { type, id } = targetUid(target);
  const isNamed = reads.named.has(`${type} ${id}`);
  if (reads.resource === undefined) return JSON.stringify([type, id, target.server, entity?.attrs]);
  const read = [...reads.resource].map((name) => (name === "server" ? null : (entity?.attrs[name] ?? null)));
  return JSON.stringify([type, isNamed ? id : null, target.server, read]);
}
