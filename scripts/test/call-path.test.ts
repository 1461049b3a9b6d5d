/** The path of a call in ARCHITECTURE.md matches the code. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");

/** One row of the table: a file, and how it reaches the file of the next row. */
interface PathStep {
  readonly file: string;
  /** `import`, `end`, or the name of a type. */
  readonly link: string;
}

function readSteps(page: string): PathStep[] {
  const [, section = ""] = page.split("## The path of a call");
  const rows = section.matchAll(/^\| [^|]+ \| `(packages\/[^`]+\.ts)` \| `?(\w+)`? \|$/gm);
  return [...rows].map(([, file = "", link = ""]) => ({ file, link }));
}

/** Returns why `step` does not reach `next`; undefined where it does. */
function faultOf(step: PathStep, next: PathStep, read: (name: string) => string): string | undefined {
  const [text, nextText] = [read(step.file), read(next.file)];
  if (step.link === "import") {
    const specifier = posix.relative(posix.dirname(step.file), next.file);
    const isImported = text.includes(`from "${specifier.startsWith(".") ? specifier : `./${specifier}`}"`);
    return isImported ? undefined : `${step.file} does not import ${next.file}`;
  }
  const type = new RegExp(`\\b${step.link}\\b`);
  const missing = [
    ...(type.test(withoutComments(text)) ? [] : [step.file]),
    ...(type.test(withoutComments(nextText)) ? [] : [next.file]),
  ];
  return missing.length === 0 ? undefined : `${missing.join(" and ")} do not use ${step.link}`;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

test("each file of the path in ARCHITECTURE.md exists and leads to the next", () => {
  const steps = readSteps(read("ARCHITECTURE.md"));
  assert.ok(steps.length >= 10, `only ${steps.length} steps were found`);
  assert.equal(steps.at(-1)?.link, "end");
  for (const { file } of steps) assert.ok(existsSync(join(root, file)), `${file} does not exist`);
  const faults = steps.slice(0, -1).map((step, index) => faultOf(step, steps[index + 1] as PathStep, read));
  assert.deepEqual(
    faults.filter((fault) => fault !== undefined),
    [],
  );
});

describe("a path is wrong when", () => {
  const files: { readonly [name: string]: string } = {
    "packages/a/src/one.ts": 'import { two } from "./two.ts";\nexport type Shared = 1;\n',
    "packages/a/src/two.ts": "// Shared\nexport const two = 1;\n",
  };
  const [one, two] = ["packages/a/src/one.ts", "packages/a/src/two.ts"];
  const check = (link: string, from: string, to: string, expected: string | undefined) =>
    assert.equal(
      faultOf({ file: from, link }, { file: to, link: "end" }, (name) => files[name] ?? ""),
      expected,
    );

  test("a file does not import the next", () => {
    check("import", one, two, undefined);
    check("import", two, one, `${two} does not import ${one}`);
  });

  test("a type is not shared, or is named in a comment only", () =>
    check("Shared", one, two, `${two} do not use Shared`));
});
