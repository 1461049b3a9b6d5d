/** Writes a manifest and a toolspec as the text of their files, in the layout of catalogs. Pure. */

import type { JsonValue } from "@toolcrib/json";
import type { Toolspec, ToolspecExample, ToolspecParam, ToolspecTool } from "@toolcrib/toolspec";
import type { Credential } from "../service/read-credentials.ts";
import { yamlMap, yamlText, yamlValue } from "./write-yaml.ts";

/** Facts of a manifest that its toolspec does not contain. */
export interface ManifestDraft {
  readonly name: string;
  readonly version: string;
  readonly displayName: string | undefined;
  readonly description: string | undefined;
  readonly egress: readonly string[];
  readonly credentials: readonly Credential[];
  readonly tools: readonly ToolspecTool[];
}

/** Returns the text of a manifest. Read-only tools are exposed by default. */
export function writeManifest(draft: ManifestDraft): string {
  const needsSecond = draft.credentials.some(({ inject }) => "query" in inject);
  const lines = [
    `schemaVersion: ${needsSecond ? 2 : 1}`,
    `name: ${yamlText(draft.name)}`,
    `version: ${draft.version}`,
    "source: {repo: github.com/toolcrib/toolcrib, tag: v0.1.0, package: packages/toolpack}",
    "image:",
    "  ref: ghcr.io/toolcrib/toolpack",
    `  digest: sha256:${"0".repeat(64)}`,
    "  entrypoint: /app/server",
    "  builder: toolpack",
    "tier: sealed",
    ...(draft.displayName === undefined ? [] : [`displayName: ${yamlText(draft.displayName)}`]),
    ...(draft.description === undefined ? [] : [`description: ${yamlText(draft.description)}`]),
    "entitlements:",
    "  egress:",
    ...draft.egress.map((host) => `    - ${yamlText(host)}`),
  ];
  if (draft.credentials.length > 0) lines.push("credentials:");
  for (const { id, type, vendor, scopes, inject } of draft.credentials) {
    lines.push(`  - id: ${yamlText(id)}`, `    type: ${type}`);
    if (vendor !== undefined) lines.push(`    vendor: ${yamlText(vendor)}`);
    if (scopes !== undefined)
      lines.push("    scopes:", ...scopes.map((scope) => `      - ${yamlText(scope)}`));
    lines.push(`    inject: ${yamlMap(Object.entries(inject))}`);
  }
  lines.push(
    "tools:",
    ...draft.tools.map(
      (tool) =>
        `  - ${yamlMap([
          ["name", tool.name],
          ["default", tool.method === "GET"],
        ])}`,
    ),
  );
  return `${lines.join("\n")}\n`;
}

/** Returns the text of a toolspec before its tools. */
export function writeToolspecHead(spec: Omit<Toolspec, "tools">): string {
  const variables = Object.entries(spec.variables ?? {});
  const lines = [
    `schemaVersion: ${spec.schemaVersion}`,
    `name: ${yamlText(spec.name)}`,
    `version: ${spec.version}`,
    `baseUrl: ${yamlUrl(spec.baseUrl)}`,
    ...(variables.length === 0 ? [] : ["variables:"]),
    ...variables.map(
      ([name, { description, default: value }]) =>
        `  ${yamlMap([[name, "x"]]).replace(/^\{|: x\}$/g, "")}: ${yamlMap([
          ["description", description],
          ["default", value],
        ])}`,
    ),
    "tools:",
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the text of one tool of a toolspec. */
export function writeTool(tool: ToolspecTool): string {
  const lines = [
    `  - name: ${yamlText(tool.name)}`,
    `    description: ${yamlText(tool.description)}`,
    `    method: ${tool.method}`,
    `    path: ${/[{}]/.test(tool.path) && /^[\w/.{}~-]+$/.test(tool.path) ? tool.path : yamlText(tool.path)}`,
  ];
  if (tool.baseUrl !== undefined) lines.push(`    baseUrl: ${yamlUrl(tool.baseUrl)}`);
  if (tool.encoding !== undefined) lines.push(`    encoding: ${tool.encoding}`);
  if (tool.params !== undefined)
    lines.push("    params:", ...tool.params.map((param) => `      - ${writeParam(param)}`));
  if (tool.pagination !== undefined) {
    const { kind, param, next, first, total } = tool.pagination;
    lines.push(
      `    pagination: ${yamlMap([
        ["kind", kind],
        ["param", param],
        ["next", next],
        ["first", first],
        ["total", total],
      ])}`,
    );
  }
  if (tool.examples !== undefined) lines.push("    examples:", ...tool.examples.flatMap(writeExample));
  return `${lines.join("\n")}\n`;
}

function writeParam(param: ToolspecParam): string {
  return yamlMap([
    ["name", param.name],
    ["in", param.in],
    ["type", param.type],
    ["required", param.required],
    ["value", param.value],
    ["style", param.style],
    ["contentEncoding", param.contentEncoding],
    ["contentType", param.contentType],
    ["enum", param.enum as JsonValue | undefined],
    ["description", param.description],
  ]);
}

function writeExample({ args, request }: ToolspecExample): string[] {
  const { method, url, body } = request;
  return [
    `      - args: ${yamlValue(args)}`,
    `        request: ${yamlMap([
      ["method", method],
      ["url", url],
      ["body", body],
    ])}`,
  ];
}

/** A URL without braces needs no quotes. */
function yamlUrl(url: string): string {
  return /^https:\/\/[A-Za-z0-9.-]+$/.test(url) ? url : JSON.stringify(url);
}
