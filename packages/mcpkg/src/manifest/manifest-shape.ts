/**
 * The shape of `manifest.json` (MCPKG document, sections 4, 10.2 and 11.2). Members
 * that the format does not have are warnings: a later minor version can have them.
 */

import { nearestName } from "@toolcrib/diagnostics";
import {
  anyJson,
  choice,
  dictionary,
  fieldOf,
  fieldPlace,
  flag,
  integer,
  list,
  type Place,
  record,
  reportAt,
  type Shape,
  stringOf,
  text,
  toJsonValue,
  type ValueOf,
} from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";
import {
  keyMaxLength,
  keySource,
  toolIdMaxLength,
  toolIdSource,
  versionMaxLength,
  versionSource,
} from "./names.ts";

/** Greatest timeout of an endpoint in milliseconds. */
const timeoutMaxMs = 3_600_000;

const name = { source: keySource, meaning: "a letter or _, then letters, digits, _ and -" };
const key = text({ description: "A name.", maxLength: keyMaxLength, pattern: name });

const toolId = text({
  description: "Unique id of the tool: publisher.domain.capability.name.",
  maxLength: toolIdMaxLength,
  pattern: {
    source: toolIdSource,
    meaning: "two or more parts of a-z, 0-9 and _ with dots between, such as acme.crm.search",
    code: "MCPKG_TOOL_ID_INVALID",
  },
  instead: (value) =>
    value
      .trim()
      .toLowerCase()
      .replace(/[-\s]+/g, "_")
      .replaceAll("/", "."),
});

const version = text({
  description: "Version of the package (SemVer).",
  maxLength: versionMaxLength,
  pattern: {
    source: versionSource,
    meaning: "MAJOR.MINOR.PATCH, such as 1.0.0",
    code: "MCPKG_VERSION_INVALID",
  },
  instead: (value) => {
    const parts = /^v?([0-9]+)(?:\.([0-9]+))?$/.exec(value.trim());
    return parts === null ? value.trim().replace(/^v/, "") : `${parts[1]}.${parts[2] ?? 0}.0`;
  },
});

/** A JSON Schema: an object, checked later as a schema. */
const schema: Shape<JsonObject> = {
  check(node, place) {
    if (node.kind === "map") return toJsonValue(node) as JsonObject;
    return reportAt(node, place, {
      code: "MCPKG_WRONG_TYPE",
      message: `"${place.path}" must be a JSON Schema: an object`,
      hint: 'write {"type": "object", "properties": {…}}',
    });
  },
  toJsonSchema: () => ({ type: "object", description: "A JSON Schema." }),
};

const capabilities = list(text({ description: "A tag, such as payments.", maxLength: 100 }), {
  description: "What the tool does, as tags for search.",
  maxItems: 64,
});

const timeoutMs = integer({
  description: "Longest time of a call in milliseconds.",
  minimum: 1,
  maximum: timeoutMaxMs,
  default: 30_000,
  perSecond: 1000,
});

/** A path of a file in the package. What is allowed is checked when the package is read. */
const filePath = text({ description: "Path of a file in the package.", maxLength: 240 });

const httpFields = {
  type: { required: choice({ description: "Kind of endpoint.", values: ["http"] }) },
  method: {
    required: choice({
      description: "HTTP method.",
      values: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
    }),
  },
  url: { required: text({ description: "URL; {name} stands for an input property.", maxLength: 4096 }) },
  timeoutMs,
} as const;

const localFields = {
  type: { required: choice({ description: "Kind of endpoint.", values: ["local"] }) },
  command: {
    required: text({
      description: "Program and arguments, split at spaces, without a shell.",
      maxLength: 4096,
    }),
  },
  stdin: flag("Whether the input is passed on standard input instead of as the last argument.", {
    default: false,
  }),
  timeoutMs,
} as const;

const starlarkFields = {
  type: { required: choice({ description: "Kind of endpoint.", values: ["starlark"] }) },
  source: { required: filePath },
  tools: list(
    text({
      description: "Id of a tool, such as github:search.",
      maxLength: 500,
      pattern: {
        source: "[^\\u0000-\\u001f\\u007f]+",
        meaning: "without control characters, such as github:search",
      },
    }),
    {
      description: "The only tools that the program can call: its reach, which the operator approves.",
      maxItems: 1000,
    },
  ),
  timeoutMs,
} as const;

const httpEndpoint = tolerant({ description: "A request to an HTTP API.", fields: httpFields });
const localEndpoint = tolerant({ description: "A program in the package.", fields: localFields });
const starlarkEndpoint = tolerant({ description: "A composite tool.", fields: starlarkFields });

/** The endpoint of a tool. */
export type Endpoint =
  | ValueOf<typeof httpEndpoint>
  | ValueOf<typeof localEndpoint>
  | ValueOf<typeof starlarkEndpoint>;

const endpointType = choice({
  description: "Kind of endpoint.",
  values: ["http", "local", "starlark"],
  hints: { grpc: "the format plans gRPC for later; use http or local" },
});

const endpoint: Shape<Endpoint> = {
  check(node, place) {
    const type = fieldOf(node, "type");
    switch (stringOf(type)) {
      case "local":
        return localEndpoint.check(node, place);
      case "starlark":
        return starlarkEndpoint.check(node, place);
      case "http":
        return httpEndpoint.check(node, place);
    }
    // One finding about the type, and none about members that depend on it.
    if (type === undefined) {
      const anyEndpoint = record({
        description: "",
        isOpen: true,
        fields: { type: { required: endpointType } },
      });
      anyEndpoint.check(node, place);
    } else endpointType.check(type, fieldPlace(place, "type", type.span));
    return undefined;
  },
  toJsonSchema: (definitions) => ({
    description: "How the tool is called.",
    oneOf: [httpEndpoint, localEndpoint, starlarkEndpoint].map((one) => one.toJsonSchema(definitions)),
  }),
};

const implementation = tolerant({
  description: "One of several programs for the same tool.",
  fields: {
    id: { required: key },
    language: text({ description: "Such as javascript, python or dotnet.", maxLength: 100 }),
    runtime: text({ description: "Such as node, python3.11 or net8.0.", maxLength: 100 }),
    platforms: list(
      text({
        description: "Operating system and architecture.",
        maxLength: 100,
        pattern: {
          source: "[a-z0-9]+-[a-z0-9_]+",
          meaning: "a system and an architecture, such as linux-x64",
        },
      }),
      { description: "Where it runs. Without it, everywhere.", maxItems: 64 },
    ),
    endpoint: { required: endpoint },
    requirements: dictionary(anyJson("A requirement."), {
      description: "What the machine must have.",
      maxEntries: 64,
      key: { source: "[A-Za-z][A-Za-z0-9_]*", meaning: "letters, digits and _" },
    }),
  },
});

const step = tolerant({
  description: "A call of another tool.",
  fields: {
    step: { required: key },
    tool: { required: text({ description: "The toolId of the tool.", maxLength: toolIdMaxLength }) },
    inputMapping: {
      required: dictionary(anyJson("A JSONPath that begins with $, or a literal."), {
        description: "Arguments of the call by name.",
        maxEntries: 200,
        key: { source: "[^\\u0000]+", meaning: "not empty" },
      }),
    },
    outputKey: { required: key },
  },
});

const auth = tolerant({
  description: "How calls authenticate.",
  fields: {
    type: {
      required: choice({
        description: "Kind of authentication.",
        values: ["none", "bearer", "api_key", "oauth2"],
        aliases: { apikey: "api_key", oauth: "oauth2", token: "bearer" },
      }),
    },
    scopes: list(text({ description: "An OAuth scope.", maxLength: 200 }), {
      description: "OAuth scopes.",
      maxItems: 100,
    }),
    configHints: dictionary(anyJson("A hint."), {
      description: "Hints for the person who sets the tool up.",
      maxEntries: 64,
      key: { source: "[^\\u0000]+", meaning: "not empty" },
    }),
  },
});

const publisher = tolerant({
  description: "Who publishes the package.",
  fields: {
    id: text({ description: "Id in a registry.", maxLength: 200 }),
    name: text({ description: "Name for people.", maxLength: 200 }),
    website: text({ description: "URL.", maxLength: 2048 }),
  },
});

const meta = tolerant({
  description: "About the package.",
  fields: {
    publisher,
    license: text({ description: "SPDX expression, or text.", maxLength: 200 }),
    homepage: text({ description: "URL.", maxLength: 2048 }),
    tags: list(text({ description: "A tag.", maxLength: 100 }), {
      description: "Tags for search.",
      maxItems: 64,
    }),
  },
});

/** The shape of a manifest. */
export const manifestShape = tolerant({
  description: "Manifest of a tool package (.mcpkg).",
  fields: {
    toolId: { required: toolId },
    name: { required: text({ description: "Name for people.", maxLength: 200 }) },
    version: { required: version },
    // As that of a saved tool, which can be empty.
    description: {
      required: text({ description: "What the tool does.", maxLength: 16_384, minLength: 0 }),
      canBeEmpty: true,
    },
    capabilities: { required: capabilities },
    endpoint,
    implementations: list(implementation, {
      description: "Programs for the same tool, of which the host selects one.",
      maxItems: 64,
      emptyCode: "MCPKG_VALUE_INVALID",
    }),
    chain: list(step, {
      description: "Calls of other tools, one after the other.",
      maxItems: 64,
      emptyCode: "MCPKG_VALUE_INVALID",
    }),
    input_schema: { required: schema },
    output_schema: { required: schema },
    auth,
    tests: list(filePath, { description: "Tests in the package.", maxItems: 400 }),
    examples: list(filePath, { description: "Examples in the package.", maxItems: 400 }),
    meta,
  },
});

/** A manifest of the right shape, without members that the format does not have. */
export type Manifest = ValueOf<typeof manifestShape>;
/** A step of a chain. */
export type ChainStep = ValueOf<typeof step>;

/** A record whose unknown members are warnings. */
function tolerant<const F extends Parameters<typeof record>[0]["fields"]>(options: {
  readonly description: string;
  readonly fields: F;
}) {
  const known = Object.keys(options.fields);
  return record<F>({
    ...options,
    reportUnlisted(entries, place) {
      for (const { key: name, keySpan } of entries)
        warnUnknown(fieldPlace(place, name, keySpan), name, known);
    },
  });
}

function warnUnknown({ reporter, keySpan, path }: Place, name: string, known: readonly string[]): void {
  const near = nearestName(name, known);
  reporter.report({
    severity: "warning",
    code: "MCPKG_UNKNOWN_FIELD",
    message: `Unknown member ${reporter.quote(name)}: it has no effect`,
    hint: near === undefined ? `known: ${known.join(", ")}` : `did you mean ${near}?`,
    span: keySpan,
    path,
  });
}
