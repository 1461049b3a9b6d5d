/**
 * Network access of the standalone engine. With a proxy that knows the secrets, it
 * sends placeholders through the proxy. Without a proxy, it uses its own egress
 * pipeline, which inserts the secrets into requests and removes them from
 * responses. Either way the engine itself never sees a secret, except the
 * credential of an entrusted manifest behind a proxy (toolpack document).
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { suggestedSecretName } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { createEgress, createPlaceholder, type EgressEvent, type EgressSource } from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import { readNamedSecret } from "@toolcrib/secrets";
import type { SendRequest } from "@toolcrib/toolpack";
import {
  egressPatterns,
  type Manifest,
  type PlacedCredential,
  placedCredentials,
  type Toolspec,
} from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createProxiedSend, findHttpsProxy } from "./proxied-send.ts";
import { readTrustedRoots } from "./trusted-roots.ts";

/** Network access of one engine. */
export interface ToolpackEgress extends AsyncDisposable {
  readonly send: SendRequest;
  /** Returns the value of a credential in requests: a placeholder, or the secret of an entrusted manifest. */
  tokenOf(credentialId: string): string;
}

interface Pair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/**
 * Opens the network access of an engine.
 *
 * @param secretNames names of secrets by the id of their credential, as `ID=NAME`
 * @throws {CliError} `CLI_USAGE`, `CLI_CREDENTIAL_MISSING`, `CLI_FILE_UNUSABLE`
 */
export async function openToolpackEgress(
  context: CliContext,
  pair: Pair,
  secretNames: readonly string[],
  logger: Logger,
): Promise<ToolpackEgress> {
  const { env } = context;
  const roots = await readTrustedRoots(context);
  const placed = placedCredentials(pair.manifest, pair.toolspec);
  const names = readSecretNames(secretNames, pair.manifest);
  const proxy = findHttpsProxy(env);
  if (proxy === undefined) return openOwnEgress(context, pair, placed, names, roots.named, logger);
  const tokens = new Map(
    placed.map(({ id }) => {
      const variable = environmentVariableOf(pair.manifest, id) ?? placeholderVariable(id);
      return [id, readVariable(env, variable, id)] as const;
    }),
  );
  return {
    send: createProxiedSend(proxy, roots.all),
    tokenOf: (id) => tokens.get(id) ?? "",
    async [Symbol.asyncDispose]() {},
  };
}

/** Returns the variable in which a proxy passes the placeholder of a credential. */
export function placeholderVariable(id: string): string {
  return `TOOLCRIB_CREDENTIAL_${id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/** Returns the variable with the secret itself, for the entrusted tier only. */
function environmentVariableOf({ tier, credentials = [] }: Manifest, id: string): string | undefined {
  return tier === "entrusted" ? credentials.find((one) => one.id === id)?.inject.env : undefined;
}

/** @throws {CliError} `CLI_CREDENTIAL_MISSING` */
function readVariable(
  env: { readonly [name: string]: string | undefined },
  variable: string,
  id: string,
): string {
  const value = env[variable]?.trim() ?? "";
  if (value !== "") return value;
  throw new CliError(
    "CLI_CREDENTIAL_MISSING",
    `No value for the credential "${id}": ${variable} is not set`,
    {
      hint: variable.startsWith("TOOLCRIB_CREDENTIAL_")
        ? "a proxy that inserts secrets sets it, such as toolcrib egress; without HTTPS_PROXY, the command reads secrets itself"
        : `set ${variable}`,
    },
  );
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

function openOwnEgress(
  context: CliContext,
  { manifest }: Pair,
  placed: readonly PlacedCredential[],
  names: ReadonlyMap<string, string>,
  caCertificates: readonly string[],
  logger: Logger,
): ToolpackEgress {
  const { options } = context;
  const { env } = context;
  const deps = { env, readFile: readRegularFile, home: options.home };
  const credentials = placed.map((one) => {
    const variable = environmentVariableOf(manifest, one.id);
    const name = names.get(one.id) ?? suggestedSecretName(manifest.name, one.id);
    const isFromVariable = variable !== undefined && !names.has(one.id);
    return {
      ...one,
      placeholder: createPlaceholder(randomBytes),
      secretName: isFromVariable ? variable : name,
      read: async () =>
        isFromVariable ? readVariable(env, variable, one.id) : (await readNamedSecret(name, deps)).value,
    };
  });
  const placeholders = new Map(credentials.map(({ id, placeholder }) => [id, placeholder]));
  const source: EgressSource = {
    id: `toolspec:${manifest.name}`,
    allow: egressPatterns(manifest),
    credentials,
  };
  const egress = createEgress(
    { caCertificates },
    {
      directory: join(options.home, "egress"),
      now: context.now,
      randomBytes,
      onEvent: (event) => logEvent(event, logger),
    },
  );
  return {
    send: (request) => egress.fetch(request, source),
    tokenOf: (id) => placeholders.get(id) ?? "",
    [Symbol.asyncDispose]: () => egress[Symbol.asyncDispose](),
  };
}

/** Logs an event of the egress pipeline. */
export function logEvent({ kind, ...fields }: EgressEvent, logger: Logger): void {
  if (kind === "egress.alarm") logger.error(fields, "a placeholder was in a place that is not allowed");
  else if (kind === "egress.denied") logger.warn(fields, "a request was refused");
  else if (kind === "secret.echoed") logger.warn(fields, "a secret was removed from a response");
  else logger.debug(fields, "a secret was used");
}
