/**
 * The list of the packages of a registry: written in one form for the same entries, and read from
 * bytes that may be hostile. An entry of a wrong form makes the whole list invalid: its signer wrote it.
 */

import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { isDigest, isToolId, packageMaxBytes } from "@toolcrib/mcpkg";
import semver from "semver";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { entriesMaxCount, indexMaxBytes, indexMaxDepth, indexMaxValues } from "../registry-limits.ts";
import type { EntryImplementation, IndexEntry } from "./index-entry.ts";

/** Version of the form of a list. */
const formatVersion = 1;
/** Greatest lengths of texts and lists, a little above those of manifests. */
const textMaxLength = 4096;
const itemsMaxCount = 512;

/**
 * Returns the bytes of a list: entries in the order of their ids, then of their versions.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_TOO_LARGE`
 */
export function writeIndexList(entries: readonly IndexEntry[]): Uint8Array {
  const packages = entries.toSorted(
    (one, other) => compareTexts(one.toolId, other.toolId) || semver.compareBuild(one.version, other.version),
  );
  const bytes = Buffer.from(`${canonicalJson({ formatVersion, packages })}\n`);
  if (entries.length <= entriesMaxCount && bytes.length <= indexMaxBytes) return bytes;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_TOO_LARGE",
    `Cannot write the index: it has ${entries.length} versions in ${bytes.length} bytes; at most ${entriesMaxCount} versions in ${indexMaxBytes} bytes are allowed`,
    { hint: "remove old versions, or use several registries" },
  );
}

/**
 * Reads the bytes of a list.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_INDEX_INVALID`, `MCPKG_REGISTRY_TOO_LARGE`
 */
export function readIndexList(bytes: Uint8Array): readonly IndexEntry[] {
  const value = parse(bytes);
  if (!isJsonObject(value)) throw invalid("it is not an object");
  if (value["formatVersion"] !== formatVersion) {
    throw invalid(
      `its formatVersion is ${JSON.stringify(value["formatVersion"])?.slice(0, 40)}, and not ${formatVersion}`,
    );
  }
  const packages = value["packages"];
  if (!Array.isArray(packages)) throw invalid('it has no list "packages"');
  if (packages.length > entriesMaxCount) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_TOO_LARGE",
      `Cannot read the index: it has ${packages.length} versions; at most ${entriesMaxCount} are allowed`,
    );
  }
  const seen = new Set<string>();
  return packages.map((item: JsonValue, index) => {
    const entry = readEntry(new Members(item, `packages[${index}]`));
    const key = `${entry.toolId}@${entry.version}`;
    if (seen.has(key)) throw invalid(`it has ${key} twice`);
    seen.add(key);
    return entry;
  });
}

function parse(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), {
      maxLength: indexMaxBytes,
      maxDepth: indexMaxDepth,
      maxValues: indexMaxValues,
    });
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : "it is not readable JSON", cause);
  }
}

function readEntry(members: Members): IndexEntry {
  const toolId = members.text("toolId", 200);
  const version = members.text("version", 100);
  if (!isToolId(toolId)) throw members.wrong("toolId", "is not a toolId");
  // A valid version is one that SemVer would not write differently, but for its build.
  if (semver.parse(version)?.raw !== version || version.startsWith("v")) {
    throw members.wrong("version", "is not a version of SemVer");
  }
  const digest = members.digest("digest");
  if (digest === undefined) throw members.wrong("digest", "is missing");
  const license = members.optionalText("license");
  const publisher = members.optionalText("publisher");
  const publisherKey = members.digest("publisherKey");
  const yanked = members.optionalObject("yanked");
  const reason = yanked?.optionalText("reason");
  const reach = members.optionalObject("reach");
  return {
    toolId,
    version,
    name: members.text("name"),
    description: members.text("description"),
    capabilities: members.texts("capabilities"),
    tags: members.texts("tags"),
    ...(license === undefined ? {} : { license }),
    ...(publisher === undefined ? {} : { publisher }),
    kinds: members.texts("kinds"),
    implementations: members.objects("implementations").map(readImplementation),
    needs: members.texts("needs"),
    ...(reach === undefined ? {} : { reach: readReach(reach) }),
    tests: members.texts("tests"),
    examples: members.texts("examples"),
    digest,
    bytes: members.size("bytes", packageMaxBytes),
    ...(publisherKey === undefined ? {} : { publisherKey }),
    addedAt: members.text("addedAt", 40),
    ...(yanked === undefined
      ? {}
      : { yanked: { at: yanked.text("at", 40), ...(reason === undefined ? {} : { reason }) } }),
  };
}

function readReach(members: Members): NonNullable<IndexEntry["reach"]> {
  const credential = members.optionalText("credential");
  return {
    hosts: members.texts("hosts"),
    ...(credential === undefined ? {} : { credential }),
    programs: members.texts("programs"),
    tools: members.texts("tools"),
    ...(members.has("moreTools") ? { moreTools: members.size("moreTools", packageMaxBytes) } : {}),
  };
}

function readImplementation(members: Members): EntryImplementation {
  const language = members.optionalText("language");
  const runtime = members.optionalText("runtime");
  const platforms = members.has("platforms") ? members.texts("platforms") : undefined;
  return {
    ...(language === undefined ? {} : { language }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(platforms === undefined ? {} : { platforms }),
  };
}

/** Reads the members of one object. Members that this version does not know are ignored. */
class Members {
  readonly #value: JsonObject;
  readonly #path: string;

  constructor(value: JsonValue, path: string) {
    if (!isJsonObject(value)) throw invalid(`${path} is not an object`);
    this.#value = value;
    this.#path = path;
  }

  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  text(name: string, maxLength = textMaxLength): string {
    const value = this.#get(name);
    if (typeof value === "string" && value.length <= maxLength) return value;
    throw this.wrong(name, `is not a text of at most ${maxLength} characters`);
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  digest(name: string): string | undefined {
    const value = this.optionalText(name);
    if (value === undefined || isDigest(value)) return value;
    throw this.wrong(name, "is not sha256: and 64 hexadecimal digits");
  }

  size(name: string, maximum: number): number {
    const value = this.#get(name);
    if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= maximum) return value;
    throw this.wrong(name, `is not a whole number from 1 to ${maximum}`);
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((item) => {
      if (typeof item === "string" && item.length <= textMaxLength) return item;
      throw this.wrong(name, `has something else than texts of at most ${textMaxLength} characters`);
    });
  }

  objects(name: string): readonly Members[] {
    return this.#list(name).map((item, index) => new Members(item, `${this.#path}.${name}[${index}]`));
  }

  optionalObject(name: string): Members | undefined {
    const value = this.#get(name);
    return value === undefined ? undefined : new Members(value, `${this.#path}.${name}`);
  }

  wrong(name: string, state: string): McpkgRegistryError {
    return invalid(`${this.#path}.${name} ${state}`);
  }

  #list(name: string): readonly JsonValue[] {
    const value = this.#get(name);
    if (Array.isArray(value) && value.length <= itemsMaxCount) return value as readonly JsonValue[];
    throw this.wrong(name, `is not a list of at most ${itemsMaxCount} items`);
  }

  #get(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function invalid(reason: string, cause?: unknown): McpkgRegistryError {
  return new McpkgRegistryError("MCPKG_REGISTRY_INDEX_INVALID", `Cannot read the index: ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}
