/** `toolcrib starlark`: programs that are run, checked, formatted and entered interactively, with their output. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { defaultLimits } from "@toolcrib/starlark";
import { checkGolden, makeTemporaryDirectory } from "@toolcrib/testing";
import { golden, runToolcrib, transcript } from "./transcript.ts";

/** Programs by path. */
type Files = { readonly [path: string]: string };

async function folderOf(files: Files) {
  const directory = await makeTemporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    const target = directory.join(path);
    mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    writeFileSync(target, text);
  }
  return directory;
}

const programs: Files = {
  "greet.star": [
    'print("hello,", params.get("name", "nobody"))',
    'return {"name": params.get("name"), "count": len(params), "big": 1 << 70}',
  ].join("\n"),
  "silent.star": "x = json.encode([math.floor(1.5)])\n",
  "fails.star": [
    "def half(x):",
    "    return 10 // x",
    "",
    "def all(xs):",
    "    return [half(x) for x in xs]",
    "",
    'print("before")',
    "all([1, 0])",
  ].join("\n"),
  "endless.star": "while True:\n    pass\n",
  "faulty.star": 'x = lenn("a")\ny = (1,\nz = {"a": 1 "b": 2}\n',
  "names.star": "x = lenn([1])\nreturn yy\n",
  "result.star": "return len\n",
  "core.star": "def f():\n    return 1\n\nx = f()\n",
};

test("starlark run prints the output and result of a program, or the position of its failure", async () => {
  await using directory = await folderOf(programs);
  const text = await transcript(
    [
      ["starlark", "run", "greet.star"],
      ["starlark", "run", "greet.star", "--param", "name=crib", "-p", "n=1"],
      ["starlark", "run", "greet.star", "--params", '{"name": "json"}', "--param", "n=[1]", "--json"],
      ["starlark", "run", "silent.star"],
      ["starlark", "run", "silent.star", "--json"],
      ["starlark", "run", "fails.star"],
      ["starlark", "run", "fails.star", "--json"],
      ["starlark", "run", "endless.star", "--steps", "1000"],
      ["starlark", "run", "faulty.star"],
      ["starlark", "run", "result.star"],
      ["starlark", "run", "none.star"],
      ["starlark", "run", "."],
      ["starlark", "run", "greet.star", "--dialect", "core"],
      ["starlark", "run", "core.star", "--dialect", "core"],
      ["starlark", "run", "silent.star", "--dialect", "core"],
      ["starlark", "run", "greet.star", "--param", "name"],
      ["starlark", "run", "greet.star", "--params", "[1]"],
      ["starlark", "run", "greet.star", "--steps", "0"],
      ["starlark", "run", "greet.star", "--memory-mb", "100000"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("starlark-run.txt"), text);
});

test("starlark run reads the program, or its params, from standard input", async () => {
  await using directory = await folderOf(programs);
  const check = async (args: readonly string[], stdin: string, stdout: string) => {
    const outcome = await runToolcrib(["starlark", "run", ...args], { directory: directory.path, stdin });
    assert.equal(outcome.stdout + outcome.stderr, stdout);
  };
  await check(["-", "-p", "n=2"], "return params.n + 1\n", "3\n");
  await check(["greet.star", "--params", "-", "--json"], '{"name": "x"', await failureOf());
  await check(["-"], 'return "text"', '"text"\n');

  async function failureOf(): Promise<string> {
    const args = ["starlark", "run", "greet.star", "--params", '{"name": "x"', "--json"];
    const { stdout, stderr } = await runToolcrib(args, { directory: directory.path });
    assert.match(stdout, /"code": "CLI_ARGUMENTS_INVALID"/);
    return (stdout + stderr).replaceAll("<params>", "<stdin>");
  }
});

test("starlark run loads only files in the program's folder", async () => {
  await using directory = await folderOf({
    "outside.star": "secret = 1\n",
    "p/main.star": 'load("lib/text.star", "shout", again="count")\nreturn [shout("a"), again]\n',
    "p/lib/text.star": 'load("marks.star", "mark")\ncount = [1]\ndef shout(s): return s.upper() + mark\n',
    "p/lib/marks.star": 'print("loaded once")\nmark = "!"\n',
    "p/twice.star": 'load("lib/marks.star", "mark")\nload("lib/text.star", "shout")\nreturn shout(mark)\n',
    "p/frozen.star": 'load("lib/text.star", "count")\ncount.append(2)\n',
    "p/up.star": 'load("../outside.star", "secret")\n',
    "p/link.star": 'load("linked.star", "secret")\n',
    "p/absent.star": 'load("absent/file.star", "x")\n',
    "p/circle.star": 'load("circle-b.star", "b")\na = 1\n',
    "p/circle-b.star": 'load("circle.star", "a")\nb = 2\n',
    "p/bad.star": 'load("bad-lib.star", "x")\n',
    "p/bad-lib.star": "x = (\n",
    "p/failing.star": 'load("failing-lib.star", "x")\n',
    "p/failing-lib.star": "def f(): return [][1]\n\nx = f()\n",
    "p/budget.star": 'load("budget-lib.star", "x")\n',
    "p/budget-lib.star": "x = [i for i in range(10000)]\n",
  });
  symlinkSync("../outside.star", directory.join("p/linked.star"));
  const text = await transcript(
    [
      ["starlark", "run", "p/main.star"],
      ["starlark", "run", "p/twice.star"],
      ["starlark", "run", "p/frozen.star"],
      ["starlark", "run", "p/up.star"],
      ["starlark", "run", "p/link.star"],
      ["starlark", "run", "p/absent.star"],
      ["starlark", "run", "p/circle.star"],
      ["starlark", "run", "p/bad.star"],
      ["starlark", "run", "p/bad.star", "--json"],
      ["starlark", "run", "p/failing.star"],
      ["starlark", "run", "p/budget.star", "--steps", "5000"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("starlark-load.txt"), text);
});

test("starlark check prints OK or every problem", async () => {
  await using directory = await folderOf(programs);
  const text = await transcript(
    [
      ["starlark", "check", "greet.star", "silent.star"],
      ["starlark", "check", "faulty.star", "greet.star", "names.star"],
      ["starlark", "check", "names.star", "core.star", "--json"],
      ["starlark", "check", "--dialect", "core", "core.star", "greet.star"],
      ["starlark", "check", "none.star"],
      ["starlark", "check"],
      ["starlark", "chek", "core.star"],
      ["starlark"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("starlark-check.txt"), text);
});

test("starlark fmt formats programs in place, and --check lists programs that would change", async () => {
  const ugly = "x=[1,\n2]   # numbers\ndef f( a ):return a\n";
  await using directory = await folderOf({
    "ugly.star": ugly,
    "neat.star": "x = 1\n",
    "faulty.star": "x = (\n",
  });
  const setting = { directory: directory.path };
  const lines: string[] = [];
  for (const args of [
    ["fmt", "--check", "ugly.star", "neat.star"],
    ["fmt", "--check", "neat.star", "--json"],
    ["fmt", "ugly.star", "neat.star", "faulty.star"],
    ["fmt", "--check", "ugly.star", "neat.star"],
    ["fmt", "-", "neat.star"],
  ]) {
    lines.push(await transcript([["starlark", ...args]], setting));
  }
  checkGolden(golden("starlark-fmt.txt"), lines.join("\n"));
  const formatted = "x = [1, 2]  # numbers\n\ndef f(a):\n    return a\n";
  assert.equal(readFileSync(directory.join("ugly.star"), "utf8"), formatted);
  assert.equal(readFileSync(directory.join("neat.star"), "utf8"), "x = 1\n");
  assert.equal(readFileSync(directory.join("faulty.star"), "utf8"), "x = (\n");
  const check = async (args: readonly string[], stdin: string, expected: string, code: number) => {
    const outcome = await runToolcrib(["starlark", "fmt", ...args], { ...setting, stdin });
    assert.deepEqual([outcome.stdout, outcome.code], [expected, code]);
  };
  await check(["-"], ugly, formatted, 0);
  await check(["-"], formatted, formatted, 0);
  await check(["-", "--check"], ugly, "<stdin>\n", 1);
  await check(["-"], "x = (", "", 1);
});

test("starlark repl runs its input, and continues after errors", async () => {
  await using directory = await folderOf({ "lib.star": "two = 2\n" });
  const typed = [
    "x = 20",
    "x + 1",
    "def half(n):",
    "    return n // 2",
    "",
    "half(x)",
    'load("lib.star", "two")',
    "[",
    "    x,",
    "    two,",
    "]",
    "1 // 0",
    "nothing",
    "y = ]",
    'print("printed"); None',
    "while True: pass",
    "",
    "json.encode({'still': x})",
    "for i in range(2):",
    "    print(i)",
  ].join("\n");
  const check = async (args: readonly string[], name: string) => {
    const { stdout, stderr, code } = await runToolcrib(["starlark", "repl", ...args], {
      directory: directory.path,
      stdin: typed,
    });
    checkGolden(golden(name), `${stdout}---\n${stderr}[${code}]`);
  };
  await check(["--steps", "10000"], "starlark-repl.txt");
  await check(["--steps", "10000", "--json"], "starlark-repl-json.txt");
});

test("the help of starlark run shows the default limits", async () => {
  await using directory = await makeTemporaryDirectory();
  const { stdout } = await runToolcrib(["help", "starlark", "run"], { directory: directory.path });
  const { steps, memoryBytes, wallMs } = defaultLimits;
  assert.match(stdout, new RegExp(`--steps <count> .*default: ${steps}\\)`));
  assert.match(stdout, new RegExp(`--memory-mb <count> .*default: ${memoryBytes / 1024 / 1024}\\)`));
  assert.match(stdout, new RegExp(`--wall-ms <count> .*default: ${wallMs}\\)`));
});
