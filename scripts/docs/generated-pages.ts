/**
 * Generates all pages that are derived from the sources, and checks that the pages in
 * the repository are up to date.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { readErrorCodes } from "../error-codes.ts";
import type { Results } from "../features/results.ts";
import { compatibilityPage } from "../features/table.ts";
import type { Workspace } from "../workspace.ts";
import { apiPage, listApi } from "./api-page.ts";
import { clientPages } from "./client-pages.ts";
import { enforcementPage } from "./enforcement-page.ts";
import { type ExplainedCode, errorPages, meaningsModule } from "./errors-page.ts";
import { limitsPage } from "./limits-page.ts";
import { starlarkPage } from "./starlark-page.ts";

/** Package of the test tools, whose exports are not documented. */
const testTools = "testing";

/** Texts by path from the root. */
export type Pages = ReadonlyMap<string, string>;

/** Generates every page. */
export async function makePages(workspace: Workspace): Promise<Pages> {
  const packages = workspace.packages.filter(({ folder }) => folder !== testTools);
  const libraries = packages.filter((one) => listApi(one, workspace.checker).length > 0);
  return new Map([
    ...libraries.map((one) => [`docs/api/${one.folder}.api.md`, apiPage(one, workspace.checker)] as const),
    ...clientPages(workspace.root),
    ["docs/reference/compatibility.md", compatibilityPage(featureResults())],
    ...errorPages(await explainedCodes()),
    ["packages/cli/src/explain/meanings.ts", meaningsModule(readErrorCodes(workspace).codes)],
    ["docs/reference/enforcement.md", enforcementPage()],
    ["docs/reference/limits.md", limitsPage(packages)],
    ["docs/reference/starlark.md", await starlarkPage(workspace)],
    ["docs/reference/cli.md", await commandLine()],
    ["docs/reference/toolcrib.schema.json", await configSchema()],
    ...(await toolspecSchemas()),
  ]);
}

/** The results of `npm run features`, which fails where they are not true. */
function featureResults(): Results {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../features/results.json"), "utf8")) as Results;
}

/** The help of every command, generated from the definitions of the commands. */
async function commandLine(): Promise<string> {
  const { commandLineReference } = await import("@toolcrib/cli");
  return commandLineReference();
}

/** The texts of `toolcrib explain`. */
async function explainedCodes(): Promise<readonly ExplainedCode[]> {
  const { loadExplained } = await import("@toolcrib/cli");
  return loadExplained();
}

/** The JSON Schema of `toolcrib.yaml`, generated from the declarations that check it. */
async function configSchema(): Promise<string> {
  const { configJsonSchema } = await import("@toolcrib/config");
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}

/** The JSON Schemas of manifests and toolspecs, generated from the declarations that check them. */
async function toolspecSchemas(): Promise<readonly (readonly [string, string])[]> {
  const { manifestJsonSchema, toolspecJsonSchema } = await import("@toolcrib/toolspec");
  return [
    ["docs/reference/manifest.schema.json", `${JSON.stringify(manifestJsonSchema(), undefined, 2)}\n`],
    ["docs/reference/toolspec.schema.json", `${JSON.stringify(toolspecJsonSchema(), undefined, 2)}\n`],
  ];
}

/** Returns pages in the repository whose package or area no longer exists. */
export function listStalePages(root: string, pages: Pages): string[] {
  return globSync(["docs/api/*.api.md", "docs/reference/errors/*.md"], { cwd: root })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => !pages.has(path));
}

/** Returns a finding for each page below `root` that is missing, outdated or obsolete. */
export function checkPages(root: string, pages: Pages): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const add = (path: string, message: string, line = 1) => {
    const text = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";
    const start = text.split("\n", line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const source = { name: path, text };
    const span = { start, end: start + 1 };
    const hint = "npm run docs";
    findings.push({ severity: "error", code: "DOC_OUTDATED", message, hint, source, span });
  };
  for (const [path, text] of pages) {
    if (!existsSync(join(root, path))) {
      add(path, "The page does not exist");
      continue;
    }
    const found = readFileSync(join(root, path), "utf8").split("\n");
    const made = text.split("\n");
    const line = made.findIndex((one, index) => one !== found[index]);
    if (line !== -1 || found.length !== made.length)
      add(path, "The page is out of date", (line === -1 ? made.length : line) + 1);
  }
  for (const path of listStalePages(root, pages)) add(path, "The page belongs to no package");
  return findings;
}
