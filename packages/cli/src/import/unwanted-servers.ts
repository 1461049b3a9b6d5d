/**
 * `<home>/unwanted-servers.json`: servers of clients that the user does not want in a configuration file, because
 * `toolcrib remove` took them out of it, or because the user declined an import. A server is known by the digest of
 * its command line or URL, in which references stand for its secrets. A file that cannot be read counts as empty: the servers are offered
 * again. Limits: the newest 1,000 records.
 */

import { randomBytes } from "node:crypto";
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
import type { Unwanted } from "./import-types.ts";
import { plainAddress } from "./plan-import.ts";

interface UnwantedServer extends Unwanted {
  /** Complete path of the configuration file. */
  readonly file: string;
  /** SHA-256 of the command line or URL, as hexadecimal digits. */
  readonly address: string;
}

/** Most records, and most bytes of the file. */
const maxRecords = 1000;
const fileMaxBytes = 8 * 1024 * 1024;
/** Longest wait for another command that changes the file, in milliseconds. */
const lockMaxMs = 5000;

/** Returns what is unwanted in the configuration `file`, as a function of a transport. */
export async function readUnwanted(
  home: string,
  file: string,
): Promise<(transport: JsonObject) => Unwanted | undefined> {
  const own = new Map(
    (await readAll(home)).flatMap((one) => (one.file === file ? [[one.address, one] as const] : [])),
  );
  return (transport) => {
    const found = own.get(digestOf(transport));
    return found === undefined ? undefined : { reason: found.reason, at: found.at };
  };
}

/**
 * Records that servers with `transports` are unwanted in the configuration `file`, or wanted again. A home that cannot
 * be written is noted: nothing depends on the record but what is offered later.
 */
export async function recordUnwanted(
  { options, now, output }: Pick<CliContext, "options" | "now" | "output">,
  file: string,
  transports: readonly JsonObject[],
  reason: Unwanted["reason"] | "wanted",
): Promise<void> {
  if (transports.length === 0) return;
  const addresses = new Set(transports.map(digestOf));
  const change = (records: readonly UnwantedServer[]) => {
    const others = records.filter((one) => one.file !== file || !addresses.has(one.address));
    if (reason === "wanted") return others;
    return [...others, ...[...addresses].map((address) => ({ file, address, reason, at: now() }))];
  };
  try {
    await changeAll(options.home, change);
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    output.note(`note: that these servers are not wanted is not remembered: ${error.message}`);
  }
}

async function changeAll(
  home: string,
  change: (records: readonly UnwantedServer[]) => readonly UnwantedServer[],
): Promise<void> {
  const before = await readAll(home);
  if (JSON.stringify(change(before)) === JSON.stringify(before)) return;
  const locks = join(home, "locks");
  await makePrivateDirectory(locks);
  using lock = await waitForLock(locks, "unwanted-servers", lockMaxMs);
  if (lock === undefined) return;
  const records = change(await readAll(home)).slice(-maxRecords);
  if (records.length === 0) await removeFile(pathOf(home));
  else await replaceFile({ randomBytes }, pathOf(home), `${JSON.stringify(records)}\n`);
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
  const { file, address, reason, at } = value;
  if (typeof file !== "string" || typeof address !== "string" || typeof at !== "number") return [];
  // Not every number is a time.
  if ((reason !== "removed" && reason !== "declined") || Number.isNaN(new Date(at).getTime())) return [];
  return [{ file, address, reason, at }];
}

function digestOf(transport: JsonObject): string {
  return sha256Of(plainAddress(transport));
}

function pathOf(home: string): string {
  return join(home, "unwanted-servers.json");
}

/** Returns why a server is left out, for a sentence about it. */
export function unwantedText({ reason, at }: Unwanted): string {
  return `you ${reason} it on ${new Date(at).toISOString().slice(0, 10)}`;
}
