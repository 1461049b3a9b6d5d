import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coreDialect, nearestSpelling, parseFile, resolveFile } from "@toolcrib/starlark";

describe("nearestSpelling() finds", () => {
  const names = [
    "len",
    "range",
    "sorted",
    "print",
    "enumerate",
    "repository",
    "issue_count",
    "x",
    "getattr",
    "id",
  ];
  const check = (name: string, expected: string | undefined) =>
    assert.equal(nearestSpelling(name, names), expected, name);

  test("names with missing, added, changed or swapped letters", () => {
    check("lenn", "len");
    check("ragne", "range");
    check("sroted", "sorted");
    check("enumrate", "enumerate");
    check("repositry", "repository");
    check("ln", "len");
    check("lne", "len");
    check("gettatr", "getattr");
  });

  test("names that differ in case and underscores", () => {
    check("issueCount", "issue_count");
    check("ISSUE_COUNT", "issue_count");
    check("Print", "print");
    check("get_attr", "getattr");
    check("ID", "id");
  });

  test("nothing that is too different, and nothing for one letter", () => {
    check("goodbye", undefined);
    check("zzzzzz", undefined);
    check("y", undefined);
    check("", undefined);
    check("qqqqq".repeat(50), undefined);
  });

  test("never the name itself", () => {
    assert.equal(nearestSpelling("len", ["len"]), undefined);
  });
});

/** Random letters from a generator with a fixed seed, so that every run uses the same mutations. */
function* numbers(): Generator<number, never> {
  let state = 12_345;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

/** `name` with one letter removed, doubled, changed, or swapped with its neighbor. */
function mutate(name: string, kind: number, at: number, letter: string): string {
  switch (kind) {
    case 0:
      return name.slice(0, at) + name.slice(at + 1);
    case 1:
      return name.slice(0, at) + name[at] + name.slice(at);
    case 2:
      return name.slice(0, at) + letter + name.slice(at + 1);
    default:
      return name.slice(0, at) + (name[at + 1] ?? "") + name[at] + name.slice(at + 2);
  }
}

test("nearestSpelling() corrects at least 95 of 100 names with one typing error", () => {
  const program = [
    "def summarize(repository, labels, limit):",
    "  issues = fetch(repository)",
    "  open_issues = [issue for issue in issues if issue]",
    "  total = len(open_issues)",
    "  by_author = dict()",
    "  return sorted(labels), total, by_author, limit",
    "def fetch(name): return enumerate(zip(range(3), reversed(name)))",
  ];
  const universe = [
    "len",
    "dict",
    "sorted",
    "enumerate",
    "zip",
    "range",
    "reversed",
    "print",
    "getattr",
    "hasattr",
  ];
  const names = "repository labels limit issues open_issues total by_author summarize fetch".split(" ");
  const wanted = [...names, ...universe];
  const random = numbers();
  let right = 0;
  let count = 0;
  while (count < 100) {
    const name = wanted[random.next().value % wanted.length]!;
    const letter = "abcdefghijklmnopqrstuvwxyz"[random.next().value % 26]!;
    const wrong = mutate(name, random.next().value % 4, random.next().value % name.length, letter);
    if (wanted.includes(wrong) || !/^[a-z_]+$/.test(wrong)) continue;
    count += 1;
    const text = program.toSpliced(5, 0, `  ${wrong}`).join("\n");
    const { value } = parseFile({ name: "test.star", text }, coreDialect);
    const [found] = resolveFile(value, {
      dialect: coreDialect,
      isPredeclared: () => false,
      isUniversal: (universal) => universe.includes(universal),
      universalNames: universe,
    });
    if (found?.message === `undefined: ${wrong} (did you mean ${name}?)`) right += 1;
  }
  assert(right >= 95, `${right} of ${count}`);
});
