/**
 * Golden files: large expected outputs, stored next to their test. `npm test --
 * --update` (`TOOLCRIB_UPDATE_GOLDEN=1`) rewrites them.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the text of the golden file at `path`. @throws {AssertionError} if it does not exist. */
export function readGolden(path: string | URL): string {
  if (!existsSync(path)) {
    assert.fail(
      `Golden file ${nameOf(path)} does not exist: run the test with --update and review what it wrote`,
    );
  }
  return readFileSync(path, "utf8");
}

/**
 * Returns the text of the golden file at `path`, after writing `text` to it if
 * `TOOLCRIB_UPDATE_GOLDEN` is 1. For tests that compare parts of the file.
 *
 * @throws {AssertionError} if the file does not exist.
 */
export function syncGolden(path: string | URL, text: string): string {
  if (process.env["TOOLCRIB_UPDATE_GOLDEN"] !== "1") return readGolden(path);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    mkdirSync(dirname(nameOf(path)), { recursive: true });
    writeFileSync(path, text);
  }
  return text;
}

/**
 * Compares `actual` with the golden file at `path`, or writes the file if
 * `TOOLCRIB_UPDATE_GOLDEN` is 1. If `actual` does not end with a line break, one is
 * added in the file and in the comparison.
 *
 * @throws {AssertionError} with the difference.
 */
export function checkGolden(path: string | URL, actual: string): void {
  const text = actual.endsWith("\n") ? actual : `${actual}\n`;
  const expected = syncGolden(path, text);
  assert.equal(text, expected, `${nameOf(path)} differs (run with --update if this is meant)`);
}

function nameOf(path: string | URL): string {
  return typeof path === "string" ? path : fileURLToPath(path);
}
