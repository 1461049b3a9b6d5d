/**
 * The shape of `server.json` (https://github.com/modelcontextprotocol/registry, schemas 2025-07-09 to
 * 2025-12-11). The names of the first schema, in snake_case, are read as the later ones. Members that an
 * import does not use are findings.
 */

import {
  anyJson,
  type DocumentNode,
  dictionary,
  flag,
  list,
  type MapEntry,
  type Shape,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { partial } from "./import-kind.ts";

const long = (description: string) => text({ description, maxLength: 8192, minLength: 0 });

const inputFields = {
  description: long("What the value is for."),
  isRequired: flag("Whether a value is needed."),
  format: long("string, number, boolean or filepath."),
  value: long("A fixed value, with variables in braces."),
  isSecret: flag("Whether it is a credential."),
  default: anyJson("The value without another one."),
  placeholder: long("An example."),
  choices: list(anyJson("A value."), { description: "All allowed values.", maxItems: 200 }),
} as const;

const input = partial({ description: "A value of the user.", fields: inputFields });

const variables = dictionary(input, {
  description: "Variables of a value.",
  maxEntries: 64,
  key: { source: "[^{}\\u0000]{1,200}", meaning: "1 to 200 characters without braces" },
});

const keyValue = partial({
  description: "A variable of the environment, or a header.",
  fields: { ...inputFields, name: { required: long("Its name.") }, variables },
});

const argument = partial({
  description: "An argument of a command.",
  fields: {
    ...inputFields,
    type: long("positional or named."),
    name: long("The flag, with its dashes."),
    valueHint: long("Name of a positional argument."),
    isRepeated: flag("Whether it can occur several times."),
    variables,
  },
});

const inputs = <T>(item: Shape<T>, description: string) => list(item, { description, maxItems: 200 });

const transport = partial({
  description: "How a client talks to the server.",
  fields: {
    type: long("stdio, streamable-http or sse."),
    url: long("The endpoint, with variables in braces."),
    headers: inputs(keyValue, "Headers."),
    variables,
  },
});

const serverPackage = partial({
  description: "A package of the server.",
  fields: {
    registryType: long("npm, pypi, oci, nuget or mcpb."),
    registryBaseUrl: long("The registry of the package."),
    identifier: long("Name of the package, reference of the image, or URL of the bundle."),
    name: long("Name of the package in early files."),
    version: long("Version of the package."),
    fileSha256: long("Digest of a bundle."),
    runtimeHint: long("Program that runs it."),
    transport,
    runtimeArguments: inputs(argument, "Arguments of the runtime."),
    packageArguments: inputs(argument, "Arguments of the server."),
    environmentVariables: inputs(keyValue, "Variables of the environment."),
  },
});

/** The shape of a `server.json` after `withLaterNames`. */
export const serverJsonShape = partial({
  description: "A server of the MCP registry.",
  fields: {
    $schema: long("URL of the schema."),
    name: { required: long("Such as io.github.user/server.") },
    title: long("Name for people."),
    description: long("What it does."),
    version: long("Version of the server."),
    versionDetail: partial({
      description: "Version of early files.",
      fields: { version: long("The version.") },
    }),
    status: long("active, deprecated or deleted."),
    packages: inputs(serverPackage, "Packages of the server."),
    remotes: inputs(transport, "Endpoints of the server."),
  },
});

/** A `server.json`. */
export type ServerJson = ValueOf<typeof serverJsonShape>;
/** A package of it. */
export type ServerPackage = ValueOf<typeof serverPackage>;
/** An endpoint of it. */
export type ServerTransport = ValueOf<typeof transport>;
/** A value that is fixed, or that the user gives. */
export type ServerInput = ValueOf<typeof input> & {
  readonly variables?: { readonly [name: string]: ValueOf<typeof input> };
};
/** A variable of the environment, or a header. */
export type ServerKeyValue = ValueOf<typeof keyValue>;
/** An argument. */
export type ServerArgument = ValueOf<typeof argument>;

/** Returns the tree with the names of the later schemas. Names of variables stay, and what `_meta` contains. */
export function withLaterNames(node: DocumentNode): DocumentNode {
  if (node.kind === "list") return { ...node, items: node.items.map(withLaterNames) };
  if (node.kind !== "map") return node;
  return { ...node, entries: node.entries.map(withLaterName) };
}

const otherNames: { readonly [name: string]: string } = {
  registry_name: "registryType",
  registryName: "registryType",
  transport_type: "type",
  transportType: "type",
};

function withLaterName(entry: MapEntry): MapEntry {
  if (entry.key === "_meta") return entry;
  const camel = entry.key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const key = otherNames[entry.key] ?? camel;
  const { value } = entry;
  if (key !== "variables" || value.kind !== "map") return { ...entry, key, value: withLaterNames(value) };
  const entries = value.entries.map((one) => ({ ...one, value: withLaterNames(one.value) }));
  return { ...entry, key, value: { ...value, entries } };
}
