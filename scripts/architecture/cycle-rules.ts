/**
 * Finds import cycles between files of a package and between packages. Imports of
 * types count between packages, but not between files, because they load nothing.
 */

import { posix } from "node:path";
import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import { listModuleReferences } from "../syntax.ts";
import { scope, type WorkspacePackage } from "../workspace.ts";
import { splitName } from "./import-rules.ts";

/** An import as an edge between two nodes, with its position. */
interface Arrow {
  readonly to: string;
  readonly source: Source;
  readonly span: Span;
}

type Graph = ReadonlyMap<string, readonly Arrow[]>;

/** Returns a finding for each cycle between the files of each of `packages`, and between the packages. */
export function checkCycles(packages: readonly WorkspacePackage[]): Diagnostic[] {
  return [
    ...packages.flatMap((one) => findCycles(fileGraph(one), "ARCH_FILE_CYCLE")),
    ...findCycles(packageGraph(packages), "ARCH_PACKAGE_CYCLE"),
  ];
}

function fileGraph(owner: WorkspacePackage): Graph {
  return new Map(
    owner.src.map((file) => [
      file.name,
      listModuleReferences(file.syntax)
        .filter(({ specifier, isTypeOnly }) => specifier.startsWith(".") && !isTypeOnly)
        .map(({ specifier, span }) => ({
          to: posix.join(posix.dirname(file.name), specifier),
          source: file,
          span,
        })),
    ]),
  );
}

function packageGraph(packages: readonly WorkspacePackage[]): Graph {
  return new Map(
    packages.map((one) => [
      one.folder,
      one.src.flatMap((file) =>
        listModuleReferences(file.syntax)
          .filter(({ specifier }) => specifier.startsWith(scope))
          .map(({ specifier, span }) => ({ to: splitName(specifier).folder, source: file, span }))
          // A separate rule reports a file that imports itself.
          .filter(({ to }) => to !== one.folder),
      ),
    ]),
  );
}

/** Searches depth-first; an edge to a node that is still open closes a cycle. */
function findCycles(graph: Graph, code: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const open: string[] = [];
  const done = new Set<string>();
  function enter(node: string): void {
    open.push(node);
    for (const { to, source, span } of graph.get(node) ?? []) {
      const from = open.indexOf(to);
      if (from !== -1) {
        const message = `Imports form a cycle: ${[...open.slice(from), to].join(" → ")}`;
        diagnostics.push({ severity: "error", code, message, source, span });
      } else if (!done.has(to) && graph.has(to)) enter(to);
    }
    open.pop();
    done.add(node);
  }
  for (const node of graph.keys()) if (!done.has(node)) enter(node);
  return diagnostics;
}
