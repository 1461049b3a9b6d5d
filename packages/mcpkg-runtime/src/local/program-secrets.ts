/** Says that programs of packages get no secrets, where a package or its settings have credentials. */

import type { Manifest } from "@toolcrib/mcpkg";
import { candidatesOf } from "../implementations/select.ts";
import type { PackageConfig } from "../installed/package-config.ts";

/** A finding about the credentials of a package. */
export interface ProgramSecrets {
  readonly message: string;
  readonly hint: string;
  /** Whether no endpoint of the package can use the credentials. */
  readonly isWithoutEffect: boolean;
}

/**
 * Returns the finding about a package with programs whose manifest or settings name credentials. Secrets stay in
 * the egress: only `http` endpoints authenticate.
 */
export function programSecretsOf(
  manifest: Manifest,
  { credentials }: Pick<PackageConfig, "credentials">,
): ProgramSecrets | undefined {
  const { toolId, auth, chain } = manifest;
  if (chain !== undefined) return undefined;
  const types = candidatesOf(manifest).map(({ endpoint }) => endpoint.type);
  const names = Object.keys(credentials);
  const isDeclared = auth !== undefined && auth.type !== "none";
  if (!types.includes("local") || (names.length === 0 && !isDeclared)) return undefined;
  const isWithoutEffect = !types.includes("http");
  const what =
    names.length > 0 ? `packages."${toolId}".credentials (${names.join(", ")})` : `auth of ${toolId}`;
  return {
    message: `programs of packages get no secrets: ${what} ${isWithoutEffect ? "has no effect" : "counts for its http endpoints only"}`,
    hint: isWithoutEffect
      ? "secrets stay in the egress: use an http endpoint, or a toolspec or tool server, if the tool must authenticate"
      : "choose an http implementation if the tool must authenticate: implementation: ID",
    isWithoutEffect,
  };
}
