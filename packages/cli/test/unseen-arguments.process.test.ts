/** Arguments that name a folder which no sandbox shows: said where the server is added, imported and checked. */

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  type TemporaryDirectory,
} from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { runToolcrib, startServe } from "./transcript.ts";

const noSandbox = await skipWithoutSandbox();

const { command, args } = fixtureCommand(echoStdioPath);
const server = (id: string, path: string, more: object = {}, cwd?: string) => ({
  id,
  transport: { kind: "stdio", command, args: [...args, path], ...(cwd === undefined ? {} : { cwd }) },
  ...more,
});

/** A home with a project, credentials and the home of Toolcrib. */
async function setUp(): Promise<TemporaryDirectory> {
  const directory = await makeTemporaryDirectory();
  for (const name of ["project", ".ssh", ".toolcrib"]) mkdirSync(directory.join(name), { mode: 0o700 });
  symlinkSync(directory.path, directory.join("project/up"));
  return directory;
}

test("config check and doctor name arguments that a contained server does not see, and what is allowed", async () => {
  await using directory = await setUp();
  const home = directory.path;
  const config = {
    serve: { listen: "127.0.0.1:0" },
    tool_servers: [
      server("whole", home),
      server("slash", `${home}/`),
      server("above", dirname(home)),
      server("keys", directory.join(".ssh")),
      server("gateway", directory.join(".toolcrib")),
      server("project", directory.join("project")),
      server("here", directory.join("project"), {}, "./project"),
      server("read", home, { containment: { read_paths: [home] } }),
      server("write", home, { containment: { filesystem_write: "allow" } }),
      server("free", home, {
        trust_state: "certified",
        containment: { network_egress: "allow", filesystem_write: "allow" },
      }),
      server("word", "project"),
      server("missing", directory.join("missing")),
      server("option", `--dir=${home}`),
      server("address", `file://${home}/.ssh`),
      server("pair", `${directory.join("project")}:${dirname(home)}`),
      server("climbs", "--root=../"),
      server("running", "--dir=/run"),
      server("device", "--log=/dev/null"),
      server("folder", "."),
      server("declared", ".", {}, "."),
      server("setting", `--mode=${directory.join("project")}`),
    ],
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: home };
  const { code, stdout } = await runToolcrib(["config", "check"], setting);
  assert.equal(code, 0, stdout);
  const found = [
    ...stdout.matchAll(/CLI_ARGUMENT_UNSEEN\nThe server "(\w+)" is contained and sees nothing in "([^"]*)"/g),
  ];
  assert.deepEqual(
    found.map(([, id, path]) => [id, path]),
    [
      ["whole", home],
      ["slash", home],
      ["above", dirname(home)],
      ["keys", directory.join(".ssh")],
      ["gateway", directory.join(".toolcrib")],
      ["option", home],
      ["address", directory.join(".ssh")],
      ["pair", dirname(home)],
      ["climbs", dirname(home)],
      ["running", "/run"],
      ["folder", home],
    ],
  );
  assert.match(stdout, /hint: name the folders below it .*read_paths/);
  assert.match(stdout, /hint: name another folder/);
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(
    doctor.stdout,
    /! containment: The server "whole" is contained and sees nothing in .*\n {4}fix: name the folders below it/,
  );
});

test("config check and reload name write paths that no sandbox gives", async () => {
  await using directory = await setUp();
  const scoped = (...paths: readonly string[]) => ({
    containment: { filesystem_write: "scoped", write_paths: paths },
  });
  const config = {
    serve: { listen: "127.0.0.1:0" },
    tool_servers: [
      server("home", "word", scoped(directory.path)),
      server("tilde", "word", scoped("~/.ssh/keys")),
      server("slash", "word", scoped("/")),
      server("link", "word", scoped(directory.join("project/up"))),
      server("good", "word", scoped(directory.join("project"))),
      server("new", "word", scoped(directory.join("notes"))),
    ],
  };
  const file = directory.join("toolcrib.json");
  const empty = JSON.stringify({ ...config, tool_servers: [] });
  writeFileSync(file, empty);
  const setting = { directory: directory.path };
  await using _gateway = await startServe([], setting);
  writeFileSync(file, JSON.stringify(config));
  const found = (text: string) => [
    ...text.matchAll(
      /SANDBOX_PATH_REFUSED\nThe server "(\w+)" will not start: its write path "[^"]*" (holds|lies in|is)/g,
    ),
  ];
  const expected = [
    ["home", "holds"],
    ["tilde", "lies in"],
    ["slash", "is"],
    ["link", "holds"],
  ];
  const checked = await runToolcrib(["config", "check"], setting);
  assert.equal(checked.code, 0, checked.stdout);
  assert.deepEqual(
    found(checked.stdout).map(([, id, what]) => [id, what]),
    expected,
  );
  const { stdout, stderr } = await runToolcrib(["reload"], setting);
  assert.deepEqual(
    found(stdout + stderr).map(([, id, what]) => [id, what]),
    expected,
    stdout + stderr,
  );
});

test("the working folder as an argument is seen where the entry declares it", async () => {
  await using directory = await setUp();
  const project = directory.join("project");
  const config = {
    tool_servers: [
      server("here", "."),
      server("option", "--dir=."),
      server("said", ".", {}, "."),
      server("whole", project),
    ],
  };
  writeFileSync(join(project, "toolcrib.json"), JSON.stringify(config));
  const { stdout } = await runToolcrib(["config", "check"], {
    directory: project,
    env: { HOME: directory.path },
  });
  const found = [
    ...stdout.matchAll(
      /The server "(\w+)" is contained and sees nothing in "([^"]*)": it is its working folder/g,
    ),
  ];
  assert.deepEqual(
    found.map(([, id, path]) => [id, path]),
    [
      ["here", project],
      ["option", project],
    ],
  );
  assert.match(stdout, /hint: write cwd into its transport/);
});

test("a link to a whole home is none that a server sees", async () => {
  await using directory = await setUp();
  const inside = join(directory.path, "project/up/.ssh");
  const config = { tool_servers: [server("link", inside)] };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const { stdout } = await runToolcrib(["config", "check"], { directory: directory.path });
  assert.match(stdout, /The server "link" is contained and sees nothing in/);
});

test("import says that a server does not see the whole home that it saw at its client", async () => {
  await using directory = await setUp();
  const mcpServers = { files: { command, args: [...args, directory.path] } };
  writeFileSync(directory.join("client.json"), JSON.stringify({ mcpServers }));
  const { stdout } = await runToolcrib(["import", "--from", "client.json", "--dry-run"], {
    directory: directory.path,
  });
  assert.match(
    stdout,
    /Different from the client:\n {2}files: it is contained and sees nothing in ".*": .*; name the folders below it/,
  );
});

test("add says it before it asks", { skip: noSandbox }, async () => {
  await using directory = await setUp();
  writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\n");
  const words = ["add", "--id", "files", "--dry-run", "--", command, ...args, directory.path];
  const { stdout, stderr } = await runToolcrib(words, { directory: directory.path });
  assert.match(stdout, /NOT SEEN +it is contained and sees nothing in ".*"/, stderr);
  assert.doesNotMatch(stdout, new RegExp(`reads .*${directory.path}[, ]`));
});
