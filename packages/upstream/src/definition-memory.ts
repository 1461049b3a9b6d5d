/**
 * The last known definitions of servers, in files of the home folder: lists are
 * complete before the servers are connected, and a server that starts lazily is
 * listed while it does not run. There is one private file for each server, named
 * after the digest of its declaration, and replaced atomically.
 *
 * A file is untrusted input: reading it is limited, a damaged one is ignored and
 * logged, and its definitions pass the same checks as those of a connected
 * server. The caller removes secrets before it saves. It never fails: without a
 * file the definitions are known after the server is connected.
 */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { errnoOf, makePrivateDirectory, readRegularFile, removeFile, replaceFile } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { disposeOnce } from "@toolcrib/lifecycle";
import type { Era } from "@toolcrib/tool";

/** The definitions of one server, as it listed them. */
export interface RememberedServer {
  /** Its MCP `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Definitions of tools. */
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  /** Capabilities of clients that the server has asked for. @default none */
  readonly asks?: readonly string[];
  /** The eras that the server supports, that of its first link first. @default they are not known */
  readonly eras?: readonly Era[] | undefined;
  /** When the eras were found out, in milliseconds since the epoch. */
  readonly erasFoundAt?: number | undefined;
}

/** Limits of the remembered definitions. */
export interface DefinitionMemoryLimits {
  /** Largest file of one server, in bytes; larger definitions are not remembered. @default 8,388,608 */
  readonly fileMaxBytes?: number;
  /** Maximum number of files. The oldest files of servers that are not configured are removed. @default 1,000 */
  readonly maxFiles?: number;
  /** Maximum number of bytes of all files together. @default 268,435,456 */
  readonly totalMaxBytes?: number;
}

/** Dependencies of `DefinitionMemory`. */
export interface DefinitionMemoryDeps {
  readonly logger: Logger;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Raise it with every change of the files. */
const formatVersion = 1;
/** Milliseconds between two writes of one file. */
const writePauseMs = 1000;
const fileName = /^[0-9a-f]{64}\.json$/;
/** Rights of other users that make a file untrusted: to write it. */
const writableByOthers = 0o022;

/** The remembered definitions of all servers of one home. */
export class DefinitionMemory {
  readonly #directory: string;
  readonly #deps: DefinitionMemoryDeps;
  readonly #limits: Required<DefinitionMemoryLimits>;
  /** Names of the files that servers of this process use. */
  readonly #used = new Set<string>();
  #pruning: Promise<void> | undefined;

  /** @param directory folder of the files, created with the first one */
  constructor(directory: string, deps: DefinitionMemoryDeps, limits: DefinitionMemoryLimits = {}) {
    this.#directory = directory;
    this.#deps = deps;
    this.#limits = {
      fileMaxBytes: limits.fileMaxBytes ?? 8 * 1024 ** 2,
      maxFiles: limits.maxFiles ?? 1000,
      totalMaxBytes: limits.totalMaxBytes ?? 256 * 1024 ** 2,
    };
  }

  /** Reads the definitions of a server. @param digest of its declaration, as 64 hexadecimal digits */
  async open(server: string, digest: string): Promise<ServerMemory> {
    const name = `${digest}.json`;
    const path = join(this.#directory, name);
    this.#used.add(name);
    let text = "";
    let remembered: RememberedServer | undefined;
    try {
      text = await this.#read(path);
      remembered = parseRemembered(text, this.#limits.fileMaxBytes);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") {
        const reason = messageOf(error);
        this.#deps.logger.warn({ server, path, reason }, "remembered definitions are not used");
      }
    }
    return new ServerMemory(remembered, text, (changed) => this.#write(server, path, changed));
  }

  async #read(path: string): Promise<string> {
    const { fileMaxBytes } = this.#limits;
    const { bytes, mode } = await readRegularFile(path, fileMaxBytes);
    if (bytes.length > fileMaxBytes) throw new Error(`the file is larger than ${fileMaxBytes} bytes`);
    if (((mode ?? 0) & writableByOthers) !== 0) throw new Error("other users can write to the file");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  }

  async #write(server: string, path: string, text: string): Promise<void> {
    const { logger, randomBytes } = this.#deps;
    try {
      const { fileMaxBytes } = this.#limits;
      if (Buffer.byteLength(text) > fileMaxBytes) {
        await removeFile(path);
        logger.info({ server, fileMaxBytes }, "definitions are too large to be remembered");
        return;
      }
      await makePrivateDirectory(this.#directory);
      await replaceFile({ randomBytes }, path, text);
      this.#pruning ??= this.#prune();
      await this.#pruning;
    } catch (error) {
      logger.warn({ server, reason: messageOf(error) }, "definitions could not be remembered");
    }
  }

  /** Removes the oldest files of other servers until the rest is within the limits. */
  async #prune(): Promise<void> {
    const { maxFiles, totalMaxBytes } = this.#limits;
    const names = (await readdir(this.#directory)).filter((name) => fileName.test(name));
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#directory, name);
        const { size, mtimeMs } = await stat(path);
        return { name, path, size, mtimeMs };
      }),
    );
    let count = files.length;
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { name, path, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (count <= maxFiles && bytes <= totalMaxBytes) return;
      if (this.#used.has(name)) continue;
      await removeFile(path);
      count -= 1;
      bytes -= size;
    }
  }
}

/** The remembered definitions of one server. Disposing it writes what is not written yet. */
export class ServerMemory implements AsyncDisposable {
  /** The definitions of the last run, if they can be used. */
  readonly remembered: RememberedServer | undefined;
  readonly #write: (text: string) => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #dispose = disposeOnce(() => this.#flush());
  #written: string;
  #next: RememberedServer | undefined;
  #work: Promise<void> | undefined;

  constructor(
    remembered: RememberedServer | undefined,
    written: string,
    write: (text: string) => Promise<void>,
  ) {
    this.remembered = remembered;
    this.#written = written;
    this.#write = write;
  }

  /** Remembers `definitions`, without waiting. They contain no secrets. */
  save(definitions: RememberedServer): void {
    this.#next = definitions;
    this.#work ??= this.#run();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#next !== undefined) {
      const text = JSON.stringify({ formatVersion, ...this.#next });
      this.#next = undefined;
      if (text !== this.#written) {
        this.#written = text;
        await this.#write(text);
      }
      // A server that reports changes all the time is not written all the time.
      await delay(writePauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#work = undefined;
  }

  async #flush(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }
}

/** @throws {JsonError} or an error with the reason, when the text is damaged */
function parseRemembered(text: string, maxLength: number): RememberedServer {
  const value = parseJson(text, { maxLength });
  if (!isJsonObject(value)) throw new Error("the file contains no object");
  if (value["formatVersion"] !== formatVersion) throw new Error("the file has another format");
  const { capabilities, instructions } = value;
  if (!isJsonObject(capabilities)) throw new Error('"capabilities" is not an object');
  if (instructions !== undefined && typeof instructions !== "string") {
    throw new Error('"instructions" is not a string');
  }
  return {
    capabilities,
    instructions,
    tools: objectsOf("tools", value["tools"]),
    resources: objectsOf("resources", value["resources"]),
    resourceTemplates: objectsOf("resourceTemplates", value["resourceTemplates"]),
    prompts: objectsOf("prompts", value["prompts"]),
    ...(value["asks"] === undefined ? {} : { asks: textsOf("asks", value["asks"]) }),
    ...erasOf(value),
  };
}

function erasOf(value: JsonObject): Pick<RememberedServer, "eras" | "erasFoundAt"> {
  const { eras, erasFoundAt } = value;
  if (eras === undefined || typeof erasFoundAt !== "number") return {};
  const known = textsOf("eras", eras).filter((era) => era === "legacy" || era === "modern");
  return known.length === 0 ? {} : { eras: [...new Set(known)], erasFoundAt };
}

function textsOf(name: string, value: JsonValue): readonly string[] {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string"))
    throw new Error(`"${name}" is not a list of texts`);
  return value;
}

function objectsOf(name: string, value: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(value) || !value.every(isJsonObject))
    throw new Error(`"${name}" is not a list of objects`);
  return value;
}
