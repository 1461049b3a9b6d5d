/** The network access of an engine, and the variables of the environment with the values of its credentials. */

import type { SendRequest } from "@toolcrib/toolpack";
import type { Manifest } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";

/** Network access of one engine. */
export interface ToolpackEgress extends AsyncDisposable {
  readonly send: SendRequest;
  /** Returns the value of a credential in requests: a placeholder, or the secret of an entrusted manifest. */
  tokenOf(credentialId: string): string;
}

/**
 * Returns the variable in which a proxy passes the placeholder of a credential.
 *
 * @param service the name of the service, for an engine that serves several
 */
export function placeholderVariable(id: string, service?: string): string {
  return `TOOLCRIB_CREDENTIAL_${service === undefined ? "" : `${toVariablePart(service)}_`}${toVariablePart(id)}`;
}

/** Returns a name in the characters of variables. */
export function toVariablePart(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** Returns the variable with the secret itself, for the entrusted tier only. */
export function environmentVariableOf({ tier, credentials = [] }: Manifest, id: string): string | undefined {
  return tier === "entrusted" ? credentials.find((one) => one.id === id)?.inject.env : undefined;
}

/** Reads the variable with the value of a credential. @throws {CliError} `CLI_CREDENTIAL_MISSING` */
export function readVariable(
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
