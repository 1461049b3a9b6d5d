/**
 * The file of one session: `<digest of the id>.session`, one sealed line. It is replaced whole. Reading it is bounded,
 * and a file that is not sealed by this home is not a session.
 */

import { join } from "node:path";
import { errnoOf, NotRegularError, readRegularFile, replaceFile } from "@toolcrib/files";
import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { type SessionRecord, StoreError } from "@toolcrib/store";
import { fileNameOf, type Seal } from "./seal.ts";

/** Most bytes of JSON of one session. @limit client */
export const sessionMaxBytes = 65_536;
/** Most bytes of a file: the session, the run that it belongs to, and the seal. */
const fileMaxBytes = sessionMaxBytes + 1024;
const formatVersion = 1;

/** A session as stored. Its file has no id: only a client that knows the id can continue it. */
export interface StoredSession {
  readonly session: SessionRecord;
  /** The run of the gateway that has it. */
  readonly run: string;
}

/** Returns a session as text. @throws {StoreError} `STORE_RECORD_TOO_LARGE` */
export function toText(session: SessionRecord): string {
  const text = JSON.stringify(session);
  if (Buffer.byteLength(text) <= sessionMaxBytes) return text;
  const message = `Cannot store a session: at most ${sessionMaxBytes} bytes of JSON are allowed`;
  throw new StoreError("STORE_RECORD_TOO_LARGE", message, {
    hint: "the session works, and ends with the gateway",
  });
}

/** Replaces the file of a session. @throws {FilesError} */
export async function writeSession(
  { folder, seal, randomBytes }: SessionFiles,
  { session, run }: StoredSession,
): Promise<void> {
  const { id, ...stored } = session;
  const name = fileNameOf(id);
  const text = JSON.stringify({ format: formatVersion, run, session: stored });
  await replaceFile({ randomBytes }, pathOf(folder, name), `${seal.close(name, text)}\n`);
}

/** Where the files are, and how they are sealed. */
export interface SessionFiles {
  readonly folder: string;
  readonly seal: Seal;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Reads the file `name`. `id` is that of the session, empty where it is not known.
 *
 * @returns undefined for a file that does not exist
 * @throws {StoreError} `STORE_UNREADABLE` for one that is no session of this home
 */
export async function readSession(
  { folder, seal }: Pick<SessionFiles, "folder" | "seal">,
  name: string,
  id = "",
): Promise<StoredSession | undefined> {
  const path = pathOf(folder, name);
  let line: string;
  try {
    const { bytes } = await readRegularFile(path, fileMaxBytes);
    line = Buffer.from(bytes).toString("utf8");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    if (cause instanceof NotRegularError || errnoOf(cause) !== undefined) throw unreadable(path, cause);
    throw cause;
  }
  const text = line.endsWith("\n") ? seal.open(name, line.slice(0, -1)) : undefined;
  const stored = text === undefined ? undefined : parsed(text, id);
  if (stored === undefined) throw unreadable(path);
  return stored;
}

export function pathOf(folder: string, name: string): string {
  return join(folder, `${name}.session`);
}

/** The seal says that this program wrote the text; another version can have written other members. */
function parsed(text: string, id: string): StoredSession | undefined {
  let value: unknown;
  try {
    value = parseJson(text, { maxLength: fileMaxBytes });
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value["format"] !== formatVersion) return undefined;
  const { run, session } = value;
  if (typeof run !== "string" || !isJsonObject(session) || !hasMembers(session)) return undefined;
  return { run, session: { ...session, id } as unknown as SessionRecord };
}

function hasMembers(session: JsonObject): boolean {
  const { identity, view, protocolVersion, capabilities, logLevel, subscriptions, clientInfo } = session;
  return (
    isJsonObject(identity) &&
    typeof identity["issuer"] === "string" &&
    typeof identity["subject"] === "string" &&
    (identity["credential"] === undefined || typeof identity["credential"] === "string") &&
    typeof view === "string" &&
    typeof protocolVersion === "string" &&
    isJsonObject(capabilities) &&
    (clientInfo === undefined || isJsonObject(clientInfo)) &&
    (logLevel === undefined || typeof logLevel === "string") &&
    (subscriptions === undefined || isTexts(subscriptions)) &&
    ["createdAt", "lastSeenAt", "expiresAt"].every((name) => Number.isFinite(session[name]))
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function unreadable(path: string, cause?: unknown): StoreError {
  const message = `The session in "${path}" is ignored: this home did not write it, or it was changed since`;
  return new StoreError("STORE_UNREADABLE", message, {
    cause,
    hint: "find out who writes to the home; the client opens another session, and the file can be removed",
  });
}
