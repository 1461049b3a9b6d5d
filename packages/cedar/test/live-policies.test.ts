/** Policy files that change while they are in force. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { LivePolicies } from "@toolcrib/cedar";
import { makeTemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const permit = (client: string) =>
  `@id("${client}") permit(principal == Client::"token/${client}", action, resource);\n`;

const silent = () => undefined;

type Logger = Parameters<typeof LivePolicies.open>[1]["logger"];

/** Returns a logger that is silent, except for the methods of `heard`. */
const loggerWith = (heard: object) =>
  ({ debug: silent, info: silent, warn: silent, error: silent, ...heard }) as unknown as Logger;

test("policies that are in force are reported as such, and polled further, where nothing can be recorded", async () => {
  await using directory = await makeTemporaryDirectory();
  const write = (text: string) => writeFiles(directory.path, { "main.cedar": text });
  const first = permit("one");
  write(first);
  const used: unknown[] = [];
  const warned: string[] = [];
  const failures: string[] = [];
  let replaced = 0;
  const fail = (what: string) => () => {
    throw new Error(`${what} fails`);
  };
  const logger = loggerWith({
    warn: (_data: object, message: string) => void warned.push(message),
    error: (data: object, message: string) => void failures.push(`${message}: ${JSON.stringify(data)}`),
  });
  await using live = await LivePolicies.open(
    [{ path: directory.join("main.cedar"), name: "main.cedar", text: first }],
    {
      policy: { replaceFiles: (policies) => void used.push(policies) },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: fail("the audit trail"),
      checkNames: fail("the check of names"),
      logger,
      onReplaced: () => {
        replaced += 1;
      },
    },
  );
  for (const [count, client] of [
    [1, "two"],
    [2, "three"],
  ] as const) {
    write(`${permit(client)}// ${"x".repeat(count)}\n`);
    await waitUntil(() => replaced === count);
    assert.equal(used.at(-1), live.current);
    assert.equal(live.status().problem, undefined);
    // A refused change is reported, and does not end the polls either.
    write(`permit(${"y".repeat(count)}`);
    await waitUntil(() => live.status().problem !== undefined);
    assert.match(live.status().problem ?? "", /^main\.cedar:1:\d+: error /);
    assert.equal(used.at(-1), live.current);
  }
  assert.equal(warned.filter((message) => message.includes("the previous ones stay in force")).length, 2);
  assert.equal(warned.length, 2);
  assert.match(failures.join("\n"), /policy\.changed was not recorded.*the audit trail fails/);
  assert.match(failures.join("\n"), /the check of names fails/);
});

test("policies that are loaded change nothing before they start, and a change until then is seen afterwards", async () => {
  await using directory = await makeTemporaryDirectory();
  const first = permit("one");
  writeFiles(directory.path, { "main.cedar": first });
  const [used, records]: [unknown[], string[]] = [[], []];
  await using live = await LivePolicies.load(
    [{ path: directory.join("main.cedar"), name: "main.cedar", text: first }],
    {
      policy: { replaceFiles: (policies) => void used.push(policies) },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: (type) => void records.push(type),
      checkNames: silent,
      logger: loggerWith({}),
      onReplaced: silent,
    },
  );
  const loaded = live.current;
  writeFiles(directory.path, { "main.cedar": permit("two") });
  await delay(1500);
  assert.deepEqual([used, records, live.current === loaded], [[], [], true]);
  live.start();
  assert.deepEqual(used, [loaded]);
  await waitUntil(() => used.length === 2);
  assert.equal(used[1], live.current);
  assert.deepEqual(records, ["policy.changed"]);
});

test("changed policies that cannot be put in force are reported, and the previous ones stay", async () => {
  await using directory = await makeTemporaryDirectory();
  const [first, second] = [permit("one"), permit("two")];
  writeFiles(directory.path, { "main.cedar": first });
  const records: unknown[] = [];
  let isFull = false;
  await using live = await LivePolicies.open(
    [{ path: directory.join("main.cedar"), name: "main.cedar", text: first }],
    {
      policy: {
        replaceFiles: () => {
          if (isFull) throw new Error("no room for policies");
        },
      },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: (type) => void records.push(type),
      checkNames: silent,
      logger: loggerWith({}),
      onReplaced: silent,
    },
  );
  const { digest } = live.status();
  isFull = true;
  writeFiles(directory.path, { "main.cedar": second });
  await waitUntil(() => live.status().problem !== undefined);
  const { engine: _ofOtherTests, ...status } = live.status();
  assert.deepEqual(status, {
    files: ["main.cedar"],
    policies: 1,
    digest,
    problem: "no room for policies",
  });
  assert.deepEqual(records, ["policy.rejected"]);
});

test("tools that show only what their caller may use, and saved ones, need no permit of the files", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("main.cedar");
  await using live = await LivePolicies.open([{ path, name: "main.cedar", text: "" }], {
    policy: { replaceFiles: silent },
    attributesOf: () => ({ roles: [], labels: {} }),
    record: silent,
    checkNames: silent,
    logger: loggerWith({}),
    onReplaced: silent,
  });
  const decided = (server: string, name: string) => {
    const target = {
      kind: "tool",
      id: `${server}:${name}`,
      name,
      wireName: name,
      server: { id: server, transport: "none", trustState: "none", mutabilityClass: "unknown", labels: {} },
      origin: "meta",
      version: "",
      tags: [],
      isReadOnly: true,
      isDestructive: false,
      isIdempotent: true,
      isOpenWorld: false,
    } as const;
    return live.current.decide({ identity: localIdentity("token", "ci"), action: "list", target }).kind;
  };
  const kinds = [
    decided("toolcrib", "search_tools"),
    decided("saved", "mine"),
    decided("toolcrib", "save_tool"),
    decided("a", "mine"),
  ];
  assert.deepEqual(kinds, ["allow", "allow", "deny", "deny"]);
});

test("the policies of another configuration are in force and watched, also where the former ones cannot be ended", async () => {
  await using directory = await makeTemporaryDirectory();
  const texts = { "old.cedar": permit("one"), "new.cedar": permit("two") };
  writeFiles(directory.path, texts);
  const file = (name: keyof typeof texts) => ({ path: directory.join(name), name, text: texts[name] });
  const used: unknown[] = [];
  const reported: object[] = [];
  await using live = await LivePolicies.open([file("old.cedar")], {
    policy: { replaceFiles: (policies) => void used.push(policies) },
    attributesOf: () => ({ roles: [], labels: {} }),
    record: silent,
    checkNames: silent,
    logger: loggerWith({ info: (data: object) => void reported.push(data) }),
    onReplaced: () => void used.push("replaced"),
  });
  const former = live.current;
  await assert.rejects(
    live.prepare([{ ...file("new.cedar"), text: "permit(" }], () => ({ roles: [], labels: {} })),
    { code: "POLICY_INVALID", message: /^new\.cedar:1:/ },
  );
  assert.equal(live.current, former);
  Object.defineProperty(live.current, Symbol.dispose, {
    value: () => {
      throw new Error("cannot be ended");
    },
  });
  const { policies, commit } = await live.prepare([file("new.cedar")], () => ({ roles: [], labels: {} }));
  commit();
  assert.equal(live.current, policies);
  writeFiles(directory.path, { "new.cedar": permit("three") });
  await waitUntil(() => used.at(-1) === "replaced");
  assert.ok(live.current !== policies && used.at(-2) === live.current);
  assert.deepEqual(reported, [live.status()], "without a warning, as there is no finding");
  assert.deepEqual(live.status().files, ["new.cedar"]);
});

test("a poll of files that another configuration replaces reports nothing about them", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  await using directory = await makeTemporaryDirectory();
  const deps = {
    policy: { replaceFiles: silent },
    attributesOf: () => ({ roles: [], labels: {} }),
    checkNames: silent,
    logger: loggerWith({}),
    onReplaced: silent,
  };
  const file = (name: string) => ({ path: directory.join(name), name, text: permit("one") });
  writeFiles(directory.path, { "new.cedar": permit("one") });
  // The change comes so many turns of the event loop after the poll began.
  for (let turns = 0; turns < 10; turns += 1) {
    const rejected: string[] = [];
    writeFiles(directory.path, { "old.cedar": permit("one") });
    const record: Parameters<typeof LivePolicies.open>[1]["record"] = (type) => {
      if (type === "policy.rejected") rejected.push(type);
    };
    const live = await LivePolicies.open([file("old.cedar")], { ...deps, record });
    const { commit } = await live.prepare([file("new.cedar")], deps.attributesOf);
    rmSync(directory.join("old.cedar"));
    t.mock.timers.tick(1000);
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    const before = rejected.length;
    commit();
    await live[Symbol.asyncDispose]();
    assert.equal(live.status().problem, undefined, `after ${turns} turns`);
    assert.equal(rejected.length, before, `after ${turns} turns`);
  }
});

test("a poll whose files are checked while another configuration replaces them reports nothing about them", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  await using directory = await makeTemporaryDirectory();
  const attributesOf = () => ({ roles: [], labels: {} });
  // The change comes after so many reads of the text in force: before the files are read, and while they are checked.
  for (const reads of [1, 2]) {
    const rejected: string[] = [];
    writeFiles(directory.path, { "old.cedar": permit("one"), "new.cedar": permit("two") });
    let count: number | undefined;
    let isCommitted = false;
    let commit = silent;
    const old = {
      path: directory.join("old.cedar"),
      name: "old.cedar",
      get text() {
        if (count !== undefined) count += 1;
        if (count === reads)
          queueMicrotask(() => {
            commit();
            isCommitted = true;
          });
        return permit("one");
      },
    };
    const live = await LivePolicies.open([old], {
      policy: { replaceFiles: silent },
      attributesOf,
      record: (type) => {
        if (type === "policy.rejected") rejected.push(type);
      },
      checkNames: silent,
      logger: loggerWith({}),
      onReplaced: silent,
    });
    const next = { path: directory.join("new.cedar"), name: "new.cedar", text: permit("two") };
    const prepared = await live.prepare([next], attributesOf);
    commit = () => void prepared.commit();
    writeFiles(directory.path, { "old.cedar": "permit(" });
    count = 0;
    t.mock.timers.tick(1000);
    for (let turn = 0; turn < 10_000 && !isCommitted; turn += 1) await nextTurn();
    assert.equal(isCommitted, true, `after ${reads} reads`);
    const { problem, files } = live.status();
    await live[Symbol.asyncDispose]();
    assert.deepEqual(
      { problem, files, rejected },
      { problem: undefined, files: ["new.cedar"], rejected: [] },
    );
  }
});
