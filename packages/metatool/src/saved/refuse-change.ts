/**
 * Checks a change against the content of the directory and against the version that
 * the caller read. Throws or returns; changes nothing.
 */

import { type Diagnostic, formatDiagnostic } from "@toolcrib/diagnostics";
import { foldName } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import type { SavedFile } from "./saved-file.ts";
import { fromFileName, toFileName } from "./saved-name.ts";
import type { DirectoryView } from "./tool-directory.ts";

/** @throws {MetatoolError} with the code of the first of `findings`, and the messages of all. */
export function refuseFirst(findings: readonly Diagnostic[]): void {
  const [first] = findings;
  if (first === undefined) return;
  throw new MetatoolError(first.code, findings.map(({ message }) => message).join("; "), {
    hint: first.hint,
    data: { problems: findings.map(({ code, message, path }) => ({ code, message, path })) },
  });
}

/** @throws {MetatoolError} `METATOOL_FILE_IN_THE_WAY` when the file of `name` exists and is not a tool. */
export function refuseUnusable({ unusable }: DirectoryView, name: string): void {
  const [first] = unusable.get(toFileName(name)) ?? [];
  if (first === undefined) return;
  const problem = formatDiagnostic({ ...first, span: undefined })
    .split("\n")
    .slice(0, 2)
    .join(" ");
  throw new MetatoolError(
    "METATOOL_FILE_IN_THE_WAY",
    `Cannot change "${name}": its file exists and is not a usable saved tool, so it is left alone`,
    { hint: `fix or remove the file, or use another name; ${problem}` },
  );
}

/**
 * @param expectedModified `undefined`: the caller read that the tool does not exist
 * @throws {MetatoolError} `METATOOL_CHANGED_MEANWHILE` when `previous` is not the version that the caller read.
 */
export function refuseChanged(
  name: string,
  previous: SavedFile | undefined,
  expectedModified: string | undefined,
): void {
  const modified = previous?.tool.metadata.modified;
  if (modified === expectedModified) return;
  const state = modified === undefined ? "it was deleted" : `it was modified at ${modified}`;
  const reason =
    expectedModified === undefined
      ? `a tool of this name was created meanwhile`
      : `${state}, which is not the version that its caller read ("${expectedModified.slice(0, 40)}")`;
  throw new MetatoolError("METATOOL_CHANGED_MEANWHILE", `Cannot change "${name}": ${reason}`, {
    hint: "read the current tool and try again",
    data: { modified },
  });
}

/** @throws {MetatoolError} `METATOOL_NAME_TAKEN`, `METATOOL_NAME_RESERVED`, `METATOOL_TOO_MANY_TOOLS`. */
export function refuseNewName(
  { tools, unusable }: DirectoryView,
  name: string,
  isReserved: (name: string) => boolean,
  maxTools: number,
): void {
  const fold = foldName(name);
  const others = [...tools.keys(), ...[...unusable.keys()].map(fromFileName)];
  const other = others.find((one) => foldName(one) === fold);
  if (other !== undefined) {
    throw new MetatoolError(
      "METATOOL_NAME_TAKEN",
      `Cannot save a tool as "${name}": it is confusable with the existing "${other}"; names must differ in more than case, separators and lookalike characters`,
      { hint: `use "${other}" to replace that tool, or a name that differs more` },
    );
  }
  if (isReserved(name)) {
    throw new MetatoolError(
      "METATOOL_NAME_RESERVED",
      `Cannot save a tool as "${name}": a tool that is not a saved one has that name`,
      { hint: "use another name" },
    );
  }
  if (others.length >= maxTools) {
    throw new MetatoolError(
      "METATOOL_TOO_MANY_TOOLS",
      `Cannot save "${name}": there are ${others.length} saved tools; at most ${maxTools} are allowed`,
      { hint: "delete unused tools" },
    );
  }
}
