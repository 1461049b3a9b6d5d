import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import {
  checkGolden,
  makeTemporaryDirectory,
  readGolden,
  type ServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { echoServer, golden, type RunSetting, runToolcrib, startServe, transcript } from "./transcript.ts";

const config = { tool_servers: [echoServer("echo")], policy: { deny: ["echo:crash"] } };

const shout = `# Says a text in capitals.
#
# Repeats the calls.
said = echo.echo(text = params.text)
print("heard", said)
return [said.upper() for i in range(params.times)]
`;

const schema = {
  type: "object",
  properties: { text: { type: "string" }, times: { type: "integer", default: 1 } },
  required: ["text"],
};

/** Commands of an operator for saved tools, in this order. */
const commands: readonly (readonly string[])[] = [
  ["saved", "list"],
  ["save", "shout.star", "--schema", "schema.json"],
  ["save", "broken.star"],
  ["save", "bare.star"],
  ["saved", "list"],
  ["saved", "show", "shout"],
  ["saved", "run", "shout", '{"text": "hello"}'],
  ["saved", "run", "shout", "-a", "text=5", "-a", "times=2"],
  ["saved", "run", "shout", '{"times": "many"}'],
  ["saved", "run", "shuot"],
  ["saved", "test", "shout"],
  ["saved", "test", "shout", "--record", "--params", '{"text": "hello"}', "--case", "greets"],
  ["saved", "test"],
  ["saved", "run", "shout", "--dry-run", "-a", "text=hello"],
  ["saved", "run", "shout", "--dry-run", "-a", "text=bye"],
  ["saved", "export", "shout", "out", "--id", "acme.voice.shout"],
  ["saved", "export", "shout", "out"],
  ["save", "shout2.star", "--name", "shout"],
  ["saved", "test", "shout"],
  ["saved", "import", "out"],
  ["saved", "import", "out", "--force"],
  ["saved", "run", "shout", '{"text": "hello"}'],
  ["saved", "test", "shout"],
  ["saved", "approve", "shout"],
  ["saved", "approve", "shout"],
  ["saved", "run", "shout", '{"text": "hello"}'],
  ["eval", "once.star", "-p", "n=3"],
  ["eval", "denied.star"],
  ["saved", "import", "nowhere"],
  ["saved", "test", "--record"],
  ["saved", "delete", "shout"],
  ["saved", "delete", "shout"],
  ["saved", "test"],
];

function writeFiles(directory: TemporaryDirectory): void {
  const write = (name: string, text: string) => writeFileSync(directory.join(name), text);
  write("toolcrib.json", JSON.stringify(config));
  write("shout.star", shout);
  write("shout2.star", shout.replace("said.upper()", "said"));
  write("schema.json", JSON.stringify(schema));
  write("broken.star", '# Does nothing.\nx = ecko.echo(text = "a")\nreturn (x\n');
  write("fails.star", '# Fails.\n#\n# Always.\nfail("no text today")\n');
  write("bare.star", "return 1\n");
  write("once.star", 'return {"n": params.n, "said": echo.echo(text = str(params.n))}\n');
  write("denied.star", 'echo.echo(text = "a")\necho.crash()\n');
}

describe("saved tools of this home", () => {
  test("can be saved, shown, run, tested, exchanged and approved without a gateway", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const texts: string[] = [];
    for (const args of commands) texts.push(await transcript([args], { directory: directory.path }));
    checkGolden(golden("saved.txt"), texts.join("\n"));
  });

  test("print JSON with --json", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const run = async (...args: string[]) => {
      const { stdout, code } = await runToolcrib([...args, "--json"], { directory: directory.path });
      return { code, value: JSON.parse(stdout) };
    };
    const saved = await run("save", "shout.star", "--schema", "schema.json");
    assert.deepEqual([saved.code, saved.value.status, saved.value.reach], [0, "created", ["echo:echo"]]);
    const listed = await run("saved", "list");
    assert.deepEqual(
      listed.value.map((one: { name: string; executionCount: number }) => [one.name, one.executionCount]),
      [["shout", 0]],
    );
    const ran = await run("saved", "run", "shout", '{"text": "a"}');
    assert.deepEqual([ran.code, ran.value.result, ran.value.logs], [0, ["A"], ["heard a"]]);
    const tested = await run("saved", "test", "shout", "--record", "--params", '{"text": "a"}');
    assert.deepEqual([tested.value.passed, tested.value.failed, tested.value.recorded], [1, 0, "recorded 1"]);
    const failing = ["saved", "test", "fails", "--record", "--case", "bad day"];
    await runToolcrib(["save", "fails.star"], { directory: directory.path });
    const failed = await runToolcrib(failing, { directory: directory.path });
    assert.match(failed.stderr, /^THE RECORDED RUN FAILED with runtime_error: fail: no text today$/m);
    assert.match(failed.stderr, /saved test fails --record --case 'bad day' --params JSON$/m);
    assert.equal((await run(...failing)).value.recordedError.message, "fail: no text today");
    const shown = await run("saved", "show", "shout");
    assert.equal(shown.value.code, shout);
    assert.equal(shown.value.tests[0].expect.result[0], "A");
    assert.equal(shown.value.metadata.executionCount, 2);
    const refused = await run("save", "broken.star");
    assert.deepEqual([refused.code, refused.value.error.type], [1, "validation_error"]);
    const evaluated = await run("eval", "denied.star");
    assert.equal(evaluated.code, 1);
    const audit = await run("audit", "list", "--limit", "1000");
    assert.ok(JSON.stringify(audit.value).includes("echo:echo"));
  });

  test("a call of a saved tool prints its result, and the whole response with --json", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const setting = { directory: directory.path };
    await runToolcrib(["save", "shout.star", "--schema", "schema.json"], setting);
    const ran = await runToolcrib(["saved", "run", "shout", '{"text": "a"}'], setting);
    const called = await runToolcrib(["call", "shout", '{"text": "a"}'], setting);
    assert.equal(called.code, 0, called.stderr);
    assert.deepEqual([called.stdout, called.stderr], [ran.stdout, ran.stderr]);
    assert.doesNotMatch(called.stdout, /executionTime/);
    const { stdout } = await runToolcrib(["call", "shout", '{"text": "a"}', "--json"], setting);
    assert.equal(JSON.parse(stdout).structuredContent.toolCalls.length, 1);
  });

  test("a failed call prints message, place and line of the composite, and JSON with --json", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const setting = { directory: directory.path };
    await runToolcrib(["save", "fails.star"], setting);
    const { code, stdout, stderr } = await runToolcrib(["call", "saved__fails"], setting);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(
      stderr,
      'tool error runtime_error: fail: no text today\nfails.star:4:5\n    fail("no text today")\n',
    );
    const { stdout: json } = await runToolcrib(["call", "saved__fails", "--json"], setting);
    assert.equal(JSON.parse(json).structuredContent.error.message, "fail: no text today");
    const listed = await runToolcrib(["saved", "list", "--json"], setting);
    assert.equal(JSON.parse(listed.stdout)[0].executionCount, 2);
  });

  test("tools that the policy denies later are also denied to tests and dry runs", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const setting = { directory: directory.path };
    await runToolcrib(["save", "shout.star", "--schema", "schema.json"], setting);
    await runToolcrib(["saved", "test", "shout", "--record", "--params", '{"text": "a"}'], setting);
    const denying = { ...config, policy: { deny: ["echo:echo"] } };
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify(denying));
    const [tested, dry] = await Promise.all([
      runToolcrib(["saved", "test", "shout"], setting),
      runToolcrib(["saved", "run", "shout", "--dry-run", "-a", "text=a"], setting),
    ]);
    assert.deepEqual([tested.code, dry.code], [1, 3]);
    assert.match(tested.stdout, /^ +echo\.echo may not be called by this caller$/m);
    assert.match(dry.stderr, /^error policy_error: echo\.echo may not be called by this caller$/m);
  });

  test("the audit trail records the operator's changes", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory);
    const setting = { directory: directory.path };
    await runToolcrib(["save", "shout.star", "--schema", "schema.json"], setting);
    await runToolcrib(["saved", "export", "shout", "out"], setting);
    await runToolcrib(["saved", "import", "out", "--force"], setting);
    await runToolcrib(["saved", "approve", "shout"], setting);
    await runToolcrib(["saved", "delete", "shout"], setting);
    const { stdout } = await runToolcrib(["audit", "list", "--json", "--tool", "saved:shout"], setting);
    const types = JSON.parse(stdout).map(({ type }: { type: string }) => type.replace(/^.*toolcrib\./, ""));
    assert.deepEqual(types.reverse(), ["tool.saved", "tool.saved", "approval.granted", "tool.deleted"]);
  });
});

describe("saved tools through the running gateway", () => {
  let directory: TemporaryDirectory;
  let gateway: ServerProcess;
  let setting: RunSetting;
  before(async () => {
    directory = await makeTemporaryDirectory();
    setting = { directory: directory.path };
    writeFiles(directory);
    rmSync(directory.join("toolcrib.json"));
    const serve = { listen: "127.0.0.1:0", auth: "none" };
    writeFileSync(directory.join("served.json"), JSON.stringify({ ...config, serve }));
    gateway = await startServe(["-c", "served.json"], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  async function isListed(): Promise<boolean> {
    const answer = await fetch(`${gateway.url}/api/v1/tools`);
    return ((await answer.json()) as readonly { id: string }[]).some(({ id }) => id === "saved:shout");
  }

  test("behave as without a gateway", async () => {
    const expected = readGolden(golden("saved.txt"));
    const some = [
      "save shout.star --schema",
      "saved run shout {",
      "saved test shout --record",
      "saved test",
      "saved run shout --dry-run -a text=hello",
      "saved export shout out --id",
      "saved import out --force",
      "saved approve shout",
      "saved run shout {",
      "eval denied.star",
      "saved delete shout",
    ];
    for (const beginning of some) {
      const args = commands.find((one) => one.join(" ").startsWith(beginning)) as readonly string[];
      assert.ok(expected.includes(await transcript([args], setting)), beginning);
      // The gateway notices changed files after a short time.
      if (args[1] === "delete") await waitUntil(async () => !(await isListed()));
      if (args[1] === "import") await waitUntil(isListed);
    }
  });
});
