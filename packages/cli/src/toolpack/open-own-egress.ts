/**
 * The egress pipeline of an engine without a proxy: it inserts the secrets into requests and removes them from
 * responses, so that the engine works with placeholders here too.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { suggestedSecretName } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { createEgress, createPlaceholder, type EgressEvent, type EgressSource } from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import { readNamedSecret } from "@toolcrib/secrets";
import { egressPatterns, type Manifest, type PlacedCredential } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { environmentVariableOf, readVariable, type ToolpackEgress } from "./credential-variables.ts";

/** Settings of the requests of one service. */
export interface OwnEgressSettings {
  readonly placed: readonly PlacedCredential[];
  /** The names of secrets by the id of their credential, where they differ from the suggested ones. */
  readonly names: ReadonlyMap<string, string>;
  /** Certificates (PEM) that are trusted in addition to the default ones. */
  readonly caCertificates: readonly string[];
}

/** Opens the egress pipeline of one service. */
export function openOwnEgress(
  context: CliContext,
  manifest: Manifest,
  { placed, names, caCertificates }: OwnEgressSettings,
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
