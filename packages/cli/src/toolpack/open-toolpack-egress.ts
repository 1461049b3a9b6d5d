/**
 * Network access of the standalone engine. With a proxy that knows the secrets, it
 * sends placeholders through the proxy. Without a proxy, it uses its own egress
 * pipeline, which inserts the secrets into requests and removes them from
 * responses. Either way the engine itself never sees a secret, except the
 * credential of an entrusted manifest behind a proxy (toolpack document).
 */

import type { Logger } from "@toolcrib/diagnostics";
import { type Manifest, placedCredentials, type Toolspec } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import {
  environmentVariableOf,
  placeholderVariable,
  readVariable,
  type ToolpackEgress,
  toVariablePart,
} from "./credential-variables.ts";
import { createProxiedSend, findHttpsProxy } from "./proxied-send.ts";
import { readTrustedRoots } from "./trusted-roots.ts";

interface Pair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/** Settings of the network access of one service. */
export interface ToolpackEgressSettings {
  /** The names of secrets by the id of their credential, where they differ from the suggested ones. */
  readonly secretNames: ReadonlyMap<string, string>;
  /** Whether the engine serves several services, so that variables of the environment need the name of theirs. */
  readonly isPrefixed: boolean;
}

/**
 * Opens the network access of one service of an engine. `TOOLCRIB_PROXY_<SERVICE>` is the proxy of this service alone,
 * and comes before `HTTPS_PROXY`: behind a proxy of its own, no other service of the engine can use its secrets.
 *
 * @throws {CliError} `CLI_USAGE`, `CLI_CREDENTIAL_MISSING`, `CLI_FILE_UNUSABLE`
 */
export async function openToolpackEgress(
  context: CliContext,
  pair: Pair,
  { secretNames, isPrefixed }: ToolpackEgressSettings,
  logger: Logger,
): Promise<ToolpackEgress> {
  const { env } = context;
  const { manifest } = pair;
  const roots = await readTrustedRoots(context);
  const placed = placedCredentials(manifest, pair.toolspec);
  const proxy = findHttpsProxy(env, `TOOLCRIB_PROXY_${toVariablePart(manifest.name)}`);
  if (proxy === undefined) {
    const { openOwnEgress } = await import("./open-own-egress.ts");
    return openOwnEgress(
      context,
      manifest,
      { placed, names: secretNames, caCertificates: roots.named },
      logger,
    );
  }
  const tokens = new Map(
    placed.map(({ id }) => {
      const own = isPrefixed ? placeholderVariable(id, manifest.name) : placeholderVariable(id);
      return [id, readVariable(env, environmentVariableOf(manifest, id) ?? own, id)] as const;
    }),
  );
  return {
    send: createProxiedSend(proxy, roots.all),
    tokenOf: (id) => tokens.get(id) ?? "",
    async [Symbol.asyncDispose]() {},
  };
}

/** Returns the names of `--secret ID=NAME` by id. @throws {CliError} `CLI_USAGE` */
export function readSecretNames(given: readonly string[], manifest: Manifest): ReadonlyMap<string, string> {
  const ids = (manifest.credentials ?? []).map(({ id }) => id);
  return new Map(
    given.map((text) => {
      const [id = "", ...rest] = text.split("=");
      const name = rest.join("=");
      if (name === "")
        throw new CliError("CLI_USAGE", "--secret takes the id of a credential and the name of a secret", {
          hint: "write --secret ID=NAME; never the secret itself",
        });
      if (ids.includes(id)) return [id, name];
      throw new CliError("CLI_USAGE", `The manifest has no credential "${id}"`, {
        hint: ids.length === 0 ? "it declares none" : `it has ${ids.join(", ")}`,
      });
    }),
  );
}
