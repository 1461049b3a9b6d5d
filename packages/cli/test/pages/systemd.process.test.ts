/**
 * The page about systemd, for a server: its unit and its commands, in a machine with a systemd of its own. The service runs
 * as its user, a contained server answers, a reload applies a change, and the secret of a credential reaches its server.
 */

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { echoStdioPath, runsAll, waitUntil } from "@toolcrib/testing";
import { reasonWithoutMachine, startMachine, type ThrowawayMachine } from "../machine/throwaway-machine.ts";
import { modulesCommandLine } from "../transcript.ts";
import { ranElsewhere } from "./not-run.ts";
import { commandsOf, readPage } from "./page-steps.ts";

const root = join(import.meta.dirname, "../../../..");
const page = "operations/systemd.md";
const skip = runsAll
  ? ((await reasonWithoutMachine("useradd", "sudo")) ?? false)
  : "boots a machine; npm run verify runs it";

const server = (id: string, env: object = {}) => ({
  id,
  trust_state: "verified",
  transport: {
    kind: "stdio",
    command: "/usr/local/bin/node",
    args: [echoStdioPath.replace(root, "/opt/checkout")],
    env,
  },
});

test("the commands of the page run the gateway as a service of a server", { skip }, async () => {
  await using machine = await startMachine();
  const run = async (command: string, stdin = "") => {
    const { code, stdout, stderr } = await machine.run(command, { stdin });
    assert.equal(code, 0, `${command}\n${stdout}${stderr}\n${(await machine.run(journal)).stdout}`);
    return stdout;
  };
  const write = (path: string, text: string, mode = "644") =>
    run(
      `umask 077 && mkdir -p -m 755 '${dirname(path)}' && cat > '${path}' && chmod ${mode} '${path}'`,
      text,
    );
  const configure = (...servers: readonly object[]) =>
    write("/etc/toolcrib/toolcrib.yaml", JSON.stringify({ tool_servers: servers }));
  const show = async (property: string) =>
    (await run(`systemctl show --property ${property} --value toolcrib`)).trim();

  // What the reader of the page has: the command, a configuration, and the unit of the page.
  const words = modulesCommandLine.map((word) => word.replace(root, "/opt/checkout"));
  await write("/usr/local/bin/toolcrib", `#!/bin/sh\nexec node ${words.join(" ")} "$@"\n`, "755");
  await configure(server("github"));
  const [, unitPath = "", unit = ""] = /^```ini\n# (\S+)\n([\s\S]*?)^```$/m.exec(readPage(page)) ?? [];
  assert.equal(unitPath, "/etc/systemd/system/toolcrib.service");
  await write(unitPath, unit);

  const commands = commandsOf(page).filter((command) => ranElsewhere[page]?.[command] !== undefined);
  const [useradd, daemonReload, enable, reload, follow, status, ...others] = commands;
  assert.ok(
    useradd && daemonReload && enable && reload && follow && status && others.length === 0,
    "the page has other commands",
  );
  await run(useradd);
  await run(daemonReload);
  await run(enable);
  const isReady = (id: string) => async () => {
    const { code, stdout } = await machine.run(status);
    return code === 0 && new RegExp(`^${id} +ready +stdio .*`, "m").exec(stdout)?.[0];
  };
  const row = await until(machine, isReady("github"), "the server is ready");
  assert.doesNotMatch(row, /\bnone\b/, "the server is contained");
  assert.deepEqual(
    [await show("ActiveState"), await show("User"), await show("UnitFileState")],
    ["active", "toolcrib", "enabled"],
  );
  const first = await show("MainPID");
  assert.equal((await run(`stat -c %U /proc/${first}`)).trim(), "toolcrib");
  assert.equal((await run("stat -c '%U %F' /var/lib/toolcrib")).trim(), "toolcrib directory");
  const asUser = status.slice(0, -"status".length);
  await run(`${asUser}sandbox check`);
  assert.match(await run(`${asUser}call github__echo -a text=hello`), /hello/);

  // A reload applies a change, in the process that runs.
  await configure(server("github"), server("zenhub"));
  await run(reload);
  await until(machine, isReady("zenhub"), "the added server is ready");
  assert.equal(await show("MainPID"), first);
  assert.match(await machine.runUntil(follow, /Reloaded toolcrib\.service/), /Started toolcrib\.service/);

  // After a failure it is started again.
  await run("systemctl kill --signal=KILL toolcrib");
  await until(machine, async () => (await show("NRestarts")) === "1", "the service is started again");
  await until(machine, isReady("github"), "the server is ready again");

  // A credential that only root may read.
  const [, credential = "", secretPath = "", reference = ""] =
    /`(LoadCredential=[\w-]+:(\S+))`, and `secret_key_ref: \{ file: (\S+) \}`/.exec(readPage(page)) ?? [];
  await write(secretPath, "a-secret-of-the-service", "600");
  await configure(server("github", { GITHUB_TOKEN: { secret_key_ref: { file: reference } } }));
  await write(unitPath, unit.replace("[Service]\n", `[Service]\n${credential}\n`));
  await run(daemonReload);
  await run("systemctl restart toolcrib");
  await until(machine, isReady("github"), "the server with a secret is ready");
  const answer = await run(`${asUser}call github__env -a name=GITHUB_TOKEN`);
  assert.equal(answer.trim(), "[secret github]");
  await run("systemctl stop toolcrib");
  assert.equal(await show("Result"), "success");
});

const journal = "journalctl --unit toolcrib --no-pager";

/** Waits for a condition; where it does not become true, the error has the log of the service. */
async function until<T>(machine: ThrowawayMachine, condition: () => Promise<T>, what: string) {
  return await waitUntil(condition, { what, intervalMs: 200 }).catch(async (error: Error) =>
    assert.fail(`${error.message}\n${(await machine.run(journal)).stdout}`),
  );
}
