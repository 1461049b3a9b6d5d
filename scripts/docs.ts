/**
 * `npm run docs`: writes the pages that are generated from the sources (API pages,
 * error codes, limits, the schema of the configuration, the language).
 *
 *     npm run docs [-- --check]
 *
 * `--check` writes nothing and exits with 1 when a page is out of date.
 */

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { checkPages, listStalePages, makePages } from "./docs/generated-pages.ts";
import { openWorkspace } from "./workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
using workspace = openWorkspace(root);
const pages = await makePages(workspace);
const outdated = checkPages(root, pages);
if (values.check) {
  if (outdated.length > 0) console.error(formatDiagnostics(outdated));
  process.exitCode = outdated.length === 0 ? 0 : 1;
} else {
  for (const path of listStalePages(root, pages)) await rm(join(root, path));
  for (const [path, text] of pages) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const { source } of outdated) console.log(source?.name);
}
