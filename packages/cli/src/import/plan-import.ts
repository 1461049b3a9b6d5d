/**
 * Decides what becomes of each server that was found: a new entry, part of another one (the same command or URL in
 * several clients), one that the configuration has already, Toolcrib itself, or one that cannot be imported. Each
 * server is in the result exactly once.
 */

import { lintServerId, parseConfigLayer } from "@toolcrib/config";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { DeclaredServer } from "./declared-servers.ts";
import type { FoundServer, FoundServers } from "./find-servers.ts";
import type { FoundSecret, ImportPlan, LeftOut, PlannedServer } from "./import-types.ts";
import { isOwnEntry } from "./own-entry.ts";
import { type ResolveContext, type ResolvedServer, resolveServer } from "./resolve-server.ts";
import { isSecretValue } from "./secret-values.ts";

/** The configuration that gets the entries. */
export interface Target {
  /** Ids that are taken. */
  readonly ids: readonly string[];
  /** Entries that exist. */
  readonly entries: readonly DeclaredServer[];
  /** Addresses of gateways of this home. */
  readonly ownUrls: readonly string[];
}

/** Options of a plan. */
export interface PlanOptions {
  /** Whether to import servers that their clients have switched off. */
  readonly withDisabled: boolean;
}

/** Most entries of one import. */
const maxEntries = 500;

type Draft = { -readonly [K in keyof PlannedServer]: PlannedServer[K] };

/** Plans the import of what was found. */
export function planImport(
  found: FoundServers,
  target: Target,
  context: ResolveContext,
  { withDisabled }: PlanOptions,
): ImportPlan {
  const drafts: Draft[] = [];
  const leftOut: LeftOut[] = [...found.leftOut];
  for (const one of found.servers) {
    const { server, origin } = one;
    if (isOwnEntry(server, target.ownUrls)) {
      leftOut.push({ origin, reason: "it is Toolcrib itself" });
      continue;
    }
    if (server.isDisabled && !withDisabled) {
      leftOut.push({ origin, reason: "it is switched off in its client; --with-disabled imports it" });
      continue;
    }
    const taken = [...target.ids, ...drafts.map(({ id }) => id)];
    const id = freeId(server.name, taken);
    const resolved = resolveServer(server, id, context);
    if ("reason" in resolved) {
      leftOut.push({ origin, reason: resolved.reason });
      continue;
    }
    const same = target.entries.filter(({ transport }) => isSameTransport(transport, resolved.transport));
    const present = same.find(({ transport }) => hasSameNames(transport, resolved.transport)) ?? same[0];
    if (present !== undefined) {
      const reason = `the configuration has it as ${present.id}`;
      // What the entry needs, which another client can have brought, and what this client needs.
      const isIncomplete = resolved.secrets.some(({ value }) => value === undefined);
      const secrets = isIncomplete ? secretNamesIn(present.transport) : [];
      const absent = variablesIn(present.transport).filter((name) => (context.env[name] ?? "") === "");
      const unset = [...new Set([...resolved.unset, ...absent])];
      leftOut.push({
        origin,
        reason,
        ...(present.isOff ? {} : { present: { id: present.id, unset, secrets } }),
      });
      continue;
    }
    const twin = drafts.find(
      (draft) => isTwin(draft, resolved) && isMergeable(draft, resolved, origin.project),
    );
    if (twin !== undefined) {
      twin.origins = [...twin.origins, origin];
      join(twin, resolved);
      continue;
    }
    const draft = draftOf(one, id, resolved);
    const refusal =
      drafts.length < maxEntries
        ? refusalOf(draft.entry)
        : `one import adds at most ${maxEntries} servers; run it again`;
    if (refusal === undefined) drafts.push(draft);
    else leftOut.push({ origin, reason: refusal });
  }
  return { servers: drafts, leftOut, problems: found.problems, files: found.files };
}

function draftOf({ server, origin }: FoundServer, id: string, resolved: ResolvedServer): Draft {
  const { description, timeoutSeconds, name } = server;
  const hasSecret = description !== undefined && isSecretValue("plain", "", description);
  const entry: JsonObject = {
    id,
    ...(name === id || /[\x00-\x1f]/.test(name) ? {} : { name: name.slice(0, 200) }),
    ...(description === undefined || description.trim() === "" || hasSecret
      ? {}
      : { description: description.slice(0, 1000) }),
    transport: resolved.transport,
    ...(timeoutSeconds === undefined ? {} : { containment: { max_execution_seconds: timeoutSeconds } }),
  };
  const notes = [
    ...(name === id ? [] : [`its id is ${id}: ${idReason(name)}`]),
    ...(hasSecret ? ["its description is not taken over: it contains a secret"] : []),
    ...resolved.notes,
  ];
  const { secrets, shown, unpinned, unset } = resolved;
  return {
    id,
    entry,
    secrets,
    origins: [origin],
    shown,
    unpinned,
    notes,
    isDisabled: server.isDisabled,
    unset,
  };
}

function idReason(name: string): string {
  return lintServerId(name)?.reason ?? "the name is taken by another server";
}

/** Returns a valid id that no other entry has. */
function freeId(name: string, taken: readonly string[]): string {
  const fold = (id: string) => id.toLowerCase().replace(/[_.-]+/g, "-");
  const base = lintServerId(name)?.fix ?? name;
  const ids = new Set(taken.map(fold));
  if (!ids.has(fold(base))) return base;
  for (let count = 2; ; count += 1) {
    const id = `${base.slice(0, 36)}-${count}`;
    if (!ids.has(fold(id))) return id;
  }
}

/** Returns the key that decides whether two servers are one: their command with its arguments, or their URL. */
function addressOf(transport: JsonObject, secrets: readonly FoundSecret[]): string {
  const value = (part: JsonValue | undefined): JsonValue => {
    if (Array.isArray(part)) return part.map(value);
    const name = nameOf(part);
    return name === undefined
      ? (part ?? null)
      : (secrets.find((secret) => secret.name === name)?.value ?? "(secret)");
  };
  const { kind, command, args, url } = transport;
  if (kind !== "stdio")
    return JSON.stringify(["http", typeof url === "string" ? url.replace(/\/$/, "") : value(url)]);
  const program = String(command).replace(/\.(?:cmd|exe)$/i, "");
  const words = (Array.isArray(args) ? args : []).filter((word) => !/^(?:-y|--yes)$/.test(String(word)));
  const isShell = /^cmd$/i.test(program) && String(words[0]).toLowerCase() === "/c";
  return JSON.stringify(isShell ? value(words.slice(1)) : [program, ...(value(words) as JsonValue[])]);
}

function nameOf(part: JsonValue | undefined): string | undefined {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return undefined;
  const { secret_key_ref: ref } = part as JsonObject;
  return typeof ref === "string" ? ref : ref === undefined ? undefined : JSON.stringify(ref);
}

/** Returns the names of all stored secrets that a part of an entry refers to. */
export function secretNamesIn(part: JsonValue | undefined): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(secretNamesIn);
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part as JsonObject).flatMap(([key, value]) =>
    key === "secret_key_ref" && typeof value === "string" ? [value] : secretNamesIn(value),
  );
}

/** Returns the names of all variables of the environment that a part of an entry refers to. */
export function variablesIn(part: JsonValue | undefined): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(variablesIn);
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part as JsonObject).flatMap(([key, value]) => {
    if (key !== "secret_key_ref") return variablesIn(value);
    const env = typeof value === "object" && value !== null ? (value as JsonObject)["env"] : undefined;
    return typeof env === "string" ? [env] : [];
  });
}

/**
 * Whether two servers are one: the same address, no variable or header of different values or from different variables
 * of the environment, and nothing that only one has and that does not work here, because its variable is not set.
 */
function isTwin(draft: Draft, resolved: ResolvedServer): boolean {
  const transport = draft.entry["transport"] as JsonObject;
  if (addressOf(transport, draft.secrets) !== addressOf(resolved.transport, resolved.secrets)) return false;
  if ((transport["cwd"] ?? null) !== (resolved.transport["cwd"] ?? null)) return false;
  const isOfOther = (one: readonly string[], other: readonly string[]) =>
    one.length > 0 && other.length > 0 && one.join(" ") !== other.join(" ");
  const [args, url] = [variablesIn(transport["args"]), variablesIn(transport["url"])];
  if (isOfOther(args, variablesIn(resolved.transport["args"]))) return false;
  if (isOfOther(url, variablesIn(resolved.transport["url"]))) return false;
  return ["env", "headers"].every((field) => {
    const [one, other] = [mapOf(transport, field), mapOf(resolved.transport, field)];
    if (hasOwnNeed(one, other, draft.unset) || hasOwnNeed(other, one, resolved.unset)) return false;
    return Object.keys(one).every((name) => {
      if (!Object.hasOwn(other, name)) return true;
      if (isOfOther(variablesIn(one[name]), variablesIn(other[name]))) return false;
      const [mine, theirs] = [
        knownValue(one[name], draft.secrets),
        knownValue(other[name], resolved.secrets),
      ];
      return mine === undefined || theirs === undefined || mine === theirs;
    });
  });
}

/** Whether one server needs a variable that is not set, for something that the other works without. */
function hasOwnNeed(one: JsonObject, other: JsonObject, unset: readonly string[]): boolean {
  return Object.keys(one).some(
    (name) => !Object.hasOwn(other, name) && variablesIn(one[name]).some((env) => unset.includes(env)),
  );
}

/**
 * Whether the twins may be one entry: those of one place may, and the file of a project must not add to a server of
 * the user, or of another project, a variable or header that decides where its secrets go.
 */
function isMergeable(draft: Draft, resolved: ResolvedServer, project: string | undefined): boolean {
  if (draft.origins.every((origin) => origin.project === project)) return true;
  const written = { transport: draft.entry["transport"] as JsonObject, secrets: draft.secrets };
  return project === undefined ? addsNothing(written, resolved, true) : addsNothing(resolved, written, false);
}

/** @param isKept whether values of `foreign` stay where nobody knows them */
function addsNothing(
  foreign: Pick<ResolvedServer, "transport" | "secrets">,
  own: Pick<ResolvedServer, "transport" | "secrets">,
  isKept: boolean,
): boolean {
  return ["env", "headers"].every((field) => {
    const [theirs, mine] = [mapOf(foreign.transport, field), mapOf(own.transport, field)];
    return Object.keys(theirs).every((name) => {
      if (!Object.hasOwn(mine, name)) return false;
      const [value, other] = [knownValue(theirs[name], foreign.secrets), knownValue(mine[name], own.secrets)];
      if (value !== undefined) return value === other;
      return !isKept || other !== undefined || JSON.stringify(theirs[name]) === JSON.stringify(mine[name]);
    });
  });
}

/** A value, or undefined for one that only the environment or the user knows. */
function knownValue(value: JsonValue | undefined, secrets: readonly FoundSecret[]): string | undefined {
  const name = nameOf(value);
  return name === undefined ? JSON.stringify(value) : secrets.find((secret) => secret.name === name)?.value;
}

function mapOf(transport: JsonObject, field: string): JsonObject {
  const map = transport[field];
  return typeof map === "object" && map !== null && !Array.isArray(map) ? (map as JsonObject) : {};
}

/** Adds to an entry what only its twin has: variables and headers, and the values of secrets. */
function join(draft: Draft, resolved: ResolvedServer): void {
  const transport = draft.entry["transport"] as JsonObject;
  const parts: { [field: string]: JsonObject } = {};
  let secrets = draft.secrets;
  for (const field of ["env", "headers"]) {
    const [one, other] = [mapOf(transport, field), mapOf(resolved.transport, field)];
    const merged: { [name: string]: JsonValue } = { ...(one as { [name: string]: JsonValue }) };
    for (const [name, value] of Object.entries(other)) {
      if (value === undefined) continue;
      const isBetter =
        !Object.hasOwn(one, name) ||
        (knownValue(one[name], secrets) === undefined && knownValue(value, resolved.secrets) !== undefined);
      if (!isBetter) continue;
      const old = nameOf(one[name]);
      const own = resolved.secrets.filter((secret) => secret.name === nameOf(value));
      secrets = [...secrets.filter((secret) => secret.name !== old), ...own];
      merged[name] = value;
    }
    if (Object.keys(merged).length > 0) parts[field] = merged;
  }
  draft.secrets = secrets;
  const joined = { ...transport, ...parts };
  draft.entry = { ...draft.entry, transport: joined };
  draft.notes = [...new Set([...draft.notes, ...resolved.notes])];
  const needed = variablesIn(joined);
  draft.unset = [...new Set([...draft.unset, ...resolved.unset])].filter((name) => needed.includes(name));
}

/** Whether two transports have variables and headers of the same names. */
function hasSameNames(one: JsonObject, other: JsonObject): boolean {
  const names = (transport: JsonObject) =>
    ["env", "headers"].map((field) => Object.keys(mapOf(transport, field)).sort());
  return JSON.stringify(names(one)) === JSON.stringify(names(other));
}

/** Whether an entry of the configuration is the server; the names of its secrets say nothing. */
function isSameTransport(present: JsonObject, transport: JsonObject): boolean {
  return plainAddress(present) === plainAddress(transport);
}

/** Returns the kind of a transport with its command line or URL, without the values and names of secrets. */
export function plainAddress(transport: JsonObject): string {
  return `${String(transport["kind"])} ${addressOf(transport, [])}`;
}

/** Why the configuration would refuse an entry. */
function refusalOf(entry: JsonObject): string | undefined {
  const source = { name: "import", text: JSON.stringify({ tool_servers: [entry] }) };
  const error = parseConfigLayer(source).diagnostics.find(({ severity }) => severity === "error");
  return error?.message;
}
