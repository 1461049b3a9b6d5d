import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { runProcess } from "@toolcrib/testing";
import { checkExamples, listExamples } from "../examples.ts";
import { makeTree, placesOf } from "./temporary-tree.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = listExamples(root);

test("The pages have runnable examples", () => {
  for (const folder of ["diagnostics", "json", "tool"]) {
    assert.ok(
      examples.some(({ page }) => page === `packages/${folder}/README.md`),
      `packages/${folder}/README.md has none`,
    );
  }
});

test("The examples of the pages compile", () => {
  assert.equal(formatDiagnostics(checkExamples(root, examples)), "");
});

describe("The example runs", () => {
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  for (const { page, lineNumber, code } of examples) {
    test(`${page}:${lineNumber}`, async () => {
      const args = [...conditions, "--input-type=module-typescript", "--eval", code];
      const { code: exitCode, stderr } = await runProcess(process.execPath, args, {
        cwd: join(root, dirname(page)),
      });
      assert.equal(stderr, "");
      assert.equal(exitCode, 0);
    });
  }
});

test("listExamples() takes only blocks that are marked", async () => {
  await using tree = await makeTree({
    "README.md": "# A\n\n```ts run\nconst a = 1;\n```\n\n```ts\nconst b = 1;\n```\n\n```sh\nls\n```\n",
  });
  assert.deepEqual(
    listExamples(tree.path).map(({ page, lineNumber, code }) => [page, lineNumber, code]),
    [["README.md", 4, "const a = 1;\n"]],
  );
});

test("checkExamples() reports the position of an error in the page", async () => {
  await using tree = await makeTree({
    "README.md":
      "# A\n\n```ts run\nconst a: string = 1;\nexport { a };\n```\n\n```ts run\nexport const = 1;\n```\n",
  });
  const places = placesOf(checkExamples(tree.path, listExamples(tree.path)));
  assert.equal(places[0], "README.md:4 TS2322");
  assert.match(places[1] ?? "", /^README\.md:9 TS1\d+$/);
});
