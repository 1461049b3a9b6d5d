/** Prints the result of an import, for people and as JSON. */

import { suggestedSecretName } from "@toolcrib/config";
import { type Diagnostic, formatDiagnostics, type Source } from "@toolcrib/diagnostics";
import type { ImportReport, Operation } from "@toolcrib/openapi";
import type { Manifest, ManifestCredential, Toolspec } from "@toolcrib/toolspec";
import { yamlText } from "../init/yaml-text.ts";
import { type Output, safeLine } from "../output/output.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/** Maximum number of findings that are shown in full. */
const shownMaxCount = 20;

/** Prints the first findings. `--json` has all of them. */
export function noteFindings(output: Output, diagnostics: readonly Diagnostic[]): void {
  if (output.isJson || diagnostics.length === 0) return;
  const shown = diagnostics.slice(0, shownMaxCount);
  output.note(formatDiagnostics(shown), "");
  const counts = new Map<string, number>();
  for (const { code } of diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (diagnostics.length === shown.length) return;
  const list = [...counts].map(([code, count]) => `${count} ${code}`).join(", ");
  output.note(`${diagnostics.length - shown.length} more findings, in total ${list}; --json lists all`, "");
}

/** Returns the findings with line and column numbers. Scans each text once. */
export function toJsonFindings(diagnostics: readonly Diagnostic[]): readonly object[] {
  const lines = new Map<Source, readonly number[]>();
  const linesOf = (source: Source) => {
    const known = lines.get(source) ?? lineStarts(source.text);
    lines.set(source, known);
    return known;
  };
  return diagnostics.map(({ severity, code, message, hint, source, span }) => {
    const place =
      source === undefined || span === undefined ? undefined : placeOf(linesOf(source), span.start);
    return { severity, code, message, hint, file: source?.name, ...place };
  });
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function placeOf(
  starts: readonly number[],
  offset: number,
): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

/** Prints the operations for `--list`. */
export function printOperations(
  output: Output,
  operations: readonly Operation[],
  diagnostics: readonly Diagnostic[],
): void {
  output.json({
    operations: operations.map(({ operationId, method, path, tags, summary, isDeprecated }) => ({
      operationId,
      method,
      path,
      tags,
      summary,
      deprecated: isDeprecated,
    })),
    diagnostics: toJsonFindings(diagnostics),
  });
  output.table(
    [
      { title: "OPERATION", canShrink: true },
      { title: "REQUEST", canShrink: true },
      { title: "TAGS", canShrink: true },
      { title: "SUMMARY", canShrink: true },
    ],
    operations.map((one) =>
      [
        one.operationId ?? "-",
        `${one.method} ${one.path}`,
        one.tags.join(", "),
        `${one.isDeprecated ? "(deprecated) " : ""}${one.summary}`,
      ].map(safeLine),
    ),
  );
}

/** Prints the imported tools and the written files. */
export function printImport(
  output: Output,
  report: ImportReport & { readonly value: NonNullable<ImportReport["value"]> },
  files: { readonly manifest: string; readonly toolspec: string; readonly home: string | undefined },
): void {
  const { manifest, toolspec } = report.value;
  const done = report.operations.filter(({ tool }) => tool !== undefined);
  // The document decides where secrets are sent, so show that before the user stores them.
  output.json({
    name: manifest.name,
    version: manifest.version,
    files: [files.manifest, files.toolspec],
    egress: manifest.entitlements?.egress ?? [],
    credentials: manifest.credentials ?? [],
    operations: report.operations,
    hidden: report.hidden,
    diagnostics: toJsonFindings(report.diagnostics),
  });
  output.table(
    [
      { title: "TOOL", canShrink: true },
      { title: "REQUEST", canShrink: true },
    ],
    done.map(({ tool, method, path }) => [safeLine(tool ?? ""), safeLine(`${method} ${path}`)]),
  );
  const left = report.operations.length - done.length;
  output.print(
    "",
    `${done.length} ${done.length === 1 ? "tool" : "tools"}${left === 0 ? "" : `; ${left} ${left === 1 ? "operation is" : "operations are"} omitted`}`,
    `reaches ${(manifest.entitlements?.egress ?? []).map(safeLine).join(", ")}`,
    ...(manifest.credentials ?? []).map((one) => `sends ${safeLine(one.id)} ${placeOfCredential(one)}`),
    ...report.hidden.map(describeHidden),
    `wrote ${files.manifest}`,
    `wrote ${files.toolspec}`,
    "",
    ...nextSteps(manifest, toolspec, files),
  );
}

function placeOfCredential({ inject }: ManifestCredential): string {
  if (inject.query !== undefined) return `in the query, as ${safeLine(inject.query)}`;
  return `in the header ${safeLine(inject.header ?? "")}`;
}

/** Says which parameter or body member is no argument. The findings say why. */
function describeHidden({ name, in: where, tools, credential }: ImportReport["hidden"][number]): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  const instead = credential === undefined ? "a credential" : `the credential ${safeLine(credential)}`;
  return `hides ${safeLine(name)} in the ${where} of ${count}: ${instead}`;
}

/** Returns the next steps, for copy and paste. */
function nextSteps(
  manifest: Manifest,
  toolspec: Toolspec,
  files: { readonly toolspec: string; readonly home: string | undefined },
): string[] {
  const path = files.toolspec.startsWith("/") ? files.toolspec : `./${files.toolspec}`;
  const credentials = (manifest.credentials ?? []).map(({ id }) => ({
    id,
    secret: suggestedSecretName(manifest.name, id),
  }));
  const home = files.home === undefined ? "" : ` --home ${shellQuote(files.home)}`;
  const variables = Object.entries(toolspec.variables ?? {});
  const writes = toolspec.tools.filter(({ method }) => method !== "GET").length;
  const hasExamples = toolspec.tools.some(({ examples }) => examples !== undefined);
  return [
    "next:",
    ...(hasExamples ? [`  toolcrib toolspec test ${shellQuote(files.toolspec)}`] : []),
    ...credentials.map(({ secret }) => `  toolcrib secret set ${secret}${home}`),
    "  add to toolcrib.yaml:",
    "",
    "    toolspecs:",
    `      - path: ${yamlText(path)}`,
    ...(credentials.length === 0 ? [] : ["        credentials:"]),
    ...credentials.map(
      ({ id, secret }) => `          ${yamlText(id)}: {secret_key_ref: ${yamlText(secret)}}`,
    ),
    ...(variables.length === 0 ? [] : ["        variables:"]),
    ...variables.map(([name, { default: value }]) => `          ${name}: ${yamlText(value ?? "…")}`),
    ...(writes === 0 ? [] : [`        # tools: all   # ${writes} more: the tools that change data`]),
  ];
}
