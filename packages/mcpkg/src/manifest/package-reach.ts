/**
 * The reach of a package by its manifest: hosts, programs of this machine, and tools of others. A manifest grants
 * itself no path: folders that its programs can write are those of the operator's configuration alone. Pure.
 */

import type { Manifest } from "./manifest-shape.ts";
import { reachOf } from "./starlark-programs.ts";

/** The reach of a package. Lists are sorted. */
export interface PackageReach {
  /** Hosts of its endpoints and of its token endpoint, with a port where the URL has one. */
  readonly hosts: readonly string[];
  /** Kind of credential that is sent to its host; absent for none. */
  readonly credential?: string;
  /** Command lines that run here, contained. */
  readonly programs: readonly string[];
  /** Tools that its Starlark programs and its steps call. */
  readonly tools: readonly string[];
}

/** Returns what the package of `manifest` can reach. */
export function packageReach(manifest: Manifest): PackageReach {
  const { endpoint, implementations = [], chain = [], auth } = manifest;
  const endpoints = [
    ...(endpoint === undefined ? [] : [endpoint]),
    ...implementations.map((one) => one.endpoint),
  ];
  const { tokenUrl, token_url: snakeUrl } = auth?.configHints ?? {};
  const isOauth = auth?.type === "oauth2";
  const urls = [
    ...endpoints.flatMap((one) => (one.type === "http" ? [one.url] : [])),
    ...[tokenUrl ?? snakeUrl].flatMap((url) => (isOauth && typeof url === "string" ? [url] : [])),
  ];
  return {
    hosts: sorted(urls.flatMap(hostOf)),
    ...(auth === undefined || auth.type === "none" || urls.length === 0 ? {} : { credential: auth.type }),
    programs: sorted(endpoints.flatMap((one) => (one.type === "local" ? [one.command] : []))),
    tools: sorted([...reachOf(manifest), ...chain.map(({ tool }) => tool)]),
  };
}

function hostOf(url: string): readonly string[] {
  const host = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase();
  return host === undefined || host === "" ? [] : [host];
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
