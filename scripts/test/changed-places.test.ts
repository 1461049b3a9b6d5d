import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseFloorTable } from "../architecture/floor-table.ts";
import { affectedPlaces } from "../changed-places.ts";

const table = parseFloorTable({
  name: "ARCHITECTURE.md",
  text: `| Floor | Package | What it is | May import |
|---|---|---|---|
| 5 apps | \`cli\` | c | floors 0–4 |
| 2 services | \`mcp\` | m | \`search\` |
| 1 engines | \`search\` | s | floor 0 |
| 1 engines | \`hosts\` | h | — |
| 0 base | \`json\` | j | — |
| dev | \`testing\` | t | — |
`,
});

/** Checks which packages are tested when `paths` have changed. */
function check(paths: readonly string[], expected: readonly string[]): void {
  const places = affectedPlaces(paths, table);
  assert.deepEqual(
    places.filter((place) => place.startsWith("packages/")),
    expected.map((folder) => `packages/${folder}`),
  );
}

describe("affectedPlaces() returns", () => {
  test("a package and everything that may import it, over packages between", () => {
    check(["packages/json/src/a.ts"], ["cli", "mcp", "search", "json"]);
    check(["packages/hosts/src/a.ts", "README.md"], ["cli", "hosts"]);
    check(["packages/cli/test/a.test.ts"], ["cli"]);
  });
  test("every package when the test tools or the lockfile change", () => {
    const all = ["cli", "mcp", "search", "hosts", "json", "testing"];
    check(["packages/testing/src/a.ts"], all);
    check(["package-lock.json"], all);
  });
  test("the tools of the repository whenever anything has changed", () => {
    assert.deepEqual(affectedPlaces(["README.md"], table), ["examples", "scripts"]);
    assert.deepEqual(affectedPlaces([], table), []);
  });
});
