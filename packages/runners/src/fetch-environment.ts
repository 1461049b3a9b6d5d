/**
 * The user's settings that a fetch gets: the registry, its credentials, proxies
 * and certificates. Only the fetch gets them; the server that runs later does not.
 */

import { existsSync } from "node:fs";
import type { PackageKind, PackageRun } from "./package-run.ts";
import { findPythons } from "./python-places.ts";

/** Variables of the gateway that a fetch inherits. */
const inherited: { readonly [kind in PackageKind]: RegExp } = {
  npm: /^(npm_config_\w+|NPM_\w+|NODE_AUTH_TOKEN)$/i,
  python: /^(UV_\w+|NETRC)$/,
  go: /^(GOPROXY|GOPRIVATE|GONOPROXY|GOSUMDB|GONOSUMDB|GOINSECURE|GOAUTH|GOROOT)$/,
};
const inheritedByAll = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|LC_ALL)$/i;
/** Variables that lead to proxies. A fetch in a sandbox has one of its own, which uses them. */
const proxyPattern = /^((https?|all|no)_proxy|NODE_USE_ENV_PROXY)$/i;
const npmProxyPattern = /^npm_config_(https?[_-])?(proxy|noproxy)$/i;

/** The files with the settings of each tool, the user's first, and the variable that names one. */
const settingsFiles: {
  readonly [kind in PackageKind]: { readonly paths: readonly string[]; readonly variable: string };
} = {
  npm: { paths: ["~/.npmrc"], variable: "npm_config_userconfig" },
  python: { paths: ["~/.config/uv/uv.toml", "/etc/uv/uv.toml"], variable: "UV_CONFIG_FILE" },
  go: { paths: ["~/.config/go/env"], variable: "GOENV" },
};

/** Settings of one fetch. */
export interface FetchEnvironment {
  readonly env: { readonly [name: string]: string };
  /** Variables of the user's proxies: for a fetch without a sandbox, and for what leads out of one. */
  readonly proxies: { readonly [name: string]: string };
  /** Files with settings, which the fetch reads. */
  readonly files: readonly string[];
  /** Folders with installations of Python, which the fetch reads. */
  readonly folders: readonly string[];
}

/** Chooses the settings for a fetch. */
export function fetchEnvironment(
  { kind, python }: Pick<PackageRun, "kind" | "python">,
  env: { readonly [name: string]: string | undefined },
  userHome: string,
): FetchEnvironment {
  const chosen: Record<string, string> = {};
  const proxies: Record<string, string> = {};
  const files: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (proxyPattern.test(name) || (kind === "npm" && npmProxyPattern.test(name))) {
      proxies[name] = value;
      continue;
    }
    if (!(inherited[kind].test(name) || inheritedByAll.test(name))) continue;
    chosen[name] = value;
    const isFile = /(_CERTS|_FILE|userconfig|globalconfig)$/i.test(name);
    if (isFile && existsSync(value)) files.push(value);
  }
  const { paths, variable } = settingsFiles[kind];
  const file = paths.map((path) => path.replace(/^~/, userHome)).find((path) => existsSync(path));
  if (chosen[variable] === undefined && file !== undefined) {
    chosen[variable] = file;
    files.push(file);
  }
  const { PIP_INDEX_URL: pipIndex } = env;
  const isIndexed = ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE"].some((name) => name in chosen);
  // uv ignores the settings of pip. Where it has none of its own, they are what the user means.
  if (kind === "python" && !isIndexed && pipIndex !== undefined) chosen["UV_DEFAULT_INDEX"] = pipIndex;
  const pythons = kind === "python" ? findPythons(env, userHome, python) : { env: {}, folders: [] };
  return { env: { ...chosen, ...pythons.env }, proxies, files, folders: pythons.folders };
}
