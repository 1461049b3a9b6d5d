/**
 * Converts a saved tool to the files of a package (MCPKG document, Package Layout) and
 * back: `manifest.json` with a Starlark endpoint, the program in `main.star`, its test
 * cases below `tests/`, and an example below `examples/`. Texts only. The round trip
 * is lossless.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { SavedToolDefinition } from "@toolcrib/store";
import { keptReachOf } from "../core/tool-facts.ts";
import { lintTestCase, parseTestCases, type TestCase, withTestCases } from "../test/test-case.ts";

/** Metadata of an export. */
export interface PackageOptions {
  /** `publisher.domain.name`: two or more parts of `a-z 0-9 _`. @default `saved.` and the name of the tool in these characters */
  readonly toolId?: string;
  /** SemVer. @default "1.0.0" */
  readonly version?: string;
}

/** The path of the manifest. */
export const manifestPath = "manifest.json";
/** The path of the program. */
const sourcePath = "main.star";
const examplePath = "examples/usage.md";
const endpointType = "starlark";

const idPattern = /^[a-z0-9][a-z0-9_]*(?:\.[a-z0-9][a-z0-9_]*)+$/;
const versionPattern =
  /^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** Returns the files of `tool` by path, or the findings. */
export function formatPackage(
  tool: SavedToolDefinition,
  options: PackageOptions = {},
): { readonly value: ReadonlyMap<string, string>; readonly diagnostics: readonly Diagnostic[] } {
  const { name, description, inputSchema, code } = tool;
  const { value: cases, diagnostics: broken } = parseTestCases(tool.toolcrib);
  const toolId = options.toolId ?? `saved.${toIdPart(name)}`;
  const version = options.version ?? "1.0.0";
  const diagnostics = [...broken, ...lintId(toolId), ...lintVersion(version)];
  if (!code.isWellFormed()) diagnostics.push(invalid("code", "it holds half a character, which no file can"));
  const testPaths = cases.map(({ name: own }, index) => `tests/${toTestFileName(index, own)}`);
  const tools = keptReachOf(tool.toolcrib).reach?.tools;
  const manifest: JsonObject = {
    toolId,
    name,
    version,
    description,
    capabilities: ["composite", ...namespacesOf(tools)],
    endpoint: { type: endpointType, source: sourcePath, ...(tools === undefined ? undefined : { tools }) },
    input_schema: inputSchema,
    output_schema: {},
    tests: testPaths,
    examples: [examplePath],
  };
  const value = new Map([
    [manifestPath, toText(manifest)],
    [sourcePath, code],
    [examplePath, formatExample(tool, cases)],
    ...cases.map((one, index): [string, string] => [testPaths[index] as string, toText(toTestFile(one))]),
  ]);
  return { value, diagnostics };
}

function toText(value: JsonObject): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function toIdPart(name: string): string {
  const part = name.toLowerCase().replace(/[^a-z0-9_]/g, "_");
  return /^[a-z0-9]/.test(part) ? part : `t${part}`;
}

function toTestFileName(index: number, name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  return `${String(index + 1).padStart(3, "0")}${words === "" ? "" : `-${words}`}.test.json`;
}

function namespacesOf(tools: readonly string[] | undefined): readonly string[] {
  const namespaces = (tools ?? []).flatMap((id) => (id.includes(":") ? [id.slice(0, id.indexOf(":"))] : []));
  return [...new Set(namespaces)].sort();
}

/** Formats a test case as a test file of the document, with additional members. */
function toTestFile({ name, params, replies, expect, now }: TestCase): JsonObject {
  return {
    name,
    input: params,
    ...("result" in expect ? { expected: expect.result } : { expectedError: { ...expect.error } }),
    assertions: [],
    replies: replies as unknown as JsonValue,
    ...(now === undefined ? undefined : { now }),
  };
}

function formatExample({ name, description }: SavedToolDefinition, cases: readonly TestCase[]): string {
  const fenced = (value: JsonValue) => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\`\n`;
  const example = cases.find(({ expect }) => "result" in expect);
  const parts = [`# ${name}\n`, `${description.trim()}\n`];
  if (example !== undefined && "result" in example.expect) {
    parts.push("Example call:\n", fenced(example.params), "Its result:\n", fenced(example.expect.result));
  }
  return parts.join("\n");
}

/** The members of a manifest in the document. */
const manifestMembers: ReadonlySet<string> = new Set(
  (
    "toolId name version description capabilities endpoint implementations chain input_schema output_schema " +
    "auth tests examples meta"
  ).split(" "),
);

/** Returns the paths of the files that a manifest names. Invalid members are ignored. */
export function listPackageFiles(manifest: JsonObject): readonly string[] {
  const source = starlarkEndpoint(manifest)?.["source"];
  return [...(typeof source === "string" ? [source] : []), ...textsOf(manifest["tests"])];
}

/** Parses the files of a package to a saved tool. `name` replaces the name in the package. */
export function parsePackage(
  files: ReadonlyMap<string, string>,
  name?: string,
): { readonly value?: SavedToolDefinition; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const manifest = parseJsonFile(manifestPath, files, diagnostics);
  if (!isJsonObject(manifest)) {
    if (manifest !== undefined) diagnostics.push(invalid(manifestPath, "it must hold an object"));
    return { diagnostics };
  }
  const of = (path: string, reason: string) => diagnostics.push(invalid(`${manifestPath}: ${path}`, reason));
  diagnostics.push(...lintId(manifest["toolId"]), ...lintVersion(manifest["version"]));
  for (const member of ["name", "description"]) {
    if (typeof manifest[member] !== "string") of(member, "it must be a string");
  }
  if (!isTexts(manifest["capabilities"])) of("capabilities", "it must be a list of texts");
  if (!isJsonObject(manifest["input_schema"])) of("input_schema", "it must be a JSON Schema");
  if (!isJsonObject(manifest["output_schema"])) of("output_schema", "it must be a JSON Schema");
  for (const member of ["tests", "examples"]) {
    if (manifest[member] !== undefined && !isTexts(manifest[member]))
      of(member, "it must be a list of paths");
  }
  for (const member of Object.keys(manifest)) {
    if (!manifestMembers.has(member)) {
      const message = `"${member.slice(0, 60)}" in ${manifestPath} is not known and is not kept`;
      diagnostics.push({
        severity: "warning",
        code: "METATOOL_PACKAGE_INVALID",
        message,
        path: member.slice(0, 60),
      });
    }
  }
  const code = codeOf(manifest, files, diagnostics);
  const cases = textsOf(manifest["tests"]).flatMap((path) => parseTestFile(path, files, diagnostics));
  const names = new Set<string>();
  for (const one of cases) {
    if (names.has(one.name)) of("tests", `two tests are called ${JSON.stringify(one.name)}`);
    names.add(one.name);
  }
  if (diagnostics.some(({ severity }) => severity === "error")) return { diagnostics };
  const value = {
    name: name ?? String(manifest["name"]),
    description: String(manifest["description"]),
    inputSchema: manifest["input_schema"] as JsonObject,
    code: code as string,
    // The approved reach is empty, so the tool must be approved before it is called.
    toolcrib: withTestCases({ approved: { tools: [], dynamic: false } }, cases),
  };
  return { value, diagnostics };
}

function starlarkEndpoint(manifest: JsonObject): JsonObject | undefined {
  const { endpoint, implementations } = manifest;
  const others = Array.isArray(implementations) ? (implementations as readonly JsonValue[]) : [];
  const endpoints = [endpoint, ...others.map((one) => (isJsonObject(one) ? one["endpoint"] : undefined))];
  return endpoints.filter(isJsonObject).find(({ type }) => type === endpointType);
}

function codeOf(
  manifest: JsonObject,
  files: ReadonlyMap<string, string>,
  diagnostics: Diagnostic[],
): string | undefined {
  const endpoint = starlarkEndpoint(manifest);
  const source = endpoint?.["source"];
  if (endpoint === undefined) {
    const reason = 'none is of type "starlark", and a saved tool is a Starlark program';
    diagnostics.push(invalid(`${manifestPath}: endpoint`, reason));
  } else if (typeof source !== "string") {
    diagnostics.push(invalid(`${manifestPath}: endpoint.source`, "it must be the path of the program"));
  } else if (!files.has(source)) {
    diagnostics.push(invalid(source, "the file does not exist"));
  } else return files.get(source);
  return undefined;
}

/** The members of a test file: those of a test case, and those that are ignored. */
const testMembers: ReadonlySet<string> = new Set(
  "name description input expected expectedError assertions replies now timeoutMs".split(" "),
);

function parseTestFile(
  path: string,
  files: ReadonlyMap<string, string>,
  diagnostics: Diagnostic[],
): readonly TestCase[] {
  const file = parseJsonFile(path, files, diagnostics);
  if (file === undefined) return [];
  if (!isJsonObject(file)) {
    diagnostics.push(invalid(path, "it must hold an object"));
    return [];
  }
  const { name, input, expected, expectedError, assertions, replies = [], now } = file;
  if (Array.isArray(assertions) && assertions.length > 0) {
    diagnostics.push(
      invalid(`${path}: assertions`, "a saved tool's test compares its whole result with expected"),
    );
  }
  for (const member of Object.keys(file)) {
    if (!testMembers.has(member))
      diagnostics.push(invalid(`${path}: ${member.slice(0, 60)}`, "it is not known"));
  }
  const testCase = {
    ...(name === undefined ? undefined : { name }),
    ...(input === undefined ? undefined : { params: input }),
    replies,
    expect: {
      ...(expected === undefined ? undefined : { result: expected }),
      ...(expectedError === undefined ? undefined : { error: expectedError }),
    },
    ...(now === undefined ? undefined : { now }),
  } as JsonObject;
  const found = lintTestCase(testCase, path);
  diagnostics.push(...found);
  return found.length === 0 ? [testCase as unknown as TestCase] : [];
}

function parseJsonFile(
  path: string,
  files: ReadonlyMap<string, string>,
  diagnostics: Diagnostic[],
): JsonValue | undefined {
  const text = files.get(path);
  if (text === undefined) {
    diagnostics.push(invalid(path, "the file does not exist"));
    return undefined;
  }
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const source: Source = { name: path, text };
    const message = `Cannot read ${JSON.stringify(path)}: ${error.message}`;
    diagnostics.push({ severity: "error", code: "METATOOL_PACKAGE_INVALID", message, source, path });
    return undefined;
  }
}

function lintId(id: JsonValue | undefined): Diagnostic[] {
  if (typeof id === "string" && id.length <= 200 && idPattern.test(id)) return [];
  return [
    invalid("toolId", "it must be two or more parts of a-z 0-9 _ with dots between, such as acme.crm.search"),
  ];
}

function lintVersion(version: JsonValue | undefined): Diagnostic[] {
  if (typeof version === "string" && version.length <= 100 && versionPattern.test(version)) return [];
  return [invalid("version", "it must be a version such as 1.0.0 (SemVer)")];
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return isTexts(value) ? value : [];
}

function invalid(path: string, reason: string): Diagnostic {
  const message = `Cannot use "${path}": ${reason}`;
  return { severity: "error", code: "METATOOL_PACKAGE_INVALID", message, path };
}
