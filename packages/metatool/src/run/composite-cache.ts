/**
 * Caches compiled programs and the names of the tools of a catalogue. Bounded;
 * contains no data of an execution.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { compileProgram, type Program, toolDialect } from "@toolcrib/starlark";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { reservedNames, type ToolDirectory, toToolDirectory } from "./tool-directory.ts";

/** A compiled program, or the findings about code that does not compile. */
export interface CompiledComposite {
  readonly source: Source;
  readonly program: Program | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Caches programs and directories. */
export interface CompositeCache {
  directoryOf(catalog: Catalog): ToolDirectory<CatalogTool>;
  /** Compiles the code of the composite `name` against the names of a directory. */
  compile(name: string, code: string, directory: ToolDirectory): CompiledComposite;
}

/** Options of `createCompositeCache`. */
export interface CompositeCacheOptions {
  /** Most programs kept, least recently used dropped first. @default 256 */
  readonly maxPrograms?: number;
  /** Most UTF-16 units of the code of all programs kept. @default 4,194,304 */
  readonly maxCodeLength?: number;
}

/** Creates a cache. */
export function createCompositeCache(options: CompositeCacheOptions = {}): CompositeCache {
  const maxPrograms = options.maxPrograms ?? 256;
  const maxCodeLength = options.maxCodeLength ?? 4 * 1024 * 1024;
  const directories = new WeakMap<Catalog, ToolDirectory<CatalogTool>>();
  /** By code; the least recently used first. */
  const programs = new Map<string, CompiledComposite & { readonly program: Program }>();
  let codeLength = 0;

  function forget(code: string): void {
    if (programs.delete(code)) codeLength -= code.length;
  }

  function remember(code: string, compiled: CompiledComposite & { readonly program: Program }): void {
    forget(code);
    if (code.length > maxCodeLength) return;
    programs.set(code, compiled);
    codeLength += code.length;
    for (const oldest of programs.keys()) {
      if (programs.size <= maxPrograms && codeLength <= maxCodeLength) return;
      forget(oldest);
    }
  }

  return {
    directoryOf(catalog) {
      let directory = directories.get(catalog);
      if (directory === undefined) {
        directory = toToolDirectory(catalog.tools);
        directories.set(catalog, directory);
      }
      return directory;
    },
    compile(name, code, directory) {
      const sourceName = sourceNameOf(name);
      const known = programs.get(code);
      // A program lists the names that it uses. Where all of them exist, its meaning is the same in every catalogue.
      if (known !== undefined && known.source.name === sourceName && isComplete(known.program, directory)) {
        programs.delete(code);
        programs.set(code, known);
        return known;
      }
      const source = { name: sourceName, text: code };
      const predeclared = [...reservedNames, ...directory.namespaces.keys()];
      const { program, diagnostics } = compileProgram(source, { dialect: toolDialect, predeclared });
      if (program === undefined) return { source, program, diagnostics };
      const compiled = { source, program, diagnostics };
      remember(code, compiled);
      return compiled;
    },
  };
}

/** Returns the name of the code in tracebacks and findings. */
export function sourceNameOf(name: string): string {
  return `${name}.star`;
}

function isComplete(program: Program, directory: ToolDirectory): boolean {
  return program.predeclared.every((name) => reservedNames.has(name) || directory.namespaces.has(name));
}
