/**
 * What a fetch gets of the user's settings: the registry, its credentials, proxies
 * and certificates. Only the fetch gets them; the server that runs later does not.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PackageKind } from "./package-run.ts";

/** Variables of the gateway that a fetch inherits. */
const inherited: { readonly [kind in PackageKind]: RegExp } = {
  npm: /^(npm_config_\w+|NPM_\w+|NODE_AUTH_TOKEN)$/i,
  python: /^(UV_\w+|NETRC)$/,
  go: /^(GOPROXY|GOPRIVATE|GONOPROXY|GOSUMDB|GONOSUMDB|GOINSECURE|GOAUTH|GOROOT)$/,
};
const inheritedByAll =
  /^((https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_ENV_PROXY|SSL_CERT_(FILE|DIR)|LC_ALL)$/i;

/** The file with the user's settings of each tool, below the home, and the variable that names it. */
const settingsFiles: {
  readonly [kind in PackageKind]: { readonly path: string; readonly variable: string };
} = {
  npm: { path: ".npmrc", variable: "npm_config_userconfig" },
  python: { path: ".config/uv/uv.toml", variable: "UV_CONFIG_FILE" },
  go: { path: ".config/go/env", variable: "GOENV" },
};

/** Settings of one fetch. */
export interface FetchEnvironment {
  readonly env: { readonly [name: string]: string };
  /** Files with settings, which the fetch reads. */
  readonly files: readonly string[];
}

/** Chooses the settings for a fetch of `kind`. */
export function fetchEnvironment(
  kind: PackageKind,
  env: { readonly [name: string]: string | undefined },
  userHome: string,
): FetchEnvironment {
  const chosen: Record<string, string> = {};
  const files: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !(inherited[kind].test(name) || inheritedByAll.test(name))) continue;
    chosen[name] = value;
    const isFile = /(_CERTS|_FILE|userconfig|globalconfig)$/i.test(name);
    if (isFile && existsSync(value)) files.push(value);
  }
  const { path, variable } = settingsFiles[kind];
  const file = join(userHome, path);
  if (chosen[variable] === undefined && existsSync(file)) {
    chosen[variable] = file;
    files.push(file);
  }
  return { env: chosen, files };
}
