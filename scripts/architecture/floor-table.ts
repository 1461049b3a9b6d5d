/**
 * Parses the table of floors in ARCHITECTURE.md. The checks enforce this table, so the
 * documentation and the rules cannot differ.
 */

import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";

/** One package of the table. */
export interface FloorRow {
  /** Folder name of the package. */
  readonly folder: string;
  /** The floor's number; undefined for packages of development only (`dev`). */
  readonly floor: number | undefined;
  /** Folder names of the packages that it may import. */
  readonly mayImport: ReadonlySet<string>;
  /** Position of the row. */
  readonly span: Span;
}

/** The table, and findings about it. */
export interface FloorTable {
  readonly source: Source;
  readonly rows: ReadonlyMap<string, FloorRow>;
  readonly diagnostics: readonly Diagnostic[];
}

const header = /^\| *Floor *\| *Package *\| *What it is *\| *May import *\|$/m;

interface RawRow {
  readonly folder: string;
  readonly floor: number | undefined;
  readonly mayImport: string;
  readonly span: Span;
}

/** Reads the table of `source`, the text of ARCHITECTURE.md. */
export function parseFloorTable(source: Source): FloorTable {
  const diagnostics: Diagnostic[] = [];
  const report = (message: string, span: Span, hint?: string) =>
    diagnostics.push({ severity: "error", code: "ARCH_TABLE_INVALID", message, hint, source, span });

  const raw = new Map<string, RawRow>();
  for (const { cells, span } of tableLines(source.text, report)) {
    const [floorText = "", packageText = "", , mayImport = ""] = cells;
    const folder = /^`([a-z][a-z0-9-]*)`$/.exec(packageText)?.[1];
    const floor = /^(?:(\d)\b.*|dev)$/.exec(floorText);
    if (folder === undefined || floor === null) {
      report("Cannot read this row of the floors", span, "write | 2 services | `mcp` | … | floors 0–1 |");
    } else if (raw.has(folder)) {
      report(`"${folder}" has two rows`, span);
    } else {
      raw.set(folder, {
        folder,
        floor: floor[1] === undefined ? undefined : Number(floor[1]),
        mayImport,
        span,
      });
    }
  }

  const rows = new Map<string, FloorRow>();
  for (const row of raw.values()) {
    rows.set(row.folder, { ...row, mayImport: resolveMayImport(row, raw, report) });
  }
  return { source, rows, diagnostics };
}

interface TableLine {
  readonly cells: readonly string[];
  readonly span: Span;
}

function tableLines(text: string, report: (message: string, span: Span) => void): TableLine[] {
  const match = header.exec(text);
  if (match === null) {
    report("There is no table with the columns Floor, Package, What it is, May import", { start: 0, end: 0 });
    return [];
  }
  const lines: TableLine[] = [];
  let start = match.index;
  for (const line of text.slice(match.index).split("\n")) {
    if (!line.startsWith("|")) break;
    const cells = line
      .slice(1, line.lastIndexOf("|"))
      .split("|")
      .map((cell) => cell.trim());
    lines.push({ cells, span: { start, end: start + line.length } });
    start += line.length + 1;
  }
  // The first two are the header and the line below it.
  return lines.slice(2);
}

/** Reads a cell such as "floors 0–2", "floor 0", "`json`, `diagnostics`" or "—". */
function resolveMayImport(
  row: RawRow,
  raw: ReadonlyMap<string, RawRow>,
  report: (message: string, span: Span, hint?: string) => void,
): ReadonlySet<string> {
  const allowed = new Set<string>();
  const parts = row.mayImport === "—" ? [] : row.mayImport.split(",").map((part) => part.trim());
  for (const part of parts) {
    const name = /^`([a-z][a-z0-9-]*)`$/.exec(part)?.[1];
    const floors = /^floors? (\d)(?:–(\d))?$/.exec(part);
    if (name !== undefined) {
      const target = raw.get(name);
      if (target === undefined) report(`"${row.folder}" may import "${name}", which has no row`, row.span);
      else if (!isBelowOrBeside(target, row))
        report(`"${row.folder}" may import "${name}", which is not on its floor or a lower one`, row.span);
      else allowed.add(name);
    } else if (floors !== null) {
      const [low, high] = [Number(floors[1]), Number(floors[2] ?? floors[1])];
      if (row.floor !== undefined && high >= row.floor)
        report(`"${row.folder}" may import floor ${high}, which is not below its own`, row.span);
      for (const target of raw.values()) {
        const isInRange = target.floor !== undefined && target.floor >= low && target.floor <= high;
        if (isInRange && target.folder !== row.folder) allowed.add(target.folder);
      }
    } else {
      report(`Cannot read "${part}"`, row.span, 'write "floors 0–2", "floor 0", `name`, or —');
    }
  }
  return allowed;
}

function isBelowOrBeside(target: RawRow, row: RawRow): boolean {
  return target.floor !== undefined && (row.floor === undefined || target.floor <= row.floor);
}
