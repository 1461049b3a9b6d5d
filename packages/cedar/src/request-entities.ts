/** A request as the entities and the context of Cedar. Pure. */

import type { CedarValueJson, Context, EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { CallFacts, ClientAttributes, PolicyTarget } from "@toolcrib/policy";
import { type Identity, isLocalIssuer } from "@toolcrib/tool";
import type { ScopedRequest } from "./policy-scope.ts";

const argumentsUid: TypeAndId = { type: "Arguments", id: "call" };
const integersUid: TypeAndId = { type: "Integers", id: "call" };

/** The id of a client: its name where Toolcrib vouches for it, otherwise its issuer and its id there. */
export function clientIdOf({ issuer, subject }: Pick<Identity, "issuer" | "subject">): string {
  return isLocalIssuer(issuer) ? subject : `${issuer} ${subject}`;
}

/** Returns the entities of a client: itself and its roles. */
export function clientEntities(
  identity: Identity,
  { roles, labels }: ClientAttributes,
): readonly EntityJson[] {
  const { name, issuer, subject } = identity;
  return [
    {
      uid: { type: "Client", id: clientIdOf(identity) },
      attrs: { name, issuer, subject },
      parents: [...new Set(roles)].map((id) => ({ type: "Role", id })),
      tags: { ...labels },
    },
  ];
}

/** Returns the entities of a target: itself and its server. */
export function targetEntities(target: PolicyTarget): readonly EntityJson[] {
  const { server } = target;
  const serverUid = { type: "ToolServer", id: server.id };
  const uid = targetUid(target);
  return [
    { uid, attrs: attributesOf(target, serverUid), parents: [serverUid] },
    {
      uid: serverUid,
      attrs: {
        transport: server.transport,
        trust_state: server.trustState,
        mutability_class: server.mutabilityClass,
      },
      parents: [],
      tags: { ...server.labels },
    },
  ];
}

/** The type and id of a target. */
export function targetUid({ kind, id }: Pick<PolicyTarget, "kind" | "id">): TypeAndId {
  const type = kind === "tool" ? "Tool" : kind === "resource" ? "Resource" : "Prompt";
  return { type, id };
}

function attributesOf(target: PolicyTarget, server: TypeAndId): Record<string, CedarValueJson> {
  return {
    name: target.name,
    wire_name: target.wireName,
    server: { __entity: server },
    origin: target.origin,
    version: target.version,
    tags: [...target.tags],
    read_only: target.isReadOnly,
    destructive: target.isDestructive,
    idempotent: target.isIdempotent,
    open_world: target.isOpenWorld,
  };
}

/** Actions that a policy can name together, as `Action::"use"`. */
const actionsInUse: readonly string[] = ["list", "call"];

/** The groups that an action is in. */
function actionParents(action: string): readonly TypeAndId[] {
  return actionsInUse.includes(action) ? [{ type: "Action", id: "use" }] : [];
}

/** The entities of the actions that are in another one. */
export const actionEntities: readonly EntityJson[] = [...actionsInUse, "use"].map((id) => ({
  uid: { type: "Action", id },
  attrs: {},
  parents: [...actionParents(id)],
}));

/** The scope of a request: its principal, action and resource with what they are in. */
export function scopeOf(
  identity: Identity,
  action: string,
  target: Pick<PolicyTarget, "kind" | "id" | "server">,
  { roles }: Pick<ClientAttributes, "roles">,
): ScopedRequest {
  return {
    principal: {
      type: "Client",
      id: clientIdOf(identity),
      parents: roles.map((id) => ({ type: "Role", id })),
    },
    action: {
      type: "Action",
      id: action,
      parents: [...actionParents(action)],
    },
    resource: { ...targetUid(target), parents: [{ type: "ToolServer", id: target.server.id }] },
  };
}

/** Longest text of an argument that policies can judge, in characters. */
export const argumentMaxLength = 16_384;

/** Returns an argument as the text that policies compare; undefined for one that is not a text, a number, true or false, or too long. */
export function argumentText(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value.length <= argumentMaxLength ? value : undefined;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The context of a call, and its entities. */
export interface CallContextEntities {
  readonly context: Context;
  readonly entities: readonly EntityJson[];
}

/**
 * Returns the context of a call.
 *
 * @param texts names of the arguments that are needed as texts; undefined for all. @param integers the same as whole numbers
 */
export function callContext(
  call: CallFacts,
  texts: ReadonlySet<string> | undefined,
  integers: ReadonlySet<string> | undefined,
): CallContextEntities {
  const { depth, parentTool, era, now, labels, seenLabels, args } = call;
  return {
    context: {
      arguments: { __entity: argumentsUid },
      integers: { __entity: integersUid },
      depth,
      parent: parentTool,
      era,
      time: timeOf(now),
      labels: [...labels],
      seen_labels: [...seenLabels],
    },
    entities: [
      { uid: argumentsUid, attrs: {}, parents: [], tags: textTags(args, texts) },
      { uid: integersUid, attrs: {}, parents: [], tags: integerTags(args, integers) },
    ],
  };
}

function textTags(args: JsonObject, names: ReadonlySet<string> | undefined): Record<string, string> {
  const tags: [string, string][] = [];
  for (const name of names ?? Object.keys(args)) {
    const text = Object.hasOwn(args, name) ? argumentText(args[name]) : undefined;
    if (text !== undefined) tags.push([name, text]);
  }
  return Object.fromEntries(tags);
}

function integerTags(args: JsonObject, names: ReadonlySet<string> | undefined): Record<string, number> {
  const tags: [string, number][] = [];
  for (const name of names ?? Object.keys(args)) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (Number.isSafeInteger(value)) tags.push([name, value as number]);
  }
  return Object.fromEntries(tags);
}

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The members of the time of a call, in UTC. A date costs more to format than the others together. */
export const timeMembers: ReadonlyMap<string, (time: Date) => string | number> = new Map<
  string,
  (time: Date) => string | number
>([
  ["unix", (time) => Math.floor(time.getTime() / 1000)],
  ["hour", (time) => time.getUTCHours()],
  ["minute", (time) => time.getUTCMinutes()],
  ["weekday", (time) => weekdays[time.getUTCDay()] as string],
  ["date", (time) => time.toISOString().slice(0, 10)],
]);

/** All members of the time of a call. */
function timeOf(now: number): Record<string, string | number> {
  const time = new Date(now);
  return Object.fromEntries([...timeMembers].map(([name, member]) => [name, member(time)]));
}
