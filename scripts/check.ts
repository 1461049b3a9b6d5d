/**
 * The last step of `npm run check`: what neither the compiler nor the linter
 * knows. The architecture, the error codes, doc comments on what is exported,
 * pages made from the sources, and links. Prints findings; success is silent.
 */

import { fileURLToPath } from "node:url";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { checkArchitecture } from "./architecture.ts";
import { checkApiDocs } from "./docs/api-page.ts";
import { checkPages, makePages } from "./docs/generated-pages.ts";
import { checkLinks } from "./docs/link-rules.ts";
import { checkErrorCodes } from "./error-codes.ts";
import { openWorkspace } from "./workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
using workspace = openWorkspace(root);
const findings = [
  ...checkArchitecture(workspace),
  ...checkErrorCodes(workspace),
  ...workspace.packages.flatMap((one) => checkApiDocs(one, workspace.checker)),
  ...checkPages(root, await makePages(workspace)),
  ...checkLinks(root),
];
if (findings.length > 0) {
  console.error(`${formatDiagnostics(findings)}\n\n${findings.length} findings`);
  process.exitCode = 1;
}
