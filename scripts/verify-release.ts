/**
 * `npm run verify -- release`: the published packages, built and packed, installed into an empty folder from their
 * archives alone, and used: the command with servers over stdio and HTTP, a policy, a composite, the audit trail and a
 * toolpack; the libraries with their types. Prints a line for each case and, last, `N passed, N failed`.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ranElsewhere } from "../packages/cli/test/pages/not-run.ts";
import { publishedPackages } from "./release/published-packages.ts";

const root = join(import.meta.dirname, "..");
const echoServer = join(root, "bench/echo-server.mjs");
const work = mkdtempSync(join(tmpdir(), "toolcrib-release-"));
const project = join(work, "project");
const home = join(work, "home");
const children: ChildProcess[] = [];
/** Uses each library as a program would. */
const libraryProgram = `import { isToolId } from "@toolcrib/mcpkg";
import { createRegistry } from "@toolcrib/registry";
import { compileProgram, executeProgram, fromStarlark, Thread, toolDialect } from "@toolcrib/starlark";

await using registry = createRegistry({ serverInfo: { name: "example", version: "1.0.0" } });
registry.registerLocal(
  "add",
  "Adds two numbers",
  { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  ({ a, b }) => ({ sum: Number(a) + Number(b) }),
  { namespace: "math" },
);
await registry.start();
const result: unknown = await registry.execute("math:add", { a: 2, b: 3 });
const found: string | undefined = registry.search("add numbers")[0]?.id;
const { program } = compileProgram({ name: "sum.star", text: "return 2 * 3" }, { dialect: toolDialect });
const thread = new Thread({ monotonicMs: () => performance.now() }, { limits: { steps: 1000 } });
const { value } = await executeProgram(thread, program!);
console.log(JSON.stringify(result), found, fromStarlark(value, thread), isToolId("demo.echo"));
`;
const libraryOptions = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    module: "nodenext",
    target: "esnext",
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    lib: ["esnext"],
  },
  include: ["library.ts"],
};
const counts = { passed: 0, failed: 0 };

try {
  mkdirSync(project);
  await check("the packages keep the rules of publint, Are The Types Wrong and their limits", () => {
    run("npm", ["run", "release", "--", "--dry-run"], root);
  });
  await check("npm installs the archives without a network", () => {
    writeFileSync(
      join(project, "package.json"),
      '{ "name": "project", "private": true, "type": "module" }\n',
    );
    const archives = readdirSync(join(root, "release")).filter((name) => name.endsWith(".tgz"));
    assert.equal(archives.length, publishedPackages.length);
    const paths = archives.map((name) => join(root, "release", name));
    run("npm", ["install", "--offline", "--ignore-scripts", ...paths], project);
  });
  for (const [page, commands] of Object.entries(ranElsewhere)) {
    const lines = Object.entries(commands).filter(([, file]) => file === "scripts/verify-release.ts");
    for (const [line] of lines) await check(`${page}: ${line}`, () => installAsPage(line));
  }
  await check("the command prints its version and its help", () => {
    assert.match(toolcrib("--version"), /^\d+\.\d+\.\d+/);
    assert.match(toolcrib("help"), /^Usage: toolcrib <command>/);
    assert.match(toolcrib("explain", "CONFIG_URL_INSECURE"), /^Cause/m);
    assert.match(toolcrib("top", "--once"), /no gateway is running/);
  });
  await check("V8 reads the exports of the shared modules without a lookup", () => {
    const folder = join(project, "node_modules/toolcrib/dist");
    const program = `
      const paths = require("node:fs").readdirSync(".").filter((name) => name.startsWith("shared-"));
      const slow = paths.filter((name) => !%HasFastProperties(require("./" + name)));
      console.log(paths.length > 5, slow.join());`;
    const args = ["--allow-natives-syntax", "--eval", program];
    assert.equal(run(process.execPath, args, folder), "true \n");
  });
  await check("the catalog is included", () => {
    assert.match(toolcrib("catalog", "list"), /github/);
  });
  await check("a toolpack is built with the included engine", () => {
    const folder = join(work, "built");
    toolcrib("toolpack", "build", "github", "--format", "mcpb", "--out", folder);
    assert.ok(readdirSync(folder).some((name) => name.endsWith(".mcpb")));
  });
  const address = await check("serve starts a stdio server under a policy", async () => {
    writeFileSync(
      join(project, "echo.cedar"),
      'permit (principal, action, resource) unless { resource has name && resource.name == "wait" };\n',
    );
    return await serve("inner", {
      tool_servers: [
        server("echo", { kind: "stdio", command: process.execPath, args: [echoServer, "--wait"] }),
      ],
      policy: { files: [join(project, "echo.cedar")] },
    });
  });
  await check("a second gateway uses the first one over HTTP", async () => {
    const url = await serve("outer", {
      tool_servers: [server("inner", { kind: "streamable_http", url: address })],
    });
    assert.ok(url !== undefined);
    const text = toolcrib(
      "--home",
      join(home, "outer"),
      "call",
      "inner__echo__echo",
      '{"text": "through two"}',
    );
    assert.match(text, /through two/);
  });
  await check("a composite runs in its thread", () => {
    const program = join(project, "twice.star");
    writeFileSync(program, 'return [echo.echo(text="one"), echo.echo(text="two")]\n');
    assert.match(toolcrib("--home", join(home, "inner"), "eval", program), /two/);
  });
  await check("the audit trail is indexed and verified", () => {
    assert.match(toolcrib("--home", join(home, "inner"), "audit", "list"), /echo:echo/);
    toolcrib("--home", join(home, "inner"), "audit", "verify");
  });
  await check("the libraries run, and compile with their types", () => {
    writeFileSync(join(project, "library.ts"), libraryProgram);
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(libraryOptions));
    run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", project], project);
    assert.equal(run(process.execPath, ["library.ts"], project).trim(), '{"sum":5} math:add 6 true');
  });
} finally {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  rmSync(work, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** Runs a case, and prints how it ended. */
async function check<Result>(
  title: string,
  work: () => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await work();
    counts.passed += 1;
    console.log(`ok ${title}`);
    return result;
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED ${title}\n${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Runs a command of a page that installs an archive, with that of this version, and starts the command. */
function installAsPage(line: string): void {
  const archives = readdirSync(join(root, "release")).filter((name) => name.endsWith(".tgz"));
  // The page can name a later version.
  const nameOf = (file: string) => file.replace(/-\d[\w.-]*\.tgz$/, "");
  const named = line.slice(line.lastIndexOf(" ") + 1).replace(/^\.\//, "");
  assert.match(named, /\.tgz$/, `${line}: no version is on npm`);
  const archive = archives.find((one) => nameOf(one) === nameOf(named));
  assert.ok(archive !== undefined, `release/ has no archive ${named}`);
  const folder = mkdtempSync(join(work, "page-"));
  const command = `${line.slice(0, line.lastIndexOf(" "))} '${join(root, "release", archive)}'`;
  const env = { ...process.env, npm_config_prefix: folder, npm_config_offline: "true" };
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, env, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
  if (!line.includes("--global")) return;
  assert.match(run(join(folder, "bin/toolcrib"), ["--version"], folder), /^\d+\.\d+\.\d+/);
}

/** Runs a program to its end. @returns its standard output @throws {Error} what it printed, where it fails */
function run(program: string, args: readonly string[], directory: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} exited with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Runs the installed command. */
function toolcrib(...args: readonly string[]): string {
  return run(process.execPath, [join(project, "node_modules/toolcrib/bin/toolcrib.js"), ...args], project);
}

function server(id: string, transport: object): object {
  return { id, transport, trust_state: "certified" };
}

/** Serves a configuration with the installed command. @returns its address when it lists its tools */
async function serve(name: string, configuration: object): Promise<string> {
  const file = join(project, `${name}.yaml`);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  const launcher = join(project, "node_modules/toolcrib/bin/toolcrib.js");
  const args = [
    "serve",
    "--config",
    file,
    "--home",
    join(home, name),
    "--listen",
    "127.0.0.1:0",
    "--auth",
    "none",
  ];
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  return await new Promise((resolve, reject) => {
    const read = (text: string) => {
      output += text;
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp\b/.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.on("exit", (code) => reject(new Error(`serve exited with ${code}:\n${output}`)));
  });
}
