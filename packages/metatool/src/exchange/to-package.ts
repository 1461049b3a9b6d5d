/** Converts saved tools to the content of packages and back. `mcpkg` writes and reads the files. Pure. */

import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue, SchemaValidator } from "@toolcrib/json";
import type { Manifest, PackageTest, ProgramPackage } from "@toolcrib/mcpkg";
import type { SavedToolDefinition } from "@toolcrib/store";
import { lintInputSchema } from "../core/lint-input-schema.ts";
import { meaningOfName } from "../core/reserved-name.ts";
import { keptReachOf } from "../core/tool-facts.ts";
import { lintSavedTool } from "../saved/lint-saved-tool.ts";
import type { SavedToolLimits } from "../saved/saved-tool.ts";
import { parseTestCases, type TestCase, withTestCases } from "../test/test-case.ts";

/** The members of a package that a saved tool does not have. */
export interface ToPackageOptions
  extends Partial<Pick<ProgramPackage, "toolId" | "version" | "capabilities" | "meta">> {
  /** Tools that the program chooses at run time, besides those that it names. @default none */
  readonly moreTools?: readonly string[];
  /** Whether tests have the recorded replies of the tools that were called. @default true */
  readonly hasReplies?: boolean;
}

/**
 * Returns the content of the package of a saved tool, and the findings about its test cases.
 *
 * @param options.toolId @default `saved.` and the name of the tool in the characters of toolIds
 * @param options.version @default "1.0.0"
 */
export function toProgramPackage(
  tool: SavedToolDefinition,
  { moreTools = [], hasReplies = true, ...options }: ToPackageOptions = {},
): { readonly value: ProgramPackage; readonly diagnostics: readonly Diagnostic[] } {
  const { name, description, inputSchema, code, toolcrib } = tool;
  const { value: cases, diagnostics } = parseTestCases(toolcrib);
  const known = keptReachOf(toolcrib).reach?.tools;
  const tools = known === undefined && moreTools.length === 0 ? undefined : [...(known ?? []), ...moreTools];
  const value = {
    toolId: `saved.${toIdPart(name)}`,
    version: "1.0.0",
    ...options,
    name,
    description,
    inputSchema,
    code,
    tools: tools && [...new Set(tools)].sort(),
    tests: cases.map((one) => toPackageTest(one, hasReplies)),
  };
  return { value, diagnostics };
}

function toIdPart(name: string): string {
  const part = name.toLowerCase().replace(/[^a-z0-9_]/g, "_");
  return /^[a-z0-9]/.test(part) ? part : `t${part}`;
}

function toPackageTest({ name, params, replies, expect, now }: TestCase, hasReplies: boolean): PackageTest {
  return {
    name,
    input: params,
    ...("result" in expect ? { expected: expect.result } : { expectedError: { ...expect.error } }),
    ...(hasReplies ? { replies: replies as unknown as readonly JsonValue[] } : {}),
    ...(now === undefined || !hasReplies ? {} : { now }),
  };
}

/** A package with a Starlark program, as `mcpkg` reads it. */
export interface ReadProgramPackage {
  readonly manifest: Manifest;
  readonly tests: ReadonlyMap<string, PackageTest>;
  readonly code: string;
}

/** Behaviour of an import. */
export interface FromPackageOptions extends SavedToolLimits {
  /** Name of the tool. @default the name in the package */
  readonly name?: string;
}

/**
 * Returns the saved tool of a package, and all findings about it. It must be approved before it is called,
 * unless it calls no tool: nothing of the reach that the package declares is approved.
 */
export function fromProgramPackage(
  { manifest, tests, code }: ReadProgramPackage,
  validator: SchemaValidator,
  { name = manifest.name, ...limits }: FromPackageOptions = {},
): { readonly value?: SavedToolDefinition; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const list = [...tests].flatMap(([path, test]) => toTestCase(path, test, diagnostics));
  const { value: cases, diagnostics: found } = parseTestCases({ tests: list });
  diagnostics.push(...found);
  const value: SavedToolDefinition = {
    name,
    description: manifest.description,
    inputSchema: manifest.input_schema,
    code,
    toolcrib: withTestCases({ approved: { tools: [], dynamic: false } }, cases),
  };
  diagnostics.push(...lintSavedTool({ ...value }, limits), ...lintInputSchema(value.inputSchema, validator));
  const meaning = meaningOfName(name);
  if (meaning !== undefined) {
    const message = `Cannot import a tool as "${name}": ${meaning}`;
    const hint = "import it under another name";
    diagnostics.push({ severity: "error", code: "METATOOL_NAME_RESERVED", message, hint, path: "name" });
  }
  return hasErrors(diagnostics) ? { diagnostics } : { value, diagnostics };
}

function toTestCase(
  path: string,
  { name, input, expected, expectedError, assertions = [], replies = [], now }: PackageTest,
  diagnostics: Diagnostic[],
): readonly JsonObject[] {
  if (assertions.length > 0) {
    const message = `Cannot use "${path}": a test of a saved tool compares its whole result with expected, and has no assertions`;
    diagnostics.push({ severity: "error", code: "METATOOL_TEST_INVALID", message, path });
  }
  const expect = {
    ...(expected === undefined ? {} : { result: expected }),
    ...(expectedError === undefined ? {} : { error: { ...expectedError } }),
  };
  return [{ name, params: input, replies, expect, ...(now === undefined ? {} : { now }) }];
}
