/**
 * The settings with which a package is tested that is not the installed one. Anybody can write the toolId of
 * another publisher's package, so settings for that toolId are given only where the operator asks for it.
 */

import type { GatewayConfig } from "@toolcrib/config";
import type { Manifest } from "@toolcrib/mcpkg";
import { safeLine } from "../output/output.ts";

/** Returns the lines that say which settings a package that is not installed has; none where the configuration has no entry for it. */
export function settingsNote(
  { packages }: Pick<GatewayConfig, "packages">,
  manifest: Manifest,
  usesConfig: boolean,
): readonly string[] {
  const { toolId } = manifest;
  const config = Object.hasOwn(packages.byId, toolId) ? packages.byId[toolId] : undefined;
  if (config === undefined) {
    return usesConfig
      ? [`The configuration has no entry packages.${toolId} that --use-config could give`]
      : [];
  }
  if (usesConfig) {
    const given = givenSettings(manifest, config).map(safeLine);
    const list = given.length === 0 ? "no further access" : given.join("; ");
    return [`--use-config gives this package what packages.${toolId} has: ${list}`];
  }
  return [
    `packages.${toolId} of the configuration does not count: this is not an installed package. Its tests run as those of an unverified package, without credentials, paths or an endpoint of yours`,
  ];
}

/** Returns the line for failed tests of a package that has the defaults. */
export function defaultsHint(toolId: string): string {
  return `A package that is not installed has no credentials, no paths, no endpoint of yours, and its programs no network. If its tests need one of them, install it and run toolcrib test ${toolId}; --use-config gives a package of your own what packages.${toolId} of the configuration has`;
}

/** Returns what the entry of a package gives beyond the defaults. */
export function givenSettings(
  { auth }: Manifest,
  config: GatewayConfig["packages"]["others"],
): readonly string[] {
  const { trustState, credentials, endpointUrl, effective } = config;
  const { networkEgress, egressAllow, filesystemWrite, writePaths, readPaths } = effective;
  const named = Object.entries(credentials).map(
    ([id, ref]) => `${id} (${ref.kind === "file" ? `file ${ref.path}` : ref.name})`,
  );
  const proposed = auth?.configHints?.["env"];
  return [
    ...(trustState === "unverified" ? [] : [`trust_state ${trustState}`]),
    ...(named.length === 0 ? [] : [`credentials ${named.join(", ")}`]),
    ...(trustState === "unverified" || proposed === undefined
      ? []
      : [`the secrets that its manifest names: ${[proposed].flat().join(", ")}`]),
    ...(endpointUrl === undefined ? [] : [`endpoint ${endpointUrl}`]),
    ...(networkEgress === "deny" ? [] : [`network_egress ${networkEgress} ${egressAllow.join(", ")}`]),
    ...(filesystemWrite === "deny" ? [] : [`filesystem_write ${filesystemWrite} ${writePaths.join(", ")}`]),
    ...(readPaths.length === 0 ? [] : [`read_paths ${readPaths.join(", ")}`]),
    ...(effective.hasState ? ["state"] : []),
  ];
}
