/**
 * Golden files: bulky expected output that lives beside its test and is
 * rewritten with `npm test -- --update` (`TOOLCRIB_UPDATE_GOLDEN=1`).
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The text of the golden file at `path`. @throws {AssertionError} where there is none. */
export function readGolden(path: string | URL): string {
  if (!existsSync(path)) {
    assert.fail(
      `Golden file ${nameOf(path)} does not exist: run the test with --update and review what it wrote`,
    );
  }
  return readFileSync(path, "utf8");
}

/**
 * Compare `actual` with the golden file at `path`, or write the file where
 * `TOOLCRIB_UPDATE_GOLDEN` is 1. A final line break is added where `actual`
 * has none, in the file and in the comparison.
 *
 * @throws {AssertionError} with the difference.
 */
export function checkGolden(path: string | URL, actual: string): void {
  const text = actual.endsWith("\n") ? actual : `${actual}\n`;
  if (process.env["TOOLCRIB_UPDATE_GOLDEN"] === "1") {
    if (existsSync(path) && readFileSync(path, "utf8") === text) return;
    mkdirSync(dirname(nameOf(path)), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  assert.equal(text, readGolden(path), `${nameOf(path)} differs (run with --update if this is meant)`);
}

function nameOf(path: string | URL): string {
  return typeof path === "string" ? path : fileURLToPath(path);
}
