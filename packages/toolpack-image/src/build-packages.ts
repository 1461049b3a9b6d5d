/**
 * Builds tool packages (.mcpkg) of a service. A package is one tool, so a service becomes as many packages as it has
 * tools. A tool whose request the `http` endpoint of the format expresses exactly becomes a package without code: hosts
 * send its request themselves. Any other tool becomes a `local` endpoint that contains the engine. Pure.
 */

import type { JsonObject } from "@toolcrib/json";
import type { PackageFile, PackageFiles } from "@toolcrib/mcpkg";
import {
  argumentName,
  inputSchemaOf,
  type PlacedCredential,
  placedCredentials,
  type Toolspec,
  type ToolspecTool,
} from "@toolcrib/toolspec";
import { licensesOf, manifestInImage, type Toolpack, type ToolpackEngine } from "./toolpack.ts";
import { ToolpackImageError } from "./toolpack-image-error.ts";

/** Dependencies of the build of packages. */
export interface PackageSettings {
  readonly engine: ToolpackEngine;
  /** Values of variables of base URLs and paths. */
  readonly variables: { readonly [name: string]: string };
  /** Returns the environment variable with the secret of a credential, for `configHints.env`. */
  readonly secretVariableOf: (credentialId: string) => string;
}

/** A package that was built. */
export interface BuiltPackage {
  readonly toolId: string;
  readonly version: string;
  readonly files: PackageFiles;
  /** Why the package contains the engine; undefined where it is an `http` endpoint. */
  readonly engineReason: string | undefined;
  /** Whether it contains the engine and its calls need a credential, which hosts do not give to programs. */
  readonly lacksCredential: boolean;
}

/** Time limit of a call, as that of the engine. */
const timeoutMs = 30_000;

/**
 * Builds the packages of a service, in the order of its tools.
 *
 * @throws {ToolpackImageError} `IMAGE_TOOL_NAME_TAKEN`, `IMAGE_VARIABLE_UNSET`
 */
export function buildPackages(toolpack: Toolpack, settings: PackageSettings): readonly BuiltPackage[] {
  const seen = new Map<string, string>();
  return toolpack.toolspec.tools.map((tool) => {
    const toolId = `${foldPart(toolpack.manifest.name)}.${foldPart(tool.name)}`;
    const other = seen.get(toolId);
    if (other !== undefined) {
      throw new ToolpackImageError(
        "IMAGE_TOOL_NAME_TAKEN",
        `The tools "${other}" and "${tool.name}" would both be the package "${toolId}"`,
        { hint: "an id of a package has lower-case letters, digits and _ only: rename one of the tools" },
      );
    }
    seen.set(toolId, tool.name);
    return buildPackage(toolpack, tool, toolId, settings);
  });
}

function foldPart(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+/, "");
}

function buildPackage(
  toolpack: Toolpack,
  tool: ToolspecTool,
  toolId: string,
  settings: PackageSettings,
): BuiltPackage {
  const { manifest, toolspec } = toolpack;
  const placed = placedCredentials(manifest, toolspec);
  const engineReason = reasonForEngine(tool, toolspec, placed);
  const isHttp = engineReason === undefined;
  const endpoint = isHttp
    ? { type: "http", method: tool.method, url: `${tool.baseUrl ?? toolspec.baseUrl}${tool.path}`, timeoutMs }
    : { type: "local", command: commandOf(toolpack, tool, settings), stdin: true, timeoutMs };
  const { name, displayName, version, category } = manifest;
  const json: JsonObject = {
    toolId,
    name: `${displayName ?? name}: ${tool.name}`.slice(0, 200),
    version,
    description: tool.description.slice(0, 4096),
    capabilities: [name, ...(category === undefined ? [] : [category])],
    endpoint,
    input_schema: inputSchemaOf(tool),
    output_schema: {},
    auth: authOf(placed, settings),
  };
  const files = new Map<string, PackageFile>([
    ["manifest.json", toFile(`${JSON.stringify(json, null, 2)}\n`)],
  ]);
  if (!isHttp) {
    files.set("engine.mjs", { bytes: settings.engine.bytes, isExecutable: false });
    files.set("manifest.yaml", toFile(manifestInImage(toolpack)));
    files.set("toolspec.yaml", toFile(toolpack.toolspecText));
    files.set("licenses.txt", toFile(licensesOf(settings.engine)));
  }
  return { toolId, version, files, engineReason, lacksCredential: !isHttp && placed.length > 0 };
}

function toFile(text: string): PackageFile {
  return { bytes: new TextEncoder().encode(text), isExecutable: false };
}

/** Returns why a tool is no `http` endpoint: what the format has no words for, or leaves open. */
function reasonForEngine(
  tool: ToolspecTool,
  { baseUrl, variables }: Toolspec,
  placed: readonly PlacedCredential[],
): string | undefined {
  const params = tool.params ?? [];
  const hasBody = tool.method === "POST" || tool.method === "PUT" || tool.method === "PATCH";
  const used = `${tool.baseUrl ?? baseUrl}${tool.path}`;
  if (Object.keys(variables ?? {}).some((name) => used.includes(`{${name}}`))) return "its URL has variables";
  if (used.includes("{+")) return "a part of its path keeps slashes";
  if (params.some(({ value }) => value !== undefined)) return "a parameter has a constant value";
  if (params.some((param) => argumentName(tool, param.name) !== param.name))
    return "a parameter has another name in its input";
  if (params.some((param) => param.in === "header")) return "a parameter is a header";
  if (params.some((param) => param.in === "query" && hasBody)) return "it has a query and a body";
  if (params.some((param) => param.in === "body" && !hasBody)) return "its method has no body in packages";
  if ((tool.encoding ?? "json") !== "json") return `its body is ${tool.encoding}`;
  if (params.some(({ in: place, type }) => place === "query" && (type === "array" || type === "object"))) {
    return "a query parameter is a list or an object";
  }
  if (tool.response !== undefined || tool.pagination !== undefined)
    return "its response is selected or in pages";
  return placed.length > 1 || placed.some((one) => hintsOf(one) === undefined)
    ? "its credentials are in places that packages do not have"
    : undefined;
}

/** Returns `auth` of the place of a credential; undefined where the format does not have it. */
function hintsOf({
  place,
  encoding,
}: PlacedCredential): { readonly type: string; readonly hints: JsonObject } | undefined {
  if (encoding !== undefined) return undefined;
  if (
    place.kind === "header" &&
    place.name.toLowerCase() === "authorization" &&
    place.format === "Bearer {token}"
  ) {
    return { type: "bearer", hints: {} };
  }
  if (place.kind === "pathPrefix" || place.format !== "{token}") return undefined;
  return { type: "api_key", hints: { [place.kind]: place.name } };
}

function authOf(placed: readonly PlacedCredential[], { secretVariableOf }: PackageSettings): JsonObject {
  const [first] = placed;
  if (first === undefined) return { type: "none" };
  const { type, hints } = hintsOf(first) ?? { type: "api_key", hints: {} };
  return { type, configHints: { env: secretVariableOf(first.id), ...hints } };
}

function commandOf({ toolspec }: Toolpack, tool: ToolspecTool, { variables }: PackageSettings): string {
  const used = `${tool.baseUrl ?? toolspec.baseUrl}${tool.path}`;
  const given = Object.entries(toolspec.variables ?? {}).flatMap(([name, { default: fallback }]) => {
    if (!used.includes(`{${name}}`)) return [];
    const value = variables[name];
    if (value === undefined && fallback !== undefined) return [];
    if (value !== undefined && /^[A-Za-z0-9._-]+$/.test(value)) return [`--variable ${name}=${value}`];
    throw new ToolpackImageError(
      "IMAGE_VARIABLE_UNSET",
      `The tool "${tool.name}" needs a value for the variable "${name}", in letters, digits and . _ -`,
      { hint: `give it: --variable ${name}=VALUE` },
    );
  });
  const words = [
    "node engine.mjs --manifest manifest.yaml --toolspec toolspec.yaml",
    ...given,
    `--call ${tool.name}`,
  ];
  return words.join(" ");
}
