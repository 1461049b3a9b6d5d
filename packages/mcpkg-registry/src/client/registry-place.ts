/** The place of a registry: a folder, or the URL of one that a web server serves. Pure. */

import { isAbsolute } from "node:path";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";

/** The place of a registry. */
export type RegistryPlace =
  | { readonly kind: "folder"; readonly path: string }
  /** With a slash at its end. */
  | { readonly kind: "url"; readonly url: string };

/** Hosts of this machine, to which plain HTTP is allowed. */
const loopback = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Reads a URL of a registry: https, or http to this machine.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_PLACE_INVALID`
 */
export function readRegistryUrl(text: string): RegistryPlace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["https:", "http:"].includes(url.protocol))
    throw refused(text, "it must be an https URL");
  if (url.username !== "" || url.password !== "") throw refused(url.host, "it contains a user or a password");
  if (url.search !== "" || url.hash !== "") throw refused(text, "it has a query or a fragment");
  if (url.protocol === "http:" && !loopback.test(url.hostname)) {
    throw refused(text, "plain http is for servers of this machine only");
  }
  const { href } = url;
  return { kind: "url", url: href.endsWith("/") ? href : `${href}/` };
}

/** Whether `text` is meant as a URL. */
export function isRegistryUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Whether `text` is meant as a folder, and not as the name of a registry. */
export function isRegistryPath(text: string): boolean {
  return text.startsWith(".") || /[\\/]/.test(text) || isAbsolute(text);
}

/** Returns the place for people. */
export function showPlace(place: RegistryPlace): string {
  return place.kind === "url" ? place.url : place.path;
}

function refused(text: string, reason: string): McpkgRegistryError {
  return new McpkgRegistryError(
    "MCPKG_REGISTRY_PLACE_INVALID",
    `Cannot use the registry "${text.slice(0, 200)}": ${reason}`,
    {
      hint: "write https://HOST/PATH/, or the path of a folder",
    },
  );
}
