/**
 * Caches compiled programs and the names of the tools of a catalogue. Bounded;
 * contains no data of an execution.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { compileProgram, type Program, toolDialect } from "@toolcrib/starlark";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { reservedNames, type ToolDirectory, toToolDirectory } from "./tool-directory.ts";
import { explainNames } from "./undefined-names.ts";

/** A compiled program, or the findings about code that does not compile. */
export interface CompiledComposite {
  readonly source: Source;
  readonly program: Program | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Options of `CompositeCache`. */
export interface CompositeCacheOptions {
  /**
   * Greatest total weight of the programs kept, least recently used dropped first:
   * `Program.codeSize` of each, and units for its text. One unit is some 340 bytes
   * of memory. @default 250,000
   */
  readonly maxCodeSize?: number;
}

/** Weight of a program without code. */
const entryWeight = 8;
/** UTF-16 units of text that need the memory of one unit of code. */
const textPerUnit = 128;

/** A program in the cache. */
type CachedComposite = CompiledComposite & { readonly program: Program };

/** Caches programs and directories. */
export class CompositeCache {
  readonly #maxCodeSize: number;
  readonly #directories = new WeakMap<Catalog, ToolDirectory<CatalogTool>>();
  /** By code; the least recently used first. */
  readonly #programs = new Map<string, CachedComposite>();
  #weight = 0;

  constructor({ maxCodeSize = 250_000 }: CompositeCacheOptions = {}) {
    this.#maxCodeSize = maxCodeSize;
  }

  /** Returns the tools of a catalog by the names that programs use. */
  directoryOf(catalog: Catalog): ToolDirectory<CatalogTool> {
    let directory = this.#directories.get(catalog);
    if (directory === undefined) {
      directory = toToolDirectory(catalog.tools, (name) => catalog.explain?.(name));
      this.#directories.set(catalog, directory);
    }
    return directory;
  }

  /** Compiles the code of the composite `name` against the names of a directory. */
  compile(name: string, code: string, directory: ToolDirectory): CompiledComposite {
    const sourceName = sourceNameOf(name);
    const known = this.#programs.get(code);
    // A program lists the names that it uses. Where all of them exist, its meaning is the same in every catalogue.
    if (known !== undefined && known.source.name === sourceName && isComplete(known.program, directory)) {
      this.#programs.delete(code);
      this.#programs.set(code, known);
      return known;
    }
    const source = { name: sourceName, text: code };
    const predeclared = [...reservedNames, ...directory.namespaces.keys()];
    const { program, diagnostics } = compileProgram(source, { dialect: toolDialect, predeclared });
    if (program === undefined) {
      return { source, program, diagnostics: explainNames(diagnostics, source, directory) };
    }
    const compiled = { source, program, diagnostics };
    this.#remember(code, compiled);
    return compiled;
  }

  #remember(code: string, compiled: CachedComposite): void {
    this.#forget(code);
    const weight = weightOf(compiled);
    if (weight > this.#maxCodeSize) return;
    this.#programs.set(code, compiled);
    this.#weight += weight;
    for (const oldest of this.#programs.keys()) {
      if (this.#weight <= this.#maxCodeSize) return;
      this.#forget(oldest);
    }
  }

  #forget(code: string): void {
    const known = this.#programs.get(code);
    if (known === undefined) return;
    this.#programs.delete(code);
    this.#weight -= weightOf(known);
  }
}

/** A text that compiles to little code, such as a comment, has a weight too. */
function weightOf({ program, source }: CachedComposite): number {
  return program.codeSize + entryWeight + Math.ceil(source.text.length / textPerUnit);
}

/** Returns the name of the code in tracebacks and findings. */
export function sourceNameOf(name: string): string {
  return `${name}.star`;
}

function isComplete(program: Program, directory: ToolDirectory): boolean {
  return program.predeclared.every((name) => reservedNames.has(name) || directory.namespaces.has(name));
}
