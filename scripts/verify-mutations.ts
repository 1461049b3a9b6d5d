/**
 * A step of `npm run verify`: changes the code that decides what a policy allows, one place at a time,
 * and runs the tests of the policy on each change. A change that no test notices is a failure, unless
 * `policy-mutations.json` says why it changes no decision. The changes are made in copies in a temporary folder.
 *
 *     npm run verify -- policy-mutations
 */

import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { positionAt } from "@toolcrib/diagnostics";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { openWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "..");

/** Source files, and the tests that must notice each change of them: the fastest first. */
interface Group {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/** A change that no test can notice. */
interface Exemption {
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

process.exitCode = await verifyMutations();

async function verifyMutations(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-mutations-"));
  try {
    const copies = Array.from({ length: availableParallelism() }, (_, at) =>
      copyWorkspace(join(folder, String(at))),
    );
    const [first = ""] = copies;
    const tests = [...new Set(groups.flatMap((group) => group.tests))];
    const broken = await firstFailing(first, tests);
    if (broken !== undefined) {
      console.log(`${broken} fails without a change\n0 passed, 1 failed, 0 skipped`);
      return 1;
    }
    const mutants = listMutants();
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
    const unused = exemptions.filter((exemption) => !exempted.has(exemption));
    for (const { file, line } of unused) console.log(`exempted, and no change: ${file}: ${line}`);
    const count = mutants.length - passed - survivors.length;
    console.log(`${mutants.length} changes, ${count} of them without effect on a decision`);
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

function listMutants(): readonly Mutant[] {
  using workspace = openWorkspace(root);
  const sources = workspace.packages.flatMap(({ src }) => src);
  return groups.flatMap(({ files, tests }) =>
    files.flatMap((file) => {
      const found = sources.find(({ name }) => name === file);
      if (found === undefined) throw new Error(`There is no ${file}`);
      return mutationsOf(found.syntax).map((mutation) => ({ file, source: found.text, mutation, tests }));
    }),
  );
}

function exemptionOf(mutant: Mutant): Exemption | undefined {
  const line = lineOf(mutant);
  const change = changeOf(mutant);
  return exemptions.find(
    (one) =>
      one.file === mutant.file && one.line === line && (one.change === undefined || one.change === change),
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
    const child = spawn(process.execPath, ["--conditions=toolcrib-source", test], {
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
