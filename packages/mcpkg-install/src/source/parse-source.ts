/**
 * Reads what is to be installed: a path, a URL, or a toolId with an optional range. A toolId is never
 * taken for a folder of the same name: `./demo.echo` is the folder.
 */

import { isAbsolute, resolve } from "node:path";
import { isToolId } from "@toolcrib/mcpkg";
import { InstallError } from "../install-error.ts";
import { isRange } from "../version-order.ts";

/** A package to be installed. */
export type GivenSource =
  | { readonly kind: "path"; readonly path: string; readonly shown: string }
  | { readonly kind: "url"; readonly url: string; readonly shown: string }
  | {
      readonly kind: "registry";
      readonly toolId: string;
      readonly range: string;
      readonly shown: string;
    };

/**
 * Reads `text`.
 *
 * @param directory the folder that relative paths begin in.
 * @throws {InstallError} `INSTALL_SOURCE_INVALID`
 */
export function parseSource(text: string, directory: string): GivenSource {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseUrl(text);
  const path = (): GivenSource => ({ kind: "path", path: resolve(directory, text), shown: text });
  if (/\.mcpkg$/i.test(text) || isAbsolute(text) || /^\.{1,2}(?:[\\/]|$)/.test(text)) return path();
  const at = text.indexOf("@");
  const toolId = at === -1 ? text : text.slice(0, at);
  const range = at === -1 ? "*" : text.slice(at + 1).trim();
  if (isToolId(toolId)) {
    if (isRange(range)) return { kind: "registry", toolId, range, shown: text };
    throw new InstallError(
      "INSTALL_SOURCE_INVALID",
      `Cannot install "${text}": "${range}" is no range of versions`,
      {
        hint: `write a version or a range, such as ${toolId}@1.2.0 or ${toolId}@^1.2`,
      },
    );
  }
  return path();
}

function parseUrl(text: string): GivenSource {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback =
    url?.protocol === "http:" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === undefined || (url.protocol !== "https:" && !isLoopback)) {
    throw new InstallError(
      "INSTALL_SOURCE_INVALID",
      `Cannot install "${text}": only https URLs are fetched`,
      {
        hint: "http is for a server of this machine alone, such as http://127.0.0.1:8080/ with --allow-loopback",
      },
    );
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    // The URL is recorded, and written into the lock file of the project.
    throw new InstallError(
      "INSTALL_SOURCE_INVALID",
      `Cannot install from "${url.host}": the URL has a user, a password or a fragment`,
      { hint: "download the archive and install the file" },
    );
  }
  return { kind: "url", url: url.href, shown: url.href };
}
