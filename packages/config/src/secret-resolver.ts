/**
 * Resolves references to secrets; no other module does. The resolver remembers
 * every value that it returns, so that results and logs can be scrubbed of
 * them. Its findings name the reference and the fix, never a value.
 */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import type { ReadFile } from "@toolcrib/files";
import { createSecretSource, readNamedSecret, type SecretRef, type SecretSource } from "@toolcrib/secrets";
import { quote } from "./display-source.ts";

/** Maximum number of remembered values; the oldest is dropped first. */
const maxRememberedValues = 10_000;

/** Dependencies of a resolver. */
export interface SecretResolverDeps {
  /** The environment of the gateway. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly readFile: ReadFile;
  /** Home folder (`~/.toolcrib`) with the secret store, and with plain files in its folder `secrets`. */
  readonly home: string;
  /** Whether secrets that need the keychain fail with `CONFIG_SECRET_NOT_AVAILABLE`: it can ask its user. @default false */
  readonly withoutKeychain?: boolean;
}

/** A secret's value and its source, or the reason why it cannot be resolved. */
export type SecretResolution =
  | { readonly kind: "value"; readonly value: string; readonly from: SecretSource["kind"] }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string };

/** Resolves references to secrets, and remembers the values that it returns. No I/O before the first `resolve`. */
export class SecretResolver {
  readonly #deps: SecretResolverDeps;
  readonly #known = new Set<string>();

  constructor(deps: SecretResolverDeps) {
    this.#deps = deps;
  }

  /** Reads the secret that `ref` names; a relative path is relative to the folder of `fileName`. */
  async resolve(ref: SecretRef, fileName: string): Promise<SecretResolution> {
    const place = ref.kind === "file" ? this.absolutePath(ref.path, fileName) : ref.name;
    const resolution = ofClient(ref, await readPlace(ref.kind, place, this.#deps));
    if (resolution.kind === "value") this.remember(resolution.value);
    return resolution;
  }

  /** Returns an environment variable of the gateway. */
  variable(name: string): string | undefined {
    return Object.hasOwn(this.#deps.env, name) ? this.#deps.env[name] : undefined;
  }

  /** Returns `path` as an absolute path: below `~/`, or relative to the folder of the file that names it. */
  absolutePath(path: string, fileName: string): string {
    const userHome = this.variable("HOME");
    if (/^~[\\/]/.test(path) && userHome !== undefined) return join(userHome, path.slice(2));
    return isAbsolute(path) ? path : resolve(dirname(fileName), path);
  }

  /** Remembers `value`, a secret from another source. */
  remember(value: string): void {
    if (value.trim() === "") return;
    this.#known.delete(value);
    this.#known.add(value);
    if (this.#known.size > maxRememberedValues)
      this.#known.delete(this.#known.values().next().value as string);
  }

  /** Returns every remembered secret, longest first, so that scrubbing leaves no part of a longer one. */
  values(): readonly string[] {
    return [...this.#known].sort((a, b) => b.length - a.length);
  }
}

/** Says whose secret is missing, and how to set it. */
function ofClient(ref: SecretRef, resolution: SecretResolution): SecretResolution {
  if (ref.kind !== "store" || ref.of === undefined || resolution.kind === "value") return resolution;
  if (resolution.code !== "CONFIG_SECRET_NOT_FOUND") return resolution;
  const { name, client } = ref.of;
  return failed(
    resolution.code,
    `The client ${quote(client)} has no secret ${quote(name)} of its own`,
    `run toolcrib secret set ${name} --identity ${client}`,
  );
}

async function readPlace(
  kind: SecretRef["kind"],
  place: string,
  deps: SecretResolverDeps,
): Promise<SecretResolution> {
  try {
    return { kind: "value", ...(await readFrom(kind, place, deps)) };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // By mistake, a reference may contain the secret itself instead of its place.
    const message = error.message.replaceAll(JSON.stringify(place), quote(place));
    return toFailed(error.code, message, error.hint ?? "check the value that is stored there");
  }
}

/** Converts the error of a secret source to a finding about the configuration. */
function toFailed(placeCode: string, message: string, hint: string): SecretResolution {
  switch (placeCode) {
    case "SECRETS_NOT_FOUND":
      return failed("CONFIG_SECRET_NOT_FOUND", message, hint);
    case "SECRETS_EXPOSED":
      return failed("CONFIG_SECRET_EXPOSED", message, hint);
    case "SECRETS_UNUSABLE":
      return failed("CONFIG_SECRET_UNUSABLE", message, hint);
    case "SECRETS_KEYCHAIN_UNAVAILABLE":
      return failed("CONFIG_SECRET_NOT_AVAILABLE", message, hint);
    default:
      return failed("CONFIG_SECRET_UNREADABLE", message, hint);
  }
}

function failed(code: string, message: string, hint: string): SecretResolution {
  return { kind: "failed", code, message, hint };
}

async function readFrom(
  kind: SecretRef["kind"],
  place: string,
  { env, readFile, home, withoutKeychain }: SecretResolverDeps,
): Promise<{ readonly value: string; readonly from: SecretSource["kind"] }> {
  if (kind === "named") {
    const found = await readNamedSecret(place, { env, readFile, home, withoutKeychain });
    return { value: found.value, from: found.kind };
  }
  const source = createSecretSource({
    kind,
    env,
    readFile,
    home,
    withoutKeychain,
    platform: process.platform,
  });
  return { value: await source.read(place), from: kind };
}
