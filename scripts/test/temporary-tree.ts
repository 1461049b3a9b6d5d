/** Small repositories for tests, each of which breaks one rule. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Diagnostic, positionAt } from "@toolcrib/diagnostics";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

/** Texts by path from the root. */
export type Files = { readonly [path: string]: string };

const table = `# Architecture

| Floor | Package | What it is | May import |
|---|---|---|---|
| 5 apps | \`cli\` | the command | floors 0–4 |
| 4 gateway | \`gateway\` | the gateway | floors 0–2 |
| 2 services | \`mcp\` | the wire | floors 0–1 |
| 1 engines | \`search\` | the search | floor 0 |
| 0 base | \`json\` | values | \`diagnostics\` |
| 0 base | \`diagnostics\` | findings | — |
| dev | \`testing\` | for tests | floor 0 |
`;

const folders = ["cli", "gateway", "mcp", "search", "json", "diagnostics", "testing"];

/**
 * Writes a repository of seven packages without findings, and then adds or
 * replaces `files`. A package depends on what its sources import unless `files`
 * has its `package.json`.
 */
export async function makeTree(files: Files): Promise<TemporaryDirectory> {
  const directory = await makeTemporaryDirectory();
  const all = new Map<string, string>([
    ["ARCHITECTURE.md", table],
    ["tsconfig.json", JSON.stringify({ compilerOptions, include: ["packages/*/*/**/*.ts"] })],
    ...folders.map((folder) => [`packages/${folder}/src/index.ts`, "export {};\n"] as const),
    ...Object.entries(files),
  ]);
  for (const folder of folders) {
    const path = `packages/${folder}/package.json`;
    if (!all.has(path)) all.set(path, manifestFor(folder, all));
  }
  for (const [path, text] of all) {
    await mkdir(dirname(directory.join(path)), { recursive: true });
    await writeFile(directory.join(path), text);
  }
  return directory;
}

const compilerOptions = {
  target: "es2024",
  lib: ["es2024"],
  types: [],
  module: "nodenext",
  allowImportingTsExtensions: true,
  noEmit: true,
};

function manifestFor(folder: string, files: ReadonlyMap<string, string>): string {
  const dependencies: { [name: string]: string } = {};
  for (const [path, text] of files) {
    if (!path.startsWith(`packages/${folder}/src/`)) continue;
    for (const [, name = ""] of text.matchAll(/"(@toolcrib\/[a-z]+)[^"]*"/g)) {
      if (name !== `@toolcrib/${folder}`) dependencies[name] = "0.1.0";
    }
  }
  const manifest = { name: `@toolcrib/${folder}`, version: "0.1.0", dependencies };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Findings in short: `packages/json/src/a.ts:3 CODE`, sorted. */
export function placesOf(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics
    .map(({ source, span, code }) => {
      const line = source === undefined ? 0 : positionAt(source.text, span?.start ?? 0).lineNumber;
      return `${source?.name}:${line} ${code}`;
    })
    .sort();
}
