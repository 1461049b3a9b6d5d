/**
 * A step of `npm run verify`: changes the code that decides what a policy allows, one place at a time,
 * and runs the tests of the policy on each change. A change that no test notices is a failure, unless
 * `policy-mutations.json` says why it changes no decision. The changes are made in copies in a temporary folder.
 *
 *     npm run verify -- policy-mutations
 *     node --conditions=toolcrib-source scripts/verify-mutations.ts [FILE ...] [--part 1/4]
 *
 * The files and their tests are named without their folders, so that they can move to another package.
 */

import { spawn } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { positionAt } from "@toolcrib/diagnostics";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { openWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "..");

/** Names of source files, and of the tests that must notice each change of them: the fastest first. */
interface Group {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/** A change that no test can notice. */
interface Exemption {
  /** The name of the file. */
  readonly file: string;
  /** The changed line, without the space around it. */
  readonly line: string;
  /** What is in the place of which text, such as `&& → ||`. @default every change of the line */
  readonly change?: string;
  readonly reason: string;
}

interface Settings {
  readonly groups: readonly Group[];
  readonly exemptions: readonly Exemption[];
}

/** One change of one file. */
interface Mutant {
  readonly file: string;
  readonly source: string;
  readonly mutation: Mutation;
  readonly tests: readonly string[];
}

const { groups, exemptions } = JSON.parse(
  readFileSync(join(import.meta.dirname, "policy-mutations.json"), "utf8"),
) as Settings;
/** Milliseconds for one test file. A change can make a loop endless. */
const testTimeoutMs = 60_000;
/** Ends a test file at its first failure: the rest of it would not change the answer. */
const endAtFailure = `data:text/javascript,${encodeURIComponent(
  'import { afterEach } from "node:test"; afterEach((test) => { if (test.passed === false || test.error) process.exit(1); });',
)}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { part: { type: "string", default: "1/1" } },
});
process.exitCode = await verifyMutations(positionals, values.part);

/**
 * @param only names of files; without any, all are changed
 * @param part which of the changes: `1/4` are those of the first of four parts
 */
async function verifyMutations(only: readonly string[], part: string): Promise<number> {
  const [at = 1, parts = 1] = part.split("/").map(Number);
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-mutations-"));
  try {
    const copies = Array.from({ length: availableParallelism() }, (_, at) =>
      copyWorkspace(join(folder, String(at))),
    );
    const [first = ""] = copies;
    const mutants = listMutants(only).filter((_, index) => index % parts === at - 1);
    const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
    const broken = await firstFailing(first, tests);
    if (broken !== undefined) {
      console.log(`${broken} fails without a change\n0 passed, 1 failed, 0 skipped`);
      return 1;
    }
    const exempted = new Set<Exemption>();
    const survivors: string[] = [];
    let passed = 0;
    const left = [...mutants];
    const work = async (copy: string): Promise<void> => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const exemption = exemptionOf(mutant);
        if (exemption !== undefined) exempted.add(exemption);
        else if (await isNoticed(copy, mutant)) passed += 1;
        else {
          const survivor = describe(mutant);
          survivors.push(survivor);
          console.log(`no test notices ${survivor}`);
        }
      }
    };
    await Promise.all(copies.map(work));
    const isWhole = only.length === 0 && parts === 1;
    const unused = exemptions.filter((exemption) => isWhole && !exempted.has(exemption));
    for (const { file, line } of unused) console.log(`exempted, and no change: ${file}: ${line}`);
    const count = mutants.length - passed - survivors.length;
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`${mutants.length} changes in ${seconds} s, ${count} of them without effect on a decision`);
    console.log(`${passed} passed, ${survivors.length + unused.length} failed, 0 skipped`);
    return survivors.length + unused.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the packages. Other modules are those of the repository. */
function copyWorkspace(to: string): string {
  mkdirSync(join(to, "node_modules/@toolcrib"), { recursive: true });
  cpSync(join(root, "packages"), join(to, "packages"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) =>
      !/[\\/](?:dist|golden|node_modules)$/.test(path) || path.includes("gateway/test/golden"),
  });
  cpSync(join(root, "package.json"), join(to, "package.json"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@toolcrib") symlinkSync(join(root, "node_modules", name), join(to, "node_modules", name));
  }
  for (const folder of readdirSync(join(to, "packages"))) {
    symlinkSync(join(to, "packages", folder), join(to, "node_modules/@toolcrib", folder));
  }
  return to;
}

function listMutants(only: readonly string[]): readonly Mutant[] {
  using workspace = openWorkspace(root);
  const sources = workspace.packages.flatMap(({ src }) => src);
  const allTests = globSync("packages/*/test/**/*.test.ts", { cwd: root });
  return groups.flatMap(({ files, tests }) => {
    const paths = tests.map((test) => onlyOne(test, allTests));
    return files
      .filter((file) => only.length === 0 || only.includes(file))
      .flatMap((file) => {
        const path = onlyOne(
          file,
          sources.map(({ name }) => name),
        );
        const found = sources.find(({ name }) => name === path);
        if (found === undefined) throw new Error(`There is no ${path}`);
        const { text: source, syntax } = found;
        return mutationsOf(syntax).map((mutation) => ({ file: path, source, mutation, tests: paths }));
      });
  });
}

/** Returns the path of the one file that is called `name`. */
function onlyOne(name: string, paths: readonly string[]): string {
  const found = paths.filter((path) => basename(path) === name);
  const [path] = found;
  if (path === undefined || found.length > 1) {
    throw new Error(`policy-mutations.json: ${found.length} files are called ${name}: ${found.join(", ")}`);
  }
  return path;
}

function exemptionOf(mutant: Mutant): Exemption | undefined {
  const line = lineOf(mutant);
  const change = changeOf(mutant);
  return exemptions.find(
    (one) =>
      one.file === basename(mutant.file) &&
      one.line === line &&
      (one.change === undefined || one.change === change),
  );
}

async function isNoticed(copy: string, { file, source, mutation, tests }: Mutant): Promise<boolean> {
  const { span, text } = mutation;
  const path = join(copy, file);
  writeFileSync(path, source.slice(0, span.start) + text + source.slice(span.end));
  try {
    return (await firstFailing(copy, tests)) !== undefined;
  } finally {
    writeFileSync(path, source);
  }
}

/** Runs test files one after the other, and returns the first that fails. */
async function firstFailing(copy: string, tests: readonly string[]): Promise<string | undefined> {
  for (const test of tests) if (!(await passes(copy, test))) return test;
  return undefined;
}

function passes(copy: string, test: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions=toolcrib-source", "--import", endAtFailure, test], {
      cwd: copy,
      stdio: "ignore",
      timeout: testTimeoutMs,
      killSignal: "SIGKILL",
      env: {
        ...process.env,
        TOOLCRIB_TEST_ALL: undefined,
        // The same policies for each change.
        TOOLCRIB_TEST_SEED: "1",
        // Changed files are compiled again, all others once.
        NODE_COMPILE_CACHE: join(root, "node_modules/.cache/toolcrib-mutations"),
      },
    });
    child.once("error", reject).once("close", (code) => resolve(code === 0));
  });
}

function lineOf({ source, mutation: { span } }: Mutant): string {
  const start = source.lastIndexOf("\n", span.start) + 1;
  const end = source.indexOf("\n", span.start);
  return source.slice(start, end === -1 ? undefined : end).trim();
}

function changeOf({ source, mutation: { span, text } }: Mutant): string {
  return `${source.slice(span.start, span.end)} → ${text}`.replace(/\s+/g, " ");
}

function describe(mutant: Mutant): string {
  const { file, source, mutation } = mutant;
  const { lineNumber } = positionAt(source, mutation.span.start);
  return `${file}:${lineNumber}: ${changeOf(mutant)}\n    ${lineOf(mutant)}`;
}
