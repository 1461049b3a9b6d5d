/**
 * The refresh token that a token endpoint returned in place of the stored one (RFC 6749, section 6): kept in the secret
 * store of the home, so that a restart and other gateways of the home use it. It belongs to the token that the operator
 * stored: a new one of the operator ends it. One process refreshes at a time: an endpoint that takes a token twice
 * for a theft would end both.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { makePrivateDirectory, waitForLock } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { openSecretStore } from "@toolcrib/secrets";
import type { PackagesContext } from "../installed/packages-context.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";

/** Longest time that a refresh waits for that of another process, in milliseconds. */
const lockTimeoutMs = 30_000;

/** The rotated token of one package. */
export class RotatedToken {
  readonly #context: Pick<PackagesContext, "home" | "env" | "now" | "randomBytes">;
  readonly #toolId: string;
  readonly #name: string;

  constructor(toolId: string, context: Pick<PackagesContext, "home" | "env" | "now" | "randomBytes">) {
    this.#context = context;
    this.#toolId = toolId;
    this.#name = `package-refresh-token-${digestOf(toolId).slice(0, 32)}`;
  }

  /** Runs `work` while no other process refreshes. @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE`; what `work` throws */
  async alone<Value>(work: () => Promise<Value>): Promise<Value> {
    const folder = join(this.#context.home, "locks");
    await makePrivateDirectory(folder);
    using lock = await waitForLock(folder, this.#name, lockTimeoutMs);
    if (lock !== undefined) return await work();
    throw new McpkgRuntimeError(
      "PACKAGE_UNUSABLE",
      `"${this.#toolId}" got no access token: another process has been refreshing it for ${lockTimeoutMs / 1000} s`,
      { hint: "call again later" },
    );
  }

  /** Returns the token that replaced `stored`; undefined where none did. @throws {CodedError} of the secret store */
  async read(stored: string): Promise<string | undefined> {
    await using store = await this.#open();
    const text = await store.get(this.#name);
    if (text === undefined) return undefined;
    let value: unknown;
    try {
      value = parseJson(text, { maxDepth: 2 });
    } catch {
      // Somebody else wrote it: the stored one counts.
    }
    if (!isJsonObject(value) || value["of"] !== digestOf(stored)) return undefined;
    return typeof value["token"] === "string" ? value["token"] : undefined;
  }

  /** Keeps the token that replaced `stored`. @throws {CodedError} of the secret store */
  async write(stored: string, token: string): Promise<void> {
    await using store = await this.#open();
    await store.set(this.#name, JSON.stringify({ of: digestOf(stored), token }));
  }

  #open() {
    const { home, env, now, randomBytes } = this.#context;
    return openSecretStore({ home, env }, { now, randomBytes });
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
