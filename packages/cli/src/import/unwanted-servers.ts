/**
 * `<home>/unwanted-servers.json`: servers of clients that the user does not want in a configuration file, because
 * `toolcrib remove` took them out of it, or because the user declined an import. A server is known by its settings: the
 * digest of its transport, in which references stand for its secrets, and a slow digest with salt of the values of these
 * secrets. Its id is not among them, and neither is a secret whose value is not known. A file that cannot be read counts
 * as empty: the servers are offered again. Limits: the newest 1,000 records, and the newest 8 of servers that differ in
 * their secrets only.
 */

import { randomBytes, scryptSync } from "node:crypto";
import { join } from "node:path";
import {
  FilesError,
  makePrivateDirectory,
  readRegularFile,
  removeFile,
  replaceFile,
  waitForLock,
} from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { sha256Of } from "../connect/connection-store.ts";
import type { FoundSecret, Unwanted } from "./import-types.ts";
import { plainAddress, variablesIn } from "./plan-import.ts";

/** The settings of a server. */
export interface ServerSettings {
  readonly transport: JsonObject;
  /** The values of its secrets, by the names in `transport`; undefined where only the user has one. */
  readonly secrets: readonly Pick<FoundSecret, "name" | "value">[];
}

interface UnwantedServer extends Unwanted {
  /** Complete path of the configuration file. */
  readonly file: string;
  /** SHA-256 of the transport without secrets, as hexadecimal digits. */
  readonly settings: string;
  /** The salt and the digest of the values of its secrets, as hexadecimal digits; absent where it has none, or not all are known. */
  readonly secrets?: { readonly salt: string; readonly digest: string };
}

/** Most records, and most bytes of the file. */
const maxRecords = 1000;
const fileMaxBytes = 8 * 1024 * 1024;
/** Most records of one file with the same settings: each compares secrets slowly. */
const maxAlike = 8;
/** Longest wait for another command that changes the file, in milliseconds. */
const lockMaxMs = 5000;

/** Returns what is unwanted in the configuration `file`, as a function of a server. */
export async function readUnwanted(
  home: string,
  file: string,
): Promise<(server: ServerSettings) => Unwanted | undefined> {
  const own = (await readAll(home)).filter((one) => one.file === file);
  return (server) => {
    const known = knownBy(server);
    const found = own.findLast((one) => isSame(one, known));
    return found === undefined ? undefined : { reason: found.reason, at: found.at };
  };
}

/**
 * Records that `servers` are unwanted in the configuration `file`, or wanted again. A home that cannot be written is
 * noted: nothing depends on the record but what is offered later.
 */
export async function recordUnwanted(
  { options, now, output }: Pick<CliContext, "options" | "now" | "output">,
  file: string,
  servers: readonly ServerSettings[],
  reason: Unwanted["reason"] | "wanted",
): Promise<void> {
  if (servers.length === 0) return;
  const known = servers.map(knownBy);
  const isOther = (one: UnwantedServer) => one.file !== file || !known.some((server) => isSame(one, server));
  const at = now();
  const change = (records: readonly UnwantedServer[]) => {
    const others = records.filter(isOther);
    if (reason === "wanted") return others;
    return withinLimits([...others, ...known.map((server) => recordOf(file, server, { reason, at }))]);
  };
  let problem: string | undefined;
  try {
    const isWritten = await changeAll(options.home, change);
    if (!isWritten) problem = `another command has kept it busy for ${lockMaxMs / 1000} s`;
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    problem = error.message;
  }
  if (problem === undefined) return;
  const what =
    reason === "wanted" ? "that these servers are wanted again" : "that these servers are not wanted";
  output.note(`note: ${what} is not remembered in ${pathOf(options.home)}: ${problem}`);
}

/** Changes the records. @returns whether they were changed, or are already so; not while another command has the lock */
async function changeAll(
  home: string,
  change: (records: readonly UnwantedServer[]) => readonly UnwantedServer[],
): Promise<boolean> {
  const before = await readAll(home);
  if (JSON.stringify(change(before)) === JSON.stringify(before)) return true;
  const locks = join(home, "locks");
  await makePrivateDirectory(locks);
  using lock = await waitForLock(locks, "unwanted-servers", lockMaxMs);
  if (lock === undefined) return false;
  const records = change(await readAll(home)).slice(-maxRecords);
  if (records.length === 0) await removeFile(pathOf(home));
  else await replaceFile({ randomBytes }, pathOf(home), `${JSON.stringify(records)}\n`);
  return true;
}

/** The facts by which a server is known: its settings without secrets, and the values of these in their order. */
interface Known {
  readonly settings: string;
  /** Undefined where it has none, or not all are known. */
  readonly secrets: string | undefined;
}

function knownBy({ transport, secrets }: ServerSettings): Known {
  const values: (string | undefined)[] = [];
  const withoutSecrets = (part: JsonValue | undefined): JsonValue => {
    if (Array.isArray(part)) return part.map(withoutSecrets);
    if (typeof part !== "object" || part === null) return String(part);
    const members = part as JsonObject;
    return Object.keys(members)
      .toSorted()
      .map((name) => {
        const member = members[name];
        if (name !== "secret_key_ref" || typeof member !== "string") return [name, withoutSecrets(member)];
        values.push(secrets.find((secret) => secret.name === member)?.value);
        return [name];
      });
  };
  const { kind: _kind, command: _command, args, url, ...others } = transport;
  // The address writes programs and arguments of one meaning in one way.
  withoutSecrets([args ?? null, url ?? null]);
  const variables = [variablesIn(args), variablesIn(url)];
  const settings = sha256Of(JSON.stringify([plainAddress(transport), variables, withoutSecrets(others)]));
  const isKnown = values.length > 0 && values.every((value) => value !== undefined);
  return { settings, secrets: isKnown ? JSON.stringify(values) : undefined };
}

/** Whether a record is about a server. Secrets that are not known do not tell them apart. */
function isSame({ settings, secrets }: UnwantedServer, known: Known): boolean {
  if (settings !== known.settings) return false;
  if (secrets === undefined || known.secrets === undefined) return true;
  return slowDigestOf(known.secrets, secrets.salt) === secrets.digest;
}

function recordOf(file: string, { settings, secrets }: Known, unwanted: Unwanted): UnwantedServer {
  const record = { file, settings, ...unwanted };
  if (secrets === undefined) return record;
  const salt = randomBytes(16).toString("hex");
  return { ...record, secrets: { salt, digest: slowDigestOf(secrets, salt) } };
}

/** A digest whose input cannot be found by trying many: passwords can be short. */
function slowDigestOf(text: string, salt: string): string {
  return scryptSync(text, salt, 32).toString("hex");
}

function withinLimits(records: readonly UnwantedServer[]): readonly UnwantedServer[] {
  const newest = Map.groupBy(records, ({ file, settings }) => JSON.stringify([file, settings]));
  const kept = new Set([...newest.values()].flatMap((alike) => alike.slice(-maxAlike)));
  return records.filter((one) => kept.has(one));
}

async function readAll(home: string): Promise<readonly UnwantedServer[]> {
  try {
    const { bytes } = await readRegularFile(pathOf(home), fileMaxBytes);
    const value = parseJson(new TextDecoder().decode(bytes), { maxLength: fileMaxBytes });
    return Array.isArray(value) ? value.flatMap(parseRecord).slice(-maxRecords) : [];
  } catch {
    return [];
  }
}

function parseRecord(value: JsonValue): readonly UnwantedServer[] {
  if (!isJsonObject(value)) return [];
  const { file, settings, reason, at, secrets } = value;
  if (typeof file !== "string" || typeof settings !== "string" || typeof at !== "number") return [];
  // Not every number is a time.
  if ((reason !== "removed" && reason !== "declined") || Number.isNaN(new Date(at).getTime())) return [];
  const record: UnwantedServer = { file, settings, reason, at };
  if (secrets === undefined) return [record];
  if (!isJsonObject(secrets)) return [];
  const { salt, digest } = secrets;
  return typeof salt === "string" && typeof digest === "string"
    ? [{ ...record, secrets: { salt, digest } }]
    : [];
}

function pathOf(home: string): string {
  return join(home, "unwanted-servers.json");
}

/** Returns why a server is left out, for a sentence about it. */
export function unwantedText({ reason, at }: Unwanted): string {
  return `you ${reason} it on ${new Date(at).toISOString().slice(0, 10)}`;
}
