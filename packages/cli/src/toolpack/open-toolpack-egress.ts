/**
 * How the stand-alone engine reaches the network. Behind a proxy that holds the
 * secrets it sends placeholders through it; without one it has an egress
 * pipeline of its own, which puts the secrets in and takes them out of
 * responses, so that the engine itself holds none either way. Only the
 * credential of an entrusted manifest behind a proxy is in its own hands, as
 * the toolpack document has it.
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

/** The way out of one engine. */
export interface WayOut extends AsyncDisposable {
  readonly send: SendRequest;
  /** What stands for a credential in requests. */
  tokenOf(credentialId: string): string;
}

interface Pair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
}

/**
 * Open the way out.
 *
 * @param secretNames names of secrets by the id of their credential, as `ID=NAME`
 * @throws {CliError} `CLI_USAGE`, `CLI_CREDENTIAL_MISSING`, `CLI_FILE_UNUSABLE`
 */
export async function openWayOut(
  context: CliContext,
  pair: Pair,
  secretNames: readonly string[],
  logger: Logger,
): Promise<WayOut> {
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

/** The variable in which a proxy tells the placeholder of a credential. */
export function placeholderVariable(id: string): string {
  return `TOOLCRIB_CREDENTIAL_${id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/** The variable that holds the secret itself: of the entrusted tier only. */
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
        ? "a proxy that puts secrets in sets it, such as toolcrib egress; without HTTPS_PROXY, secrets are read from here"
        : `set ${variable}`,
    },
  );
}

/** The names of `--secret ID=NAME`, by id. @throws {CliError} `CLI_USAGE` */
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
): WayOut {
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

/** Log what was done with a request. */
export function logEvent({ kind, ...fields }: EgressEvent, logger: Logger): void {
  if (kind === "egress.alarm") logger.error(fields, "a placeholder stood where it must not be");
  else if (kind === "egress.denied") logger.warn(fields, "a request was refused");
  else if (kind === "secret.echoed") logger.warn(fields, "a secret was taken out of a response");
  else logger.debug(fields, "a secret is used");
}
