/**
 * Writes a composite tool as a package (MCPKG document, Package Layout): `manifest.json` with a Starlark
 * endpoint, the program in `main.star`, its tests below `tests/`, and an example below `examples/`. The only
 * writer of this form; `parsePackage` reads it. Texts only.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { Manifest } from "./manifest/manifest-shape.ts";
import { isToolId, isVersion } from "./manifest/names.ts";
import type { PackageTest } from "./manifest/test-shape.ts";
import { McpkgError } from "./mcpkg-error.ts";
import { manifestPath } from "./parse-package.ts";

/** A composite tool, and what its package says about it. */
export interface ProgramPackage {
  readonly toolId: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly code: string;
  /** Ids of the tools that the program calls; absent where they are not known. */
  readonly tools?: readonly string[] | undefined;
  readonly tests: readonly PackageTest[];
  /** Tags besides `composite`. @default the namespaces of `tools` */
  readonly capabilities?: readonly string[] | undefined;
  /** License, publisher and the like. @default none */
  readonly meta?: Manifest["meta"];
}

const sourcePath = "main.star";
const examplePath = "examples/usage.md";
/** Most tags of a package, `composite` included. */
const tagsMaxCount = 64;
const tagMaxLength = 100;

/**
 * Returns the files by path, the manifest first.
 *
 * @throws {McpkgError} `MCPKG_TOOL_ID_INVALID`, `MCPKG_VERSION_INVALID`; `MCPKG_PROGRAM_INVALID` for a program that no
 *   file can hold.
 */
export function writeProgramPackage(content: ProgramPackage): ReadonlyMap<string, string> {
  const { toolId, version, name, description, inputSchema, code, tools, tests, meta } = content;
  requireNames(content);
  const testPaths = tests.map((one, index) => `tests/${testFileName(index, one.name)}`);
  const capabilities = content.capabilities ?? namespacesOf(tools);
  const manifest = {
    toolId,
    name,
    version,
    description,
    capabilities: [...new Set(["composite", ...capabilities])].slice(0, tagsMaxCount),
    endpoint: { type: "starlark", source: sourcePath, ...(tools === undefined ? {} : { tools }) },
    input_schema: inputSchema,
    output_schema: {},
    tests: testPaths,
    examples: [examplePath],
    ...(meta === undefined ? {} : { meta }),
  };
  return new Map([
    [manifestPath, toText(manifest)],
    [sourcePath, code],
    [examplePath, formatExample(content)],
    ...tests.map((one, index): [string, string] => [
      testPaths[index] as string,
      // The members of the format that have no value are written, too: a reader sees that there are none.
      toText({ ...one, assertions: one.assertions ?? [] }),
    ]),
  ]);
}

function requireNames({ toolId, version, code }: ProgramPackage): void {
  const shown = (text: string) => JSON.stringify(text.slice(0, 100));
  if (!isToolId(toolId)) {
    throw new McpkgError(
      "MCPKG_TOOL_ID_INVALID",
      `Cannot write the package ${shown(toolId)}: it is no toolId`,
      {
        hint: "a toolId is two or more parts of a-z 0-9 _ with dots between, such as acme.crm.search",
      },
    );
  }
  if (!isVersion(version)) {
    throw new McpkgError(
      "MCPKG_VERSION_INVALID",
      `Cannot write ${toolId} ${shown(version)}: it is no version such as 1.0.0 (SemVer)`,
    );
  }
  if (!code.isWellFormed()) {
    throw new McpkgError(
      "MCPKG_PROGRAM_INVALID",
      `Cannot write ${toolId}: its program holds half a character, which no file can`,
    );
  }
}

function toText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function testFileName(index: number, name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  return `${String(index + 1).padStart(3, "0")}${words === "" ? "" : `-${words}`}.test.json`;
}

function namespacesOf(tools: readonly string[] = []): readonly string[] {
  const namespaces = tools.flatMap((id) => (id.includes(":") ? [id.slice(0, id.indexOf(":"))] : []));
  return [...new Set(namespaces)].filter(({ length }) => length > 0 && length <= tagMaxLength).sort();
}

function formatExample({ name, description, tests }: ProgramPackage): string {
  const fenced = (value: JsonValue) => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\`\n`;
  const example = tests.find(({ expected }) => expected !== undefined);
  const parts = [`# ${name}\n`, `${description.trim()}\n`];
  if (example?.expected !== undefined) {
    parts.push("Example call:\n", fenced(example.input), "Its result:\n", fenced(example.expected));
  }
  return parts.join("\n");
}
