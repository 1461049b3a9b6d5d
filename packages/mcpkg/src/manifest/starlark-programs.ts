/**
 * The Starlark programs of a package: the endpoints that run one, their reach, and the check of their
 * texts. Whether a program calls only the tools that it declares is checked by who knows how programs name
 * tools; and where it runs, it finds no others. Runs nothing.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { parseFile, toolDialect } from "@toolcrib/starlark";
import type { PackageFiles } from "../package-files.ts";
import type { Endpoint, Manifest } from "./manifest-shape.ts";

/** An endpoint that runs a Starlark program. */
export type StarlarkEndpoint = Extract<Endpoint, { readonly type: "starlark" }>;

/** Longest program in bytes of UTF-8: that of a saved tool. */
const programMaxBytes = 100 * 1024;

/** Returns the endpoints of `manifest` that run a Starlark program, those of implementations too. */
export function programsOf({
  endpoint,
  implementations = [],
}: Pick<Manifest, "endpoint" | "implementations">): readonly StarlarkEndpoint[] {
  const all = [...implementations.map((one) => one.endpoint), ...(endpoint === undefined ? [] : [endpoint])];
  return all.filter((one) => one.type === "starlark");
}

/**
 * Returns the reach of a package: the ids of the tools that its Starlark programs declare, sorted. They can
 * call no others. Empty for a package without such a program.
 */
export function reachOf(manifest: Pick<Manifest, "endpoint" | "implementations">): readonly string[] {
  return [...new Set(programsOf(manifest).flatMap(({ tools = [] }) => tools))].sort();
}

/**
 * Returns the text of a program, a byte order mark included; undefined where the file does not exist, is
 * not UTF-8, or is longer than a program may be.
 */
export function readProgram(files: PackageFiles, path: string): string | undefined {
  const bytes = files.get(path)?.bytes;
  if (bytes === undefined || bytes.length > programMaxBytes) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the findings about the programs of a package: their form, and every error of their syntax. */
export function lintPrograms(manifest: Manifest, files: PackageFiles): readonly Diagnostic[] {
  const programs = programsOf(manifest);
  const paths = new Set(programs.map(({ source }) => source).filter((path) => files.has(path)));
  return [
    ...programs.flatMap((one) => lintTools(one, manifest.toolId)),
    ...[...paths].flatMap((path): readonly Diagnostic[] => {
      const text = readProgram(files, path);
      if (text !== undefined) return parseFile({ name: path, text }, toolDialect).diagnostics;
      const { length } = files.get(path)?.bytes ?? [];
      const reason =
        (length ?? 0) > programMaxBytes
          ? `it has ${length} bytes; at most ${programMaxBytes} are allowed`
          : "it is not UTF-8";
      return [invalid(path, `Cannot use the program "${path}": ${reason}`)];
    }),
  ];
}

function lintTools({ source, tools = [] }: StarlarkEndpoint, toolId: string): readonly Diagnostic[] {
  if (tools.some((id) => id.startsWith(`${toolId}:`))) {
    return [invalid(source, `The program "${source}" declares the tool of its own package`)];
  }
  const twice = tools.find((id, at) => tools.indexOf(id) !== at);
  if (twice === undefined) return [];
  return [invalid(source, `The program "${source}" declares the tool "${twice}" twice`)];
}

function invalid(path: string, message: string): Diagnostic {
  return { severity: "error", code: "MCPKG_PROGRAM_INVALID", message, path };
}
