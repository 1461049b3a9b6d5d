/**
 * The registries that a package manager uses on this machine, read from its own
 * settings, and the proxies that lead to them. Pure.
 */

import type { PackageKind } from "./package-run.ts";

/** The origin of a registry. */
export interface RegistryOrigin {
  readonly scheme: "http" | "https";
  /** As `hostname` of a URL, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Everything that fetches of one kind may reach. */
export interface Registries {
  readonly origins: readonly RegistryOrigin[];
  /** Returns the URL of the HTTP proxy that leads to an origin. */
  readonly via: (origin: RegistryOrigin) => string | undefined;
}

/** Variables by name. */
type Environment = { readonly [name: string]: string | undefined };

const defaultPorts = { http: 80, https: 443 } as const;

/** Returns the origin of a URL; undefined for other protocols (`file:`) and texts that are no URL. */
export function originOf(text: string): RegistryOrigin | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return undefined;
  const scheme = url.protocol === "https:" ? "https" : "http";
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { scheme, host, port: url.port === "" ? defaultPorts[scheme] : Number(url.port) };
}

/** Returns the origins of URLs, each once. */
export function originsOf(urls: readonly string[]): readonly RegistryOrigin[] {
  const origins = urls.flatMap((url) => originOf(url.trim()) ?? []);
  return [...new Map(origins.map((one) => [`${one.scheme} ${one.host} ${one.port}`, one])).values()];
}

/** Reads an entry of `sandbox.registry_hosts`, which the configuration has checked: `host` or `host:port`. */
export function originOfHost(entry: string): RegistryOrigin {
  const [host = "", port = "443"] = entry.split(":");
  return { scheme: "https", host, port: Number(port) };
}

/** Returns `host`, with the port where it is not that of the protocol. */
export function showOrigin({ scheme, host, port }: RegistryOrigin): string {
  return port === defaultPorts[scheme] ? host : `${host}:${port}`;
}

/** Returns the URLs of registries in the output of `npm config list --json`, those of scopes included. */
export function npmRegistryUrls(config: { readonly [name: string]: unknown }): readonly string[] {
  return Object.entries(config).flatMap(([name, value]) =>
    (name === "registry" || name.endsWith(":registry")) && typeof value === "string" ? [value] : [],
  );
}

/** Returns the URLs of module proxies and of the checksum database in the output of `go env -json`. */
export function goRegistryUrls({ GOPROXY = "", GOSUMDB = "" }: Environment): readonly string[] {
  const proxies = GOPROXY.split(/[,|]/);
  const [name = "off", url] = GOSUMDB.trim().split(/\s+/);
  const database = name === "off" ? undefined : (url ?? `https://${name.replace(/\+.*$/s, "")}`);
  return database === undefined ? proxies : [...proxies, database];
}

/** The package indexes of uv. */
export interface PythonIndexes {
  /** The index for every package; undefined where uv has to name its own default. */
  readonly main: string | undefined;
  /** All other URLs of its settings. */
  readonly others: readonly string[];
}

/** Finds the indexes in the variables and the settings file of uv. */
export function pythonIndexes(env: Environment, settings: string): PythonIndexes {
  const words = ["UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"].flatMap((name) =>
    (env[name] ?? "").split(/[\s,]+/).flatMap((word) => (word === "" ? [] : [word.replace(/^[\w-]+=/, "")])),
  );
  const quoted = [...settings.matchAll(/["'](https?:\/\/[^"']+)["']/g)].map(([, url]) => url as string);
  const named = /^\s*(?:index-url|default-index)\s*=\s*["']([^"']+)["']/m.exec(settings)?.[1];
  // The order of a table is free; its lines stand together.
  const table = settings.split(/^\s*\[/m).find((part) => /^\s*default\s*=\s*true/m.test(part));
  const replaced = table === undefined ? undefined : /^\s*url\s*=\s*["']([^"']+)["']/m.exec(table)?.[1];
  const main = env["UV_DEFAULT_INDEX"] ?? env["UV_INDEX_URL"] ?? named;
  const others = [...words, ...quoted];
  return { main: main ?? replaced, others };
}

/** Finds the default index in the help of uv. */
export function defaultIndexIn(help: string): string | undefined {
  return /by\s+default:\s+<(https:\/\/[^>\s]+)>/.exec(help)?.[1];
}

/**
 * Returns what chooses the proxy of an origin, as most programs do: `https_proxy`, `http_proxy`, `all_proxy`, and no
 * proxy for the hosts of `no_proxy`. npm's own settings come first.
 */
export function proxyChooser(
  kind: PackageKind,
  env: Environment,
  npm: { readonly [name: string]: unknown } = {},
): Registries["via"] {
  const variable = (name: string): string | undefined => {
    const value = env[name] ?? env[name.toUpperCase()];
    return value === undefined || value === "" ? undefined : value;
  };
  const setting = (name: string): string | undefined => {
    const value = kind === "npm" ? npm[name] : undefined;
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const listed = kind === "npm" ? npm["noproxy"] : undefined;
  const direct = [
    ...(Array.isArray(listed) ? listed.map(String) : []),
    ...(variable("no_proxy") ?? "").split(/[\s,]+/),
  ].filter((entry) => entry !== "");
  return (origin) => {
    if (direct.some((entry) => matches(entry, origin))) return undefined;
    const secure = setting("https-proxy") ?? setting("proxy") ?? variable("https_proxy");
    const plain = setting("proxy") ?? variable("http_proxy");
    const text = (origin.scheme === "https" ? secure : plain) ?? variable("all_proxy");
    return text === undefined || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  };
}

/** Whether an entry of `no_proxy` names an origin: `*`, a host, or a domain with the hosts below it. */
function matches(entry: string, { host, port }: RegistryOrigin): boolean {
  if (entry === "*") return true;
  const [, name = "", ownPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (name === "" || (ownPort !== undefined && Number(ownPort) !== port)) return false;
  return host === name || host.endsWith(`.${name}`);
}
