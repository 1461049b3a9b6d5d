/**
 * Reads a `server.json` of the official MCP registry, and turns one of its packages or endpoints into an
 * entry of `tool_servers`: unverified, with a pinned version, and with references in place of secrets. What
 * an entry cannot express is a finding. Pure: nothing is fetched and nothing is started.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  checkDocument,
  type DocumentNode,
  fieldOf,
  openDocument,
  stringOf,
  toDiagnostic,
  type UnreadSource,
} from "@toolcrib/document";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { serverJsonKind } from "./import-kind.ts";
import { type GivenValues, InputValues, toConfigValue, type WantedServerSecret } from "./input-values.ts";
import {
  type ServerArgument,
  type ServerJson,
  type ServerKeyValue,
  type ServerPackage,
  type ServerTransport,
  serverJsonShape,
  withLaterNames,
} from "./server-json-shape.ts";

/** One way to run a server. */
export type ServerOffer =
  | { readonly kind: "package"; readonly label: string; readonly value: ServerPackage }
  | { readonly kind: "remote"; readonly label: string; readonly value: ServerTransport }
  /** A bundle at a URL, which is imported as a bundle. */
  | {
      readonly kind: "bundle";
      readonly label: string;
      readonly url: string;
      readonly sha256: string | undefined;
    };

/** A `server.json` that was read. */
export interface ReadServer {
  readonly name: string;
  readonly version: string | undefined;
  readonly server: ServerJson;
  /** In the order of the file, packages first. */
  readonly offers: readonly ServerOffer[];
}

/** An entry for `tool_servers`, and what it needs. */
export interface ImportedServer {
  /** `undefined` where there are errors. */
  readonly entry: JsonObject | undefined;
  readonly secrets: readonly WantedServerSecret[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the file. A response of the registry's API, which has the server in `server`, is read too. */
export function readServerJson(source: UnreadSource): {
  readonly value: ReadServer | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { tree, reporter } = openDocument(source, serverJsonKind);
  const inner =
    tree === undefined || fieldOf(tree, "name") !== undefined ? tree : (fieldOf(tree, "server") ?? tree);
  const open = { reporter, tree: inner === undefined ? undefined : withLaterNames(inner as DocumentNode) };
  const server = checkDocument(open, serverJsonShape);
  if (server !== undefined) inspectServer(server, open.tree, reporter);
  const { diagnostics } = reporter;
  if (server === undefined) return { value: undefined, diagnostics };
  const version = server.version ?? server.versionDetail?.version;
  const offers = [...(server.packages ?? []).map(toOffer), ...(server.remotes ?? []).map(toRemoteOffer)];
  return { value: { name: server.name, version, server, offers }, diagnostics };
}

/** Turns an offer that is no bundle into an entry. @param id of the entry */
export function toServerEntry(
  read: ReadServer,
  offer: Exclude<ServerOffer, { readonly kind: "bundle" }>,
  id: string,
  given: GivenValues,
  sourceName: string,
): ImportedServer {
  const inputs = new InputValues(given, id);
  const transport =
    offer.kind === "remote" ? remoteTransport(offer.value, inputs) : packageTransport(offer.value, inputs);
  inputs.reportUnused();
  const source = { name: sourceName, text: "" };
  const diagnostics = inputs.problems.map((problem) => toDiagnostic(problem, source));
  const hasFailed = transport === undefined || diagnostics.some(({ severity }) => severity === "error");
  // Its author wrote the arguments: they show its process nothing.
  const containment = offer.kind === "package" ? { containment: { read_arguments: false } } : {};
  const entry = hasFailed
    ? undefined
    : { ...headOf(read, id), transport, trust_state: "unverified", ...containment };
  return { entry, secrets: inputs.secrets, diagnostics };
}

function headOf({ name, server }: ReadServer, id: string): JsonObject {
  const { title, description } = server;
  return {
    id,
    name: (title === undefined ? name : `${title} (${name})`).slice(0, 200),
    ...(description === undefined || description.trim() === ""
      ? {}
      : { description: description.slice(0, 4000) }),
  };
}

type Report = {
  report(problem: {
    severity?: "error" | "warning";
    code: string;
    message: string;
    hint?: string;
    span?: DocumentNode["span"];
  }): void;
};

function inspectServer(
  { status, packages = [], remotes = [] }: ServerJson,
  tree: DocumentNode | undefined,
  reporter: Report,
): void {
  const span = { span: fieldOf(tree, "status")?.span ?? { start: 0, end: 1 } };
  if (status !== undefined && status !== "active") {
    reporter.report({
      severity: "warning",
      code: "SERVER_IMPORT_DEPRECATED",
      message: `The server is ${status}: its publisher does not offer it any more`,
      ...span,
    });
  }
  if (packages.length === 0 && remotes.length === 0) {
    reporter.report({
      code: "SERVER_IMPORT_UNSUPPORTED",
      message: `The server "${stringOf(fieldOf(tree, "name")) ?? ""}" has neither packages nor remotes: there is nothing to run`,
      span: { start: 0, end: 1 },
    });
  }
}

function toOffer(value: ServerPackage): ServerOffer {
  const { registryType = "", identifier = value.name ?? "", version } = value;
  if (registryType === "mcpb")
    return { kind: "bundle", label: `mcpb ${identifier}`, url: identifier, sha256: value.fileSha256 };
  return {
    kind: "package",
    label: `${registryType} ${identifier}${version === undefined ? "" : ` ${version}`}`,
    value,
  };
}

function toRemoteOffer(value: ServerTransport): ServerOffer {
  return { kind: "remote", label: `${value.type ?? "remote"} ${value.url ?? ""}`, value };
}

const remoteKinds: ReadonlyMap<string, string> = new Map([
  ["streamable-http", "streamable_http"],
  ["streamable", "streamable_http"],
  ["http", "streamable_http"],
  ["sse", "sse"],
]);

function remoteTransport(
  { type = "", url, headers = [], variables = {} }: ServerTransport,
  inputs: InputValues,
): JsonObject | undefined {
  const kind = remoteKinds.get(type);
  if (kind === undefined || url === undefined) {
    inputs.report(
      "SERVER_IMPORT_UNSUPPORTED",
      `The endpoint has the type "${type}" and ${url === undefined ? "no" : "a"} URL; it must be streamable-http or sse, with a URL`,
    );
    return undefined;
  }
  const filled = inputs.fill(url, variables, "the URL");
  if (filled?.kind === "secret") {
    inputs.report(
      "SERVER_IMPORT_SECRET_EXPOSED",
      "The URL contains a secret, which other programs and logs could read: it is not imported",
    );
  }
  const values = keyValues(headers, inputs, "header");
  if (filled?.kind !== "text") return undefined;
  return { kind, url: filled.text, ...(Object.keys(values).length === 0 ? {} : { headers: values }) };
}

/** Registries from which runners fetch without further settings. */
const ownRegistries: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^https:\/\/registry\.npmjs\.org\/?$/],
  ["pypi", /^https:\/\/pypi\.org(?:\/simple)?\/?$/],
  ["nuget", /^https:\/\/api\.nuget\.org(?:\/v3\/index\.json)?\/?$/],
  ["oci", /^https:\/\/(?:docker\.io|index\.docker\.io|registry-1\.docker\.io|ghcr\.io)\/?$/],
]);

/** Programs that run a kind of package; the first is the default. */
const runners: ReadonlyMap<string, readonly string[]> = new Map([
  ["npm", ["npx", "bunx"]],
  ["pypi", ["uvx"]],
  ["nuget", ["dnx"]],
  ["oci", ["docker", "podman"]],
]);

function packageTransport(value: ServerPackage, inputs: InputValues): JsonObject | undefined {
  const { registryType = "", identifier = value.name, transport, runtimeHint } = value;
  const [standard, ...others] = runners.get(registryType) ?? [];
  if (
    standard === undefined ||
    identifier === undefined ||
    identifier.trim() === "" ||
    identifier.startsWith("-")
  ) {
    inputs.report(
      "SERVER_IMPORT_UNSUPPORTED",
      `The package has the type "${registryType}" and the identifier "${identifier ?? ""}"; npm, pypi, nuget and oci with a name can be imported`,
      "choose another package or endpoint of the file: --list shows them",
    );
    return undefined;
  }
  if (transport?.type !== undefined && transport.type !== "stdio") {
    inputs.report(
      "SERVER_IMPORT_UNSUPPORTED",
      `The package is a server with the transport "${transport.type}"${transport.url === undefined ? "" : ` at ${transport.url}`}: Toolcrib starts servers that use stdio`,
      "start it yourself, and add its endpoint: transport: { kind: streamable_http, url: … }",
    );
    return undefined;
  }
  const isKnownRunner = runtimeHint === undefined || [standard, ...others].includes(runtimeHint);
  if (!isKnownRunner) {
    inputs.report(
      "SERVER_IMPORT_LEFT_OUT",
      `The runtime "${runtimeHint}" is left out: the package is run by ${standard}`,
      undefined,
      "warning",
    );
  }
  const command = isKnownRunner && runtimeHint !== undefined ? runtimeHint : standard;
  reportRegistry(value, registryType, inputs);
  const reference = referenceOf(registryType, identifier, value, inputs);
  const env = keyValues(value.environmentVariables ?? [], inputs, "variable");
  const runtime = argumentsOf(value.runtimeArguments ?? [], inputs, "runtime argument");
  if (runtime.some((one) => /^--?node-options?(?:=|$)/i.test(one))) {
    inputs.report(
      "SERVER_IMPORT_LOADER_VARIABLE",
      "The file sets NODE_OPTIONS by the runtime argument --node-options, which chooses the code that programs load when they start: it is not imported",
      "use another package or version of the server, or write the entry yourself",
    );
  }
  const own = argumentsOf(value.packageArguments ?? [], inputs, "argument");
  const args = commandLine(registryType, reference, { runtime, own, variables: Object.keys(env) });
  if (registryType === "oci") {
    inputs.report(
      "SERVER_IMPORT_CONTAINMENT",
      `${command} asks a daemon to start the container: the containment of the entry does not apply inside it, and an unverified server may not reach the daemon`,
      "prefer a package of another type, or raise trust_state and containment deliberately",
      "warning",
    );
  }
  return { kind: "stdio", command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

function reportRegistry(
  { registryBaseUrl, fileSha256 }: ServerPackage,
  registryType: string,
  inputs: InputValues,
): void {
  if (registryBaseUrl !== undefined && ownRegistries.get(registryType)?.test(registryBaseUrl) !== true) {
    inputs.report(
      "SERVER_IMPORT_LEFT_OUT",
      `The registry ${registryBaseUrl} is left out: the package would come from the one that its runner is configured for`,
      "configure the runner, such as with registry in .npmrc, before the first start",
      "warning",
    );
  }
  if (fileSha256 !== undefined) {
    inputs.report(
      "SERVER_IMPORT_LEFT_OUT",
      "fileSha256 is left out: runners check packages against their registry",
      undefined,
      "warning",
    );
  }
}

/** Returns the package with its version. */
function referenceOf(
  registryType: string,
  identifier: string,
  { version }: ServerPackage,
  inputs: InputValues,
): string {
  const isImage = registryType === "oci";
  const tag = isImage ? /(?:@sha256:[0-9a-f]{64}|:[\w][\w.-]*)$/.exec(identifier)?.[0] : undefined;
  const isPinned = version !== undefined || (tag !== undefined && tag !== ":latest");
  if (!isPinned || version === "latest" || /^[\^~><=*]|\.x$|[*|\s]/.test(version ?? "")) {
    inputs.report(
      "SERVER_IMPORT_UNPINNED",
      `The package ${identifier} has no exact version (${version ?? "none"}): each start could run another program`,
      "ask its publisher for an exact version, or write the entry yourself",
    );
  }
  if (tag !== undefined || version === undefined) return identifier;
  return `${identifier}${isImage ? ":" : "@"}${version}`;
}

interface CommandParts {
  readonly runtime: readonly string[];
  readonly own: readonly string[];
  readonly variables: readonly string[];
}

function commandLine(
  registryType: string,
  reference: string,
  { runtime, own, variables }: CommandParts,
): readonly JsonValue[] {
  switch (registryType) {
    case "npm":
      return ["-y", ...runtime.filter((one) => one !== "-y" && one !== "--yes"), reference, ...own];
    case "nuget":
      return [
        ...runtime.filter((one) => one !== "--yes"),
        reference,
        "--yes",
        ...(own.length === 0 ? [] : ["--", ...own]),
      ];
    case "oci": {
      const flags = ["run", "-i", "--rm"];
      const others = runtime.filter((one) => !flags.includes(one) && one !== "--interactive");
      return [...flags, ...variables.flatMap((name) => ["-e", name]), ...others, reference, ...own];
    }
    default:
      return [...runtime, reference, ...own];
  }
}

function keyValues(
  items: readonly ServerKeyValue[],
  inputs: InputValues,
  role: "variable" | "header",
): JsonObject {
  return Object.fromEntries(
    items.flatMap((item) => {
      const found = inputs.one(item, item.name, `${role} ${item.name}`);
      const value = role === "variable" ? inputs.variable(item.name, found, () => false) : found;
      return value === undefined ? [] : [[item.name, toConfigValue(value)]];
    }),
  );
}

function argumentsOf(items: readonly ServerArgument[], inputs: InputValues, role: string): readonly string[] {
  return items.flatMap((item, index) => {
    const isNamed = item.type === "named" || (item.type === undefined && item.name !== undefined);
    const name = (isNamed ? item.name : item.valueHint) ?? `argument${index + 1}`;
    const what = `${role} ${name}`;
    if (!isNamed && item.name !== undefined) {
      inputs.report(
        "SERVER_IMPORT_LEFT_OUT",
        `The name of the positional ${what} is left out`,
        undefined,
        "warning",
      );
    }
    const values = inputs.all(item, name, what);
    if (values.length > 1 && item.isRepeated !== true) {
      inputs.report("SERVER_IMPORT_VALUE_INVALID", `${what} has several values, and takes one`);
    }
    return values.flatMap((value) => {
      if (value.kind === "secret") {
        inputs.report(
          "SERVER_IMPORT_SECRET_EXPOSED",
          `${what} is a secret, and other users of the machine can read arguments: it is not imported`,
          "use a variable of the environment if the server has one",
        );
        return [];
      }
      // An empty value stands for a flag without one.
      if (!isNamed) return [value.text];
      return value.text === "" ? [name] : [name, value.text];
    });
  });
}
