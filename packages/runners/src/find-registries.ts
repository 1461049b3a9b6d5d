/**
 * Finds the registries of one fetch: asks the tool for its effective settings, in
 * a sandbox without network, and the index of Python for the hosts of its files.
 */

import { dirname, join } from "node:path";
import type { FetchEnvironment } from "./fetch-environment.ts";
import type { FetchStep } from "./fetch-recipe.ts";
import type { PackageRun } from "./package-run.ts";
import { readSmallFile } from "./read-json-file.ts";
import {
  defaultIndexIn,
  goRegistryUrls,
  npmRegistryUrls,
  originOfHost,
  originsOf,
  proxyChooser,
  pythonIndexes,
  type Registries,
} from "./registry-origins.ts";
import { RunnersError } from "./runners-error.ts";

/** Dependencies of the search. */
export interface RegistrySearch {
  readonly run: PackageRun;
  /** The program of the runner. */
  readonly runner: string;
  readonly settings: FetchEnvironment;
  /** Hosts that the operator added. */
  readonly hosts: readonly string[];
  /** Runs a step; with registries, it reaches these alone, and without them nothing. Returns its standard output. */
  runStep(step: FetchStep, registries: Registries | undefined): Promise<string>;
}

/**
 * Finds the registries of a fetch.
 *
 * @throws {RunnersError} `PACKAGE_FETCH_FAILED` where the tool names none, or does not run.
 */
export async function findRegistries(search: RegistrySearch): Promise<Registries> {
  const found = await finders[search.run.kind](search);
  const origins = [...found.origins, ...search.hosts.map(originOfHost)];
  if (origins.length > 0) return { ...found, origins };
  throw new RunnersError("PACKAGE_FETCH_FAILED", `The settings of ${search.run.kind} name no registry`, {
    hint: "set the registry in ~/.npmrc, UV_DEFAULT_INDEX or GOPROXY",
  });
}

const finders: { readonly [kind in PackageRun["kind"]]: (search: RegistrySearch) => Promise<Registries> } = {
  async npm({ runner, settings, runStep }) {
    const command = join(dirname(runner), "npm");
    const printed = await runStep({ command, args: ["config", "list", "--json"] }, undefined);
    const config = parseObject(printed);
    return {
      origins: originsOf(npmRegistryUrls(config)),
      via: proxyChooser("npm", settings.proxies, config),
    };
  },
  async go({ runner, settings, runStep }) {
    const printed = await runStep(
      { command: runner, args: ["env", "-json", "GOPROXY", "GOSUMDB"] },
      undefined,
    );
    const urls = goRegistryUrls(parseObject(printed) as { readonly [name: string]: string });
    return { origins: originsOf(urls), via: proxyChooser("go", settings.proxies) };
  },
  async python({ run, runner, settings, runStep }) {
    const file = settings.env["UV_CONFIG_FILE"];
    const text = file === undefined ? "" : await readSmallFile(file).catch(() => "");
    const { main, others } = pythonIndexes(settings.env, text);
    const help = { command: join(dirname(runner), "uv"), args: ["pip", "compile", "--help"] };
    const index = main ?? defaultIndexIn(await runStep(help, undefined));
    const urls = index === undefined ? others : [index, ...others];
    const indexes = { origins: originsOf(urls), via: proxyChooser("python", settings.proxies) };
    if (indexes.origins.length === 0) return indexes;
    return {
      ...indexes,
      origins: originsOf([...urls, ...(await findFileHosts(run, urls, indexes, runStep))]),
    };
  },
};

/** Hosts of files that an index may name. */
const fileHostsMaxCount = 8;

/**
 * Prints the origins of the files that indexes list for packages (PEP 503 and 691), as JSON. It runs in the sandbox
 * of the fetch: what an index answers is untrusted.
 */
const fileHostsScript = `
const { FETCH_PAGES = "[]" } = process.env;
const found = new Set();
let problem;
for (const page of JSON.parse(FETCH_PAGES)) for (let attempt = 1; attempt <= 3; attempt++) {
  try {
    const url = new URL(page);
    const headers = { accept: "application/vnd.pypi.simple.v1+json, text/html;q=0.5" };
    if (url.username !== "" || url.password !== "") {
      const user = decodeURIComponent(url.username) + ":" + decodeURIComponent(url.password);
      headers.authorization = "Basic " + Buffer.from(user).toString("base64");
      url.username = url.password = "";
    }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
    if (response.status >= 500) throw new Error("it answers " + response.status);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const links = isJson ? JSON.parse(text).files.map((file) => file.url) : Array.from(text.matchAll(/href="([^"]+)"/g), ([, link]) => link);
    for (const link of links) found.add(new URL(link.replaceAll("&amp;", "&"), response.url).origin);
    break;
  } catch (error) {
    problem = new URL(page).host + ": " + (error.cause?.code ?? error.cause?.message ?? error.message);
  }
}
console.log(JSON.stringify({ found: [...found], problem }));`;

/**
 * Asks the indexes for the hosts of the files of the packages.
 *
 * @returns URLs
 * @throws {RunnersError} `PACKAGE_FETCH_FAILED` where no index answers: the tool would ask for hosts that nobody named
 */
async function findFileHosts(
  { packages }: PackageRun,
  indexes: readonly string[],
  registries: Registries,
  runStep: RegistrySearch["runStep"],
): Promise<readonly string[]> {
  const names = packages.map((one) => /^[A-Za-z0-9][\w.-]*/.exec(one)?.[0] ?? one);
  const pages = indexes.flatMap((index) =>
    names.map((name) => `${index.replace(/\/*$/, "/")}${name.replace(/[-_.]+/g, "-").toLowerCase()}/`),
  );
  const step: FetchStep = {
    command: process.execPath,
    args: ["--no-warnings", "--use-system-ca", "--input-type=module", "-e", fileHostsScript],
    // Not as arguments: an index can have credentials in its URL.
    env: { FETCH_PAGES: JSON.stringify(pages), NODE_USE_ENV_PROXY: "1" },
  };
  const printed = await runStep(step, registries);
  const { found, problem } = parseObject(printed);
  if (!Array.isArray(found)) return [];
  if (found.length === 0 && typeof problem === "string") {
    throw new RunnersError(
      "PACKAGE_FETCH_FAILED",
      `The package index does not answer: ${problem.slice(0, 200)}`,
      { hint: "check the connection, and the index in UV_INDEX_URL or uv.toml" },
    );
  }
  // An index by TLS may not lead to files without it.
  return found
    .filter((one): one is string => typeof one === "string" && one.startsWith("https:"))
    .slice(0, fileHostsMaxCount);
}

function parseObject(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as { readonly [name: string]: unknown };
  } catch {
    // The error below says so.
  }
  throw new RunnersError("PACKAGE_FETCH_FAILED", "The settings of the package manager cannot be read", {
    hint: "run npm config list --json, or go env -json, and correct what it reports",
  });
}
