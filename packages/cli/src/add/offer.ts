/**
 * The offers of `toolcrib add`: one entry of `tool_servers`, and what is known about its publisher before
 * anything of it runs. An entry is unverified, so that its process is contained and its tools wait for approval.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { PublishedPackage, WantedPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findExecutable } from "../find-executable.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { serverIdFrom } from "../server-import/add-server.ts";
import { shownWords } from "../server-import/shown-entry.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import { pinCommand } from "./offer-runner.ts";
import { refuseSecretUrl, refuseSecretWords } from "./refuse-secrets.ts";
import { describeTls } from "./tls-issuer.ts";

/** A fact about an offer for people: a label and a text, which is untrusted. */
export type OfferFact = readonly [label: string, text: string];

/** A secret that an entry refers to. */
export interface OfferedSecret {
  /** The name in `secret_key_ref`. */
  readonly name: string;
  /** Such as `variable API_KEY`. */
  readonly purpose: string;
}

/** One server that can be added. */
export interface Offer {
  readonly id: string;
  /** Its name and version, for people. */
  readonly title: string;
  /** Publisher and origin. */
  readonly facts: readonly OfferFact[];
  /** Entries that are tried in this order; more than one where only a trial shows the transport. */
  readonly entries: readonly JsonObject[];
  readonly secrets: readonly OfferedSecret[];
  /** The package that a runner fetches, as its command line names it. */
  readonly packages?: readonly string[] | undefined;
  readonly registry?: PublishedPackage["kind"] | undefined;
  /** Makes files that the entry names, before it is tried. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Removes these files, as far as they were not there before. */
  readonly discard?: (() => Promise<void>) | undefined;
}

/** Returns the offer of a package of npm, PyPI or a Go module proxy, pinned to the version that was looked up. */
export function offerPackage(published: PublishedPackage, flags: AddFlags): Offer {
  const { kind, name, version } = published;
  const { command, args, packages } = commandOf(published, flags.program);
  const last = name.replace(/\[[^\]]*\]$/, "").replace(/\/v\d+$/, "");
  const transport = { kind: "stdio", command, args: [...args, ...(flags.serverArg ?? [])], ...envOf(flags) };
  return {
    id: flags.id ?? serverIdFrom(last),
    title: `${name} ${version}`,
    facts: [...publisherFacts(published), ["runs", commandText(command, transport.args)]],
    entries: [entryOf(flags.id ?? serverIdFrom(last), transport, flags)],
    secrets: secretsOf(flags, "variable"),
    packages,
    registry: kind,
  };
}

/** Returns the package with its version, and what its registry says about it. */
export function publisherFacts({
  kind,
  name,
  version,
  facts,
  deprecated,
}: PublishedPackage): readonly OfferFact[] {
  return [
    ["package", `${{ npm: "npm", python: "PyPI", go: "Go module" }[kind]} ${name} ${version}`],
    ...(deprecated === undefined ? [] : [["DEPRECATED", deprecated] as const]),
    ...facts,
  ];
}

/** Returns the command that runs exactly one version. */
export function commandOf(
  { kind, name, version }: Required<Pick<WantedPackage, "kind" | "name">> & { readonly version: string },
  program: string | undefined,
): { readonly command: string; readonly args: readonly string[]; readonly packages: readonly string[] } {
  const spec = `${name}@${version}`;
  if (kind === "go") return { command: "go", args: ["run", spec], packages: [spec] };
  if (kind === "npm") {
    const args = program === undefined ? ["-y", spec] : ["-y", "--package", spec, program];
    return { command: "npx", args, packages: [spec] };
  }
  const args = program === undefined ? [spec] : ["--from", spec, program];
  return { command: "uvx", args, packages: [`${name}==${version}`] };
}

/** Returns the offer of a server at a URL. Which transport it speaks is found out by the trial. */
export async function offerUrl(context: CliContext, url: URL, flags: AddFlags): Promise<Offer> {
  if (
    flags.read !== undefined ||
    flags.write !== undefined ||
    flags.env !== undefined ||
    flags.allow !== undefined
  ) {
    throw new CliError("CLI_USAGE", "--env, --read, --write and --allow are for processes on this machine", {
      hint: "omit them: a server at a URL runs elsewhere; headers are given with --secret HEADER=NAME",
    });
  }
  const shown = refuseSecretUrl(context.output, url);
  const id = flags.id ?? serverIdFrom(idFromHost(url));
  const headers = Object.fromEntries(
    (flags.secret ?? []).map(([header, name]) => [header, { secret_key_ref: name }]),
  );
  const kinds = /\/sse\/?$/.test(url.pathname) ? ["sse", "streamable_http"] : ["streamable_http", "sse"];
  const tls = await describeTls(url, context.signal);
  return {
    id,
    title: shown,
    facts: [
      ["host", url.host],
      ...(tls === undefined
        ? [["TLS", "none: anybody on the way can read and change it"] as const]
        : [["TLS", tls] as const]),
    ],
    entries: kinds.map((kind) =>
      entryOf(id, { kind, url: url.href, ...(Object.keys(headers).length === 0 ? {} : { headers }) }, flags),
    ),
    secrets: secretsOf(flags, "header"),
  };
}

/** Returns the offer of a command line. @throws {CliError} `CLI_PROGRAM_UNUSABLE` for a program that is not found */
export async function offerCommand(
  context: CliContext,
  given: readonly string[],
  flags: AddFlags,
): Promise<Offer> {
  const [first = "", ...rest] = given;
  refuseSecretWords(context.output, { command: first, args: rest, what: "The command line" });
  const runner = await pinCommand(context, given);
  const words = runner?.words ?? given;
  const [command = "", ...args] = words;
  const { env, directory, platform } = context;
  const found = findExecutable(command, { path: env["PATH"] ?? "", directory, platform });
  if (found === undefined) {
    throw new CliError("CLI_PROGRAM_UNUSABLE", `"${command}" is not found, or is not executable`, {
      hint: "write the path of the program, or add its folder to PATH",
    });
  }
  // A relative path would be relative to the folder of the configuration.
  const program = /[\\/]/.test(command) ? found : command;
  const named = /^(?:python[\d.]*|node|deno|bun|ruby|bash|sh)$/.test(command)
    ? (args.find((one) => !one.startsWith("-")) ?? command)
    : command;
  const base = named
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.\w{1,4}$/, "");
  const ownName = base === undefined || /\s/.test(base) ? command : base;
  const id = flags.id ?? serverIdFrom(runner?.published.name ?? ownName);
  const transport = {
    kind: "stdio",
    command: program,
    args: [...args, ...(flags.serverArg ?? [])],
    ...envOf(flags),
  };
  return {
    id,
    title: commandText(command, args),
    facts: [
      ["program", found],
      ...(runner === undefined
        ? [["version", "not pinned: each start runs the file of that day"] as const]
        : publisherFacts(runner.published)),
      ["runs", commandText(program, transport.args)],
    ],
    entries: [entryOf(id, transport, flags)],
    secrets: secretsOf(flags, "variable"),
    ...(runner === undefined ? {} : { packages: runner.packages, registry: runner.published.kind }),
  };
}

/** A command line for people, without arguments that look like secrets. */
function commandText(command: string, args: readonly string[]): string {
  return [command, ...shownWords(command, args)].map(shellQuote).join(" ");
}

/** Returns an entry with what the flags give it. */
function entryOf(id: string, transport: JsonObject, flags: AddFlags): JsonObject {
  return withFlags({ id, transport, trust_state: "unverified" }, flags);
}

/** Adds the containment of the flags, and the reason of one that is saved although its trial failed, to an entry. */
export function withFlags(
  entry: JsonObject,
  { read = [], write = [], allow = [], untested }: AddFlags,
): JsonObject {
  const own = isJsonObject(entry["containment"]) ? entry["containment"] : {};
  const given = Array.isArray(own["read_paths"]) ? own["read_paths"] : [];
  const containment = {
    ...own,
    ...(allow.length === 0 ? {} : { network_egress: "scoped", egress_allow: allow }),
    ...(read.length === 0 ? {} : { read_paths: [...new Set([...given, ...read])] }),
    ...(write.length === 0 ? {} : { filesystem_write: "scoped", write_paths: write }),
  };
  return {
    ...entry,
    ...(Object.keys(containment).length === 0 ? {} : { containment }),
    ...(untested === undefined ? {} : { labels: { untested } }),
  };
}

function envOf({ env = [], secret = [] }: AddFlags): { readonly env?: JsonObject } {
  const all = {
    ...Object.fromEntries(env),
    ...Object.fromEntries(secret.map(([variable, name]) => [variable, { secret_key_ref: name }])),
  };
  return Object.keys(all).length === 0 ? {} : { env: all };
}

function secretsOf({ secret = [] }: AddFlags, what: string): readonly OfferedSecret[] {
  return secret.map(([member, name]) => ({ name, purpose: `${what} ${member}` }));
}

/** The part of a host that names its service: `mcp.example.com` is `example`. */
function idFromHost({ hostname }: URL): string {
  const parts = hostname.replace(/^\[|\]$/g, "").split(".");
  if (/^[\d.:]+$/.test(hostname) || parts.length === 1)
    return hostname === "localhost" ? "local" : `at-${hostname}`;
  return parts.filter((part) => !/^(?:mcp|api|www)$/.test(part)).at(0) ?? hostname;
}
