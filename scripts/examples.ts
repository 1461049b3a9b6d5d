/**
 * The TypeScript examples of the documentation: code blocks that begin with
 * ```` ```ts run ````. They are compiled with the settings of the sources and run in
 * the folder of their page. Their assertions check their claims.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Diagnostic, positionAt } from "@toolcrib/diagnostics";
import { API } from "typescript/unstable/sync";
import { listPages } from "./docs/link-rules.ts";

/** One runnable code block. */
export interface Example {
  /** Path of its page from the root. */
  readonly page: string;
  /** Line of the page on which its code begins. */
  readonly lineNumber: number;
  /** Offset in the page at which its code begins. */
  readonly start: number;
  readonly code: string;
}

/** Returns every runnable code block of the pages below `root`. */
export function listExamples(root: string): Example[] {
  return listPages(root).flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return [...text.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((match): Example => {
      const start = match.index + match[0].indexOf("\n") + 1;
      return { page, lineNumber: positionAt(text, start).lineNumber, start, code: match[1] ?? "" };
    });
  });
}

/** Returns the findings of the compiler about `examples`, with positions in their pages. */
export function checkExamples(root: string, examples: readonly Example[]): Diagnostic[] {
  const byPath = new Map(examples.map((example, index) => [virtualPath(root, example, index), example]));
  const configPath = join(root, "tsconfig.examples.json");
  const files = new Map([
    [configPath, JSON.stringify({ extends: "./tsconfig.json", include: [], files: [...byPath.keys()] })],
    ...[...byPath].map(([path, { code }]) => [path, code] as const),
  ]);
  const compiler = new API({
    fs: {
      readFile: (path) => files.get(path),
      fileExists: (path) => (files.has(path) ? true : undefined),
    },
  });
  try {
    const project = compiler.updateSnapshot({ openProjects: [configPath] }).getProject(configPath);
    if (project === undefined) throw new Error(`Cannot open the TypeScript project of the examples`);
    return [...byPath].flatMap(([path, example]) => {
      const source = { name: example.page, text: readFileSync(join(root, example.page), "utf8") };
      const found = [
        ...project.program.getSyntacticDiagnostics(path),
        ...project.program.getSemanticDiagnostics(path),
      ];
      return found.map(({ code, text, pos, end }): Diagnostic => {
        const span = { start: example.start + pos, end: example.start + end };
        return { severity: "error", code: `TS${code}`, message: text, source, span };
      });
    });
  } finally {
    compiler.close();
  }
}

/** Returns the path of an example for the compiler: next to its page, so that imports resolve from there. */
function virtualPath(root: string, { page }: Example, index: number): string {
  return join(root, dirname(page), `example-${index}.ts`);
}
