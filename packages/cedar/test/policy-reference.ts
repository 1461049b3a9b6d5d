/**
 * A small independent reference for decisions: random policies as data, written as
 * Cedar for the product, and evaluated here by a few lines that share nothing with it.
 */

import type { CallFacts, ClientAttributes, PolicyTarget } from "@toolcrib/policy";
import { type Identity, localIdentity } from "@toolcrib/tool";
import fc from "fast-check";

/** A condition of a random policy. */
export type Condition =
  | { readonly kind: "flag"; readonly name: "read_only" | "destructive" | "idempotent" | "open_world" }
  | { readonly kind: "trust"; readonly values: readonly string[] }
  | { readonly kind: "name"; readonly start: string }
  | { readonly kind: "tag"; readonly tag: string }
  | { readonly kind: "serverLabel"; readonly key: string; readonly value: string }
  | { readonly kind: "sameTeam" }
  | { readonly kind: "named"; readonly id: string }
  | { readonly kind: "kind"; readonly type: "Tool" | "Resource" | "Prompt" }
  | { readonly kind: "text"; readonly name: string; readonly start: string }
  | { readonly kind: "above"; readonly name: string; readonly limit: number }
  | { readonly kind: "depth"; readonly atMost: number }
  | { readonly kind: "seen"; readonly label: string }
  | { readonly kind: "hour"; readonly before: number }
  | { readonly kind: "weekday"; readonly day: string }
  | { readonly kind: "either"; readonly left: Condition; readonly right: Condition }
  | { readonly kind: "not"; readonly one: Condition };

/** A random policy. */
export interface RandomPolicy {
  readonly effect: "permit" | "forbid";
  readonly client: { readonly op: "any" } | { readonly op: "is" | "role"; readonly id: string };
  readonly action: "any" | "use" | "list" | "call";
  readonly target: { readonly op: "any" } | { readonly op: "tool" | "server"; readonly id: string };
  readonly conditions: readonly Condition[];
}

/** A random request. */
export interface RandomRequest {
  readonly identity: Identity;
  readonly action: "list" | "call";
  readonly target: PolicyTarget;
  readonly call: CallFacts | undefined;
}

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const clientNames = ["ci", "dev", "anonymous"];
const serverIds = ["github", "files", "stripe"];
const names = ["read_file", "read_all", "write_file", "refund"];
const labels = ["data=personal", "data=public"];
const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** Roles and labels of the clients. */
export const attributes: { readonly [name: string]: ClientAttributes } = {
  ci: { roles: ["robot"], labels: { team: "core" } },
  dev: { roles: ["robot", "human"], labels: { team: "web", data: "public" } },
  anonymous: { roles: [], labels: {} },
};

const idArbitrary = fc.tuple(pick(...serverIds), pick(...names)).map(([server, name]) => `${server}:${name}`);

const conditionArbitrary: fc.Arbitrary<Condition> = fc.letrec<{ condition: Condition; plain: Condition }>(
  (tie) => ({
    plain: fc.oneof(
      pick<(Condition & { kind: "flag" })["name"]>(
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
      ).map((name) => ({ kind: "flag", name }) as const),
      fc
        .subarray(["unverified", "verified", "certified", "none"], { minLength: 1 })
        .map((values) => ({ kind: "trust", values }) as const),
      pick("read", "write", "r").map((start) => ({ kind: "name", start }) as const),
      pick("a", "b").map((tag) => ({ kind: "tag", tag }) as const),
      fc.record({
        kind: pick("serverLabel" as const),
        key: pick("team", "data"),
        value: pick("core", "web", "public"),
      }),
      pick({ kind: "sameTeam" as const }),
      idArbitrary.map((id) => ({ kind: "named", id }) as const),
      pick("Tool" as const, "Resource" as const, "Prompt" as const).map(
        (type) => ({ kind: "kind", type }) as const,
      ),
      fc.record({ kind: pick("text" as const), name: pick("path", "q"), start: pick("/etc", "/", "5", "t") }),
      fc.record({ kind: pick("above" as const), name: pick("amount", "n"), limit: pick(-1, 0, 5, 1000) }),
      pick(0, 1).map((atMost) => ({ kind: "depth", atMost }) as const),
      pick(...labels).map((label) => ({ kind: "seen", label }) as const),
      pick(6, 12, 18).map((before) => ({ kind: "hour", before }) as const),
      pick(...days).map((day) => ({ kind: "weekday", day }) as const),
    ),
    condition: fc.oneof(
      { weight: 6, arbitrary: tie("plain") },
      {
        weight: 1,
        arbitrary: fc.record({ kind: pick("either" as const), left: tie("plain"), right: tie("plain") }),
      },
      { weight: 1, arbitrary: tie("plain").map((one) => ({ kind: "not", one }) as const) },
    ),
  }),
).condition;

const isOfCalls = (condition: Condition): boolean =>
  condition.kind === "either"
    ? isOfCalls(condition.left) || isOfCalls(condition.right)
    : condition.kind === "not"
      ? isOfCalls(condition.one)
      : ["text", "above", "depth", "seen", "hour", "weekday"].includes(condition.kind);

/** Random policies. A condition about a call is in a policy about calls. */
export const policyArbitrary: fc.Arbitrary<RandomPolicy> = fc
  .record({
    effect: fc.oneof(
      { weight: 2, arbitrary: pick("permit" as const) },
      { weight: 1, arbitrary: pick("forbid" as const) },
    ),
    client: fc.oneof(
      pick({ op: "any" as const }),
      pick(...clientNames).map((id) => ({ op: "is", id }) as const),
      pick("robot", "human").map((id) => ({ op: "role", id }) as const),
    ),
    action: pick("any" as const, "use" as const, "list" as const, "call" as const),
    target: fc.oneof(
      pick({ op: "any" as const }),
      idArbitrary.map((id) => ({ op: "tool", id }) as const),
      pick(...serverIds).map((id) => ({ op: "server", id }) as const),
    ),
    conditions: fc.array(conditionArbitrary, { maxLength: 3 }),
  })
  .map((policy) => (policy.conditions.some(isOfCalls) ? { ...policy, action: "call" as const } : policy));

const argument = fc.oneof(
  pick<unknown>("/etc/passwd", "/tmp/x", "text", "", "5", 5, 4, 1001, -1, 0, true, null),
  pick<unknown>(0.5, 1e300, ["/etc/passwd"], { a: 1 }),
);

/** Random requests. */
export const requestArbitrary: fc.Arbitrary<RandomRequest> = fc
  .record({
    client: pick(...clientNames),
    action: pick("list" as const, "call" as const),
    kind: pick("tool" as const, "tool" as const, "resource" as const, "prompt" as const),
    server: pick(...serverIds),
    name: pick(...names),
    trustState: pick("unverified" as const, "verified" as const, "certified" as const, "none" as const),
    serverLabels: pick<{ [key: string]: string }>({}, { team: "core" }, { team: "web", data: "public" }),
    tags: fc.subarray(["a", "b"]),
    isReadOnly: fc.boolean(),
    isDestructive: fc.boolean(),
    isIdempotent: fc.boolean(),
    isOpenWorld: fc.boolean(),
    args: fc.dictionary(pick("path", "q", "amount", "n", "other"), argument, { maxKeys: 3 }),
    depth: pick(0, 1, 2),
    seenLabels: fc.subarray(labels),
    now: fc.integer({ min: 0, max: 14 * 24 }).map((hours) => Date.UTC(2026, 0, 1) + hours * 3_600_000),
  })
  .map(
    ({
      client,
      action,
      kind,
      server,
      name,
      trustState,
      serverLabels,
      tags,
      args,
      depth,
      seenLabels,
      now,
      ...flags
    }) => {
      const path = kind === "tool" ? name : `${kind}s/${name}`;
      return {
        identity: localIdentity(client === "anonymous" ? "anonymous" : "token", client),
        action,
        target: {
          kind,
          id: `${server}:${path}`,
          name,
          wireName: `${server}__${path}`,
          server: {
            id: server,
            transport: "stdio",
            trustState,
            mutabilityClass: "unknown",
            labels: serverLabels,
          },
          origin: "server",
          version: "",
          tags,
          ...flags,
        } satisfies PolicyTarget,
        call:
          action === "call"
            ? ({ args, depth, parentTool: "", era: "modern", now, labels: [], seenLabels } as CallFacts)
            : undefined,
      };
    },
  );

/** Writes a policy as Cedar. */
export function toCedar({ effect, client, action, target, conditions }: RandomPolicy): string {
  const principal =
    client.op === "any"
      ? "principal"
      : client.op === "is"
        ? `principal == Client::"${client.id}"`
        : `principal in Role::"${client.id}"`;
  const verb =
    action === "any"
      ? 'action in Action::"use"'
      : action === "use"
        ? 'action in Action::"use"'
        : `action == Action::"${action}"`;
  const resource =
    target.op === "any"
      ? "resource"
      : target.op === "tool"
        ? `resource == Tool::"${target.id}"`
        : `resource in ToolServer::"${target.id}"`;
  const when = conditions.map((condition) => `(${conditionText(condition)})`).join(" && ");
  return `${effect}(${principal}, ${verb}, ${resource})${when === "" ? "" : ` when { ${when} }`};`;
}

function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case "flag":
      return `resource.${condition.name}`;
    case "trust":
      return `[${condition.values.map((value) => `"${value}"`).join(", ")}].contains(resource.server.trust_state)`;
    case "name":
      return `resource.name like "${condition.start}*"`;
    case "tag":
      return `resource.tags.contains("${condition.tag}")`;
    case "serverLabel":
      return `resource.server.hasTag("${condition.key}") && resource.server.getTag("${condition.key}") == "${condition.value}"`;
    case "sameTeam":
      return 'principal.hasTag("team") && resource.server.hasTag("team") && principal.getTag("team") == resource.server.getTag("team")';
    case "named":
      return `resource == Tool::"${condition.id}"`;
    case "kind":
      return `resource is ${condition.type}`;
    case "text":
      return `context.arguments.hasTag("${condition.name}") && context.arguments.getTag("${condition.name}") like "${condition.start}*"`;
    case "above":
      return `context.integers.hasTag("${condition.name}") && context.integers.getTag("${condition.name}") > ${condition.limit}`;
    case "depth":
      return `context.depth <= ${condition.atMost}`;
    case "seen":
      return `context.seen_labels.contains("${condition.label}")`;
    case "hour":
      return `context.time.hour < ${condition.before}`;
    case "weekday":
      return `context.time.weekday == "${condition.day}"`;
    case "either":
      return `(${conditionText(condition.left)}) || (${conditionText(condition.right)})`;
    case "not":
      return `!(${conditionText(condition.one)})`;
  }
}

/** The value of a condition for a request; `unclear` where an argument cannot be judged. */
type Truth = boolean | "unclear";

/** Decides a request: any policy about it that reads an argument of another form denies, then any forbid, then a permit is needed. */
export function referenceDecision(
  policies: readonly RandomPolicy[],
  request: RandomRequest,
): "allow" | "deny" {
  const about = policies.filter((policy) => isAbout(policy, request));
  if (about.some(({ conditions }) => conditions.some((one) => readsUnclear(one, request)))) return "deny";
  const holding = about.filter(({ conditions }) => conditions.every((one) => truthOf(one, request) === true));
  if (holding.some(({ effect }) => effect === "forbid")) return "deny";
  return holding.some(({ effect }) => effect === "permit") ? "allow" : "deny";
}

function isAbout({ client, action, target }: RandomPolicy, request: RandomRequest): boolean {
  const { name } = request.identity;
  if (client.op === "is" && client.id !== name) return false;
  if (client.op === "role" && !attributes[name]?.roles.includes(client.id)) return false;
  if ((action === "list" || action === "call") && action !== request.action) return false;
  if (target.op === "server") return target.id === request.target.server.id;
  return target.op === "any" || (request.target.kind === "tool" && target.id === request.target.id);
}

function readsUnclear(condition: Condition, request: RandomRequest): boolean {
  const value = request.call?.args[(condition as { name?: string }).name ?? ""];
  switch (condition.kind) {
    case "either":
      return readsUnclear(condition.left, request) || readsUnclear(condition.right, request);
    case "not":
      return readsUnclear(condition.one, request);
    case "text":
      return typeof value === "object" && value !== null;
    case "above":
      return value !== undefined && value !== null && !Number.isSafeInteger(value);
    default:
      return false;
  }
}

function truthOf(condition: Condition, request: RandomRequest): Truth {
  const { target, call } = request;
  const team = attributes[request.identity.name]?.labels["team"];
  switch (condition.kind) {
    case "flag":
      return {
        read_only: target.isReadOnly,
        destructive: target.isDestructive,
        idempotent: target.isIdempotent,
        open_world: target.isOpenWorld,
      }[condition.name];
    case "trust":
      return condition.values.includes(target.server.trustState);
    case "name":
      return target.name.startsWith(condition.start);
    case "tag":
      return target.tags.includes(condition.tag);
    case "serverLabel":
      return target.server.labels[condition.key] === condition.value;
    case "sameTeam":
      return team !== undefined && target.server.labels["team"] === team;
    case "named":
      return target.kind === "tool" && target.id === condition.id;
    case "kind":
      return target.kind === condition.type.toLowerCase();
    case "text": {
      const value = call?.args[condition.name];
      return value !== undefined && value !== null && String(value).startsWith(condition.start);
    }
    case "above": {
      const value = call?.args[condition.name];
      return typeof value === "number" && value > condition.limit;
    }
    case "depth":
      return (call?.depth ?? 0) <= condition.atMost;
    case "seen":
      return call?.seenLabels.includes(condition.label) === true;
    case "hour":
      return new Date(call?.now ?? 0).getUTCHours() < condition.before;
    case "weekday":
      return days[new Date(call?.now ?? 0).getUTCDay()] === condition.day;
    case "either":
      return truthOf(condition.left, request) === true || truthOf(condition.right, request) === true;
    case "not":
      return truthOf(condition.one, request) !== true;
  }
}
