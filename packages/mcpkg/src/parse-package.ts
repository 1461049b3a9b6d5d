/**
 * Reads the files of a package as a tool: the manifest, the tests, and everything that
 * they name. Reports all findings at once, each with its place in its file. Runs nothing.
 */

import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import {
  checkDocument,
  type DocumentKind,
  itemsOf,
  nodeAt,
  type OpenDocument,
  openDocument,
  stringOf,
} from "@toolcrib/document";
import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import { lintJsonPath } from "./json-path/parse-path.ts";
import { manifestKind, metaKind, testKind } from "./manifest/document-kinds.ts";
import { lintChain, type MemberProblem } from "./manifest/lint-chain.ts";
import { lintEndpoint } from "./manifest/lint-endpoint.ts";
import { type Manifest, manifestShape } from "./manifest/manifest-shape.ts";
import { provenanceShape, publisherShape } from "./manifest/meta-shapes.ts";
import { lintPrograms, programsOf } from "./manifest/starlark-programs.ts";
import { type PackageTest, testShape } from "./manifest/test-shape.ts";
import type { PackageFiles } from "./package-files.ts";

/** The path of the manifest. */
export const manifestPath = "manifest.json";

/** A package whose parts were checked. */
export interface ToolPackage {
  readonly manifest: Manifest;
  /** The tests that the manifest names, by their paths. */
  readonly tests: ReadonlyMap<string, PackageTest>;
  readonly files: PackageFiles;
}

/** The result of reading a package: the package if there is no error, and all findings. */
export interface ParsedPackage {
  readonly value: ToolPackage | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads `files` as a package. */
export function parsePackage(files: PackageFiles, validator: SchemaValidator): ParsedPackage {
  const manifestFile = files.get(manifestPath);
  if (manifestFile === undefined) {
    const message = `The package has no "${manifestPath}"`;
    const hint = "it must be at the top of the package, and not in a folder";
    return {
      value: undefined,
      diagnostics: [{ severity: "error", code: "MCPKG_FILE_MISSING", message, hint, path: manifestPath }],
    };
  }
  const open = openFile(files, manifestPath, manifestKind);
  const manifest = checkDocument(open, manifestShape);
  const named = {
    tests: itemsOf(open.tree, "tests").map((item) => stringOf(item) ?? ""),
    examples: itemsOf(open.tree, "examples").map((item) => stringOf(item) ?? ""),
  };
  reportAll(open, [
    ...(manifest === undefined ? [] : lintManifest(manifest, files, validator)),
    ...lintNamedFiles(named, files),
  ]);
  const tests = new Map<string, PackageTest>();
  const others: Diagnostic[] = [];
  // Tests are checked with a manifest that has errors too, so that all problems are reported at once.
  for (const path of new Set(named.tests)) {
    if (!files.has(path)) continue;
    const test = parseTest(files, path, manifest, validator);
    others.push(...test.diagnostics);
    if (test.value !== undefined) tests.set(path, test.value);
  }
  if (manifest !== undefined) others.push(...lintPrograms(manifest, files));
  const metaFiles = [
    ["meta/publisher.json", publisherShape],
    ["meta/provenance.json", provenanceShape],
  ] as const;
  for (const [path, shape] of metaFiles) {
    if (!files.has(path)) continue;
    const meta = openFile(files, path, metaKind);
    checkDocument<unknown>(meta, shape);
    others.push(...meta.reporter.diagnostics);
  }
  const diagnostics = [...open.reporter.diagnostics, ...others];
  const isUsable = manifest !== undefined && !hasErrors(diagnostics);
  return { value: isUsable ? { manifest, tests, files } : undefined, diagnostics };
}

function openFile(files: PackageFiles, path: string, kind: DocumentKind): OpenDocument {
  return openDocument({ name: path, text: files.get(path)?.bytes ?? "" }, kind);
}

function reportAll({ reporter, tree }: OpenDocument, problems: readonly MemberProblem[]): void {
  for (const { at, ...problem } of problems) {
    // A whole document has many lines: its first member stands for it.
    const node = nodeAt(tree, at);
    const span = at.length === 0 && node?.kind === "map" ? node.entries[0]?.keySpan : node?.span;
    reporter.report({ ...problem, path: toPath(at), ...(span === undefined ? {} : { span }) });
  }
}

function toPath(at: readonly (string | number)[]): string {
  return at.reduce<string>(
    (path, part) => (typeof part === "number" ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`),
    "",
  );
}

function lintManifest(
  manifest: Manifest,
  files: PackageFiles,
  validator: SchemaValidator,
): readonly MemberProblem[] {
  const { endpoint, implementations = [], chain } = manifest;
  return [
    ...lintKind(manifest),
    ...(["input_schema", "output_schema"] as const).flatMap((name) =>
      lintSchema(manifest[name], name, validator),
    ),
    ...(endpoint === undefined ? [] : lintEndpoint(endpoint, manifest, files, ["endpoint"])),
    ...implementations.flatMap((one, index) =>
      lintEndpoint(one.endpoint, manifest, files, ["implementations", index, "endpoint"]),
    ),
    ...lintImplementationIds(manifest),
    ...(chain === undefined ? [] : lintChain(manifest)),
  ];
}

/** An endpoint, implementations or a chain decide how the tool runs. An endpoint can be the fallback of implementations. */
function lintKind({ endpoint, implementations, chain }: Manifest): MemberProblem[] {
  const hint =
    "endpoint calls an API or a program, implementations are programs for several platforms, chain calls other tools";
  if (endpoint === undefined && implementations === undefined && chain === undefined) {
    const message = 'The manifest has none of "endpoint", "implementations" and "chain"';
    return [{ code: "MCPKG_FIELD_REQUIRED", message, hint, at: [] }];
  }
  if (chain !== undefined && (endpoint !== undefined || implementations !== undefined)) {
    const other = endpoint === undefined ? "implementations" : "endpoint";
    const message = `The manifest has "chain" and "${other}"; only one of them can decide how the tool runs`;
    return [{ code: "MCPKG_VALUE_INVALID", message, hint, at: ["chain"] }];
  }
  return [];
}

function lintSchema(
  schema: JsonObject,
  name: "input_schema" | "output_schema",
  validator: SchemaValidator,
): MemberProblem[] {
  const { type } = schema;
  if (name === "input_schema" && type !== undefined && type !== "object") {
    const message = `The type of "input_schema" must be "object", but is ${JSON.stringify(type).slice(0, 100)}`;
    return [{ code: "MCPKG_SCHEMA_INVALID", message, hint: "arguments are an object", at: [name, "type"] }];
  }
  const verdict = validator.validate(schema, {});
  if (verdict.kind !== "unusable") return [];
  const message = `"${name}" is not a JSON Schema that can be used: ${verdict.reason}`;
  return [{ code: "MCPKG_SCHEMA_INVALID", message, at: [name] }];
}

function lintImplementationIds({ implementations = [] }: Manifest): MemberProblem[] {
  const seen = new Set<string>();
  return implementations.flatMap(({ id }, index) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `Another implementation has the id "${id}"`;
    return [{ code: "MCPKG_VALUE_INVALID", message, at: ["implementations", index, "id"] }];
  });
}

interface NamedFiles {
  readonly tests: readonly string[];
  readonly examples: readonly string[];
}

function lintNamedFiles({ tests, examples }: NamedFiles, files: PackageFiles): MemberProblem[] {
  const problems: MemberProblem[] = [];
  for (const [member, paths] of Object.entries({ tests, examples })) {
    const seen = new Set<string>();
    for (const [index, path] of paths.entries()) {
      const at = [member, index];
      // The shape reports what is no text.
      if (path === "") continue;
      if (!files.has(path)) {
        const message = `The package has no file "${path}"`;
        const hint = "paths are relative to the manifest, with / between their parts";
        problems.push({ code: "MCPKG_FILE_MISSING", message, hint, at });
      } else if (seen.has(path)) {
        problems.push({ code: "MCPKG_VALUE_INVALID", message: `"${path}" is named twice`, at });
      }
      seen.add(path);
    }
  }
  const named = new Set(tests);
  for (const path of files.keys()) {
    if (!/^tests\/.*\.test\.json$/.test(path) || named.has(path)) continue;
    const message = `"${path}" is not in "tests", so it never runs`;
    problems.push({
      severity: "warning",
      code: "MCPKG_FILE_UNUSED",
      message,
      hint: "add it to tests",
      at: ["tests"],
    });
  }
  return problems;
}

function parseTest(
  files: PackageFiles,
  path: string,
  manifest: Manifest | undefined,
  validator: SchemaValidator,
): { readonly value: PackageTest | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const open = openFile(files, path, testKind);
  const test = checkDocument(open, testShape);
  if (test === undefined) return { value: undefined, diagnostics: open.reporter.diagnostics };
  const problems = [
    ...lintAssertions(test),
    ...(manifest === undefined ? [] : lintInput(test, manifest, validator)),
  ];
  reportAll(open, problems);
  const { diagnostics } = open.reporter;
  return { value: hasErrors(diagnostics) ? undefined : test, diagnostics };
}

function lintAssertions({ assertions = [], expected, expectedError }: PackageTest): MemberProblem[] {
  const problems: MemberProblem[] = [];
  if (expectedError !== undefined && (assertions.length > 0 || expected !== undefined)) {
    const message = 'The test has "expectedError" and conditions for a result; a tool that fails has none';
    const hint = "remove expected and assertions, or expectedError";
    problems.push({ code: "MCPKG_ASSERTION_INVALID", message, hint, at: ["expectedError"] });
  }
  if (assertions.length === 0 && expected === undefined && expectedError === undefined) {
    const message =
      'The test has neither "expected" nor "assertions": any result passes that the output schema allows';
    problems.push({ severity: "warning", code: "MCPKG_ASSERTION_INVALID", message, at: [] });
  }
  for (const [index, { path, ...conditions }] of assertions.entries()) {
    const names = Object.keys(conditions);
    if (names.length !== 1) {
      const found = names.length === 0 ? "no condition" : `several conditions (${names.join(", ")})`;
      const message = `The assertion for "${path}" has ${found}; it must have exactly one`;
      const hint = "write one of equals, notEquals, exists and notExists";
      problems.push({ code: "MCPKG_ASSERTION_INVALID", message, hint, at: ["assertions", index] });
    }
    const reason = lintJsonPath(path);
    if (reason === undefined) continue;
    const message = `"${path}" is not a JSONPath: ${reason}`;
    const hint = "see RFC 9535, such as $.status or $.items[0].id";
    problems.push({ code: "MCPKG_JSON_PATH_INVALID", message, hint, at: ["assertions", index, "path"] });
  }
  return problems;
}

function lintInput({ input }: PackageTest, manifest: Manifest, validator: SchemaValidator): MemberProblem[] {
  const verdict = validator.validate(manifest.input_schema, input);
  if (verdict.kind !== "invalid") return [];
  // A composite converts arguments of other types, and a test can expect that it refuses them.
  const severity = programsOf(manifest).length > 0 ? "warning" : "error";
  return verdict.problems.map(({ path, message }) => ({
    severity,
    code: "MCPKG_TEST_INPUT_INVALID",
    message: `The input of the test does not match the input schema: ${path === "" ? "it" : path} ${message}`,
    at: ["input"],
  }));
}
