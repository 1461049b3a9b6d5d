/**
 * The last step of `npm run check`: rules that neither the compiler nor the
 * linter knows. It checks the architecture, the error codes and their explanations, doc comments on
 * exports, generated pages, links, the site, commands and metrics in pages, and the word list, and
 * prints the findings.
 *
 * `--sample N` prints N random comments, messages and paragraphs instead, for
 * a person who reviews the English.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createCommandLineCheck } from "@toolcrib/cli";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { checkExportCount, checkExportUse } from "./architecture/export-rules.ts";
import { checkArchitecture } from "./architecture.ts";
import { checkApiDocs } from "./docs/api-page.ts";
import { checkCommands } from "./docs/command-rules.ts";
import { checkPages, makePages } from "./docs/generated-pages.ts";
import { checkLinks } from "./docs/link-rules.ts";
import { checkMetrics } from "./docs/metric-rules.ts";
import { checkSite } from "./docs/site-rules.ts";
import { checkErrorCodes } from "./error-codes.ts";
import { checkExplanations } from "./explanations.ts";
import { checkWords, sampleExcerpts } from "./words/check-words.ts";
import { openWorkspace } from "./workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: flags } = parseArgs({ options: { sample: { type: "string" } } });
if (flags.sample === undefined) await check();
else printSample(Number(flags.sample));

function printSample(count: number): void {
  if (!Number.isSafeInteger(count) || count < 1) {
    console.error(`--sample takes a whole number from 1, not "${flags.sample}"`);
    process.exitCode = 2;
    return;
  }
  for (const { name, lineNumber, text } of sampleExcerpts(root, count, Math.random)) {
    console.log(`${name}:${lineNumber}\n${text}\n`);
  }
}

async function check(): Promise<void> {
  using workspace = openWorkspace(root);
  const findings = [
    ...checkArchitecture(workspace),
    ...checkExportUse(workspace),
    ...checkExportCount(workspace),
    ...checkErrorCodes(workspace),
    ...checkExplanations(workspace),
    ...workspace.packages.flatMap((one) => checkApiDocs(one, workspace.checker)),
    ...checkPages(root, await makePages(workspace)),
    ...checkLinks(root),
    ...checkSite(root),
    ...checkMetrics(root),
    ...checkCommands(root, await createCommandLineCheck()),
    ...checkWords(root),
  ];
  if (findings.length > 0) {
    console.error(`${formatDiagnostics(findings)}\n\n${findings.length} findings`);
    process.exitCode = 1;
  }
}
