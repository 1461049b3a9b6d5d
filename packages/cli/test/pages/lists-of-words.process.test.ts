/**
 * Commands that pages show as lists of words of another program: the unit of systemd, the pod of Kubernetes, the image and
 * its check of health. Each starts a gateway with its own arguments, in folders of a test in place of those of the page.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  freePort,
  makeTemporaryDirectory,
  runProcess,
  startServerProcess,
  type TemporaryDirectory,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { parse, parseAllDocuments } from "yaml";
import { cleanEnvironment, commandLine, echoServer, launcherPath } from "../transcript.ts";
import { readPage } from "./page-steps.ts";

/** Returns the only code block of a page in a language. */
function blockOf(page: string, language: string): string {
  const blocks = [...readPage(page).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  assert.equal(blocks.length, 1, `${page} has ${blocks.length} blocks of ${language}`);
  return blocks[0]?.[1] ?? "";
}

/** Starts a gateway with the words of a page after `toolcrib`, on a free port. */
async function start(words: readonly string[], directory: TemporaryDirectory, env: object = {}) {
  const quiet = words.filter((word) => word !== "--quiet");
  const at = quiet.indexOf("--listen");
  const own = at === -1 ? quiet : quiet.toSpliced(at, 2);
  const args = [...commandLine, ...own, "--listen", "127.0.0.1:0"];
  const server = await startServerProcess(process.execPath, args, {
    cwd: directory.path,
    env: { ...cleanEnvironment(directory.path), ...env },
    urlPattern: /http:\/\/127\.0\.0\.1:\d+/,
  });
  await waitUntil(async () => (await fetch(`${server.url}/readyz`)).ok);
  return server;
}

function writeConfig(directory: TemporaryDirectory, path: string, ids: readonly string[]): void {
  const servers = ids.map((id) => ({ ...echoServer(id), trust_state: "verified" }));
  const config = { sandbox: { mode: "preferred" }, tool_servers: servers };
  writeFiles(directory.path, { [path]: JSON.stringify(config) });
}

test("the unit starts a gateway, its reload applies a change, and systemd accepts it", async (context) => {
  const unit = blockOf("operations/systemd.md", "ini");
  const value = (name: string) =>
    new RegExp(`^${name}=(.+)$`, "m").exec(unit)?.[1] ?? assert.fail(`no ${name}`);
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory, "etc/toolcrib.yaml", ["one"]);
  const [program, ...words] = value("ExecStart")
    .replace("/etc/toolcrib/", `${directory.join("etc")}/`)
    .split(" ");
  assert.equal(program, "/usr/local/bin/toolcrib");
  const [name = "", home = ""] = value("Environment").split("=");
  assert.equal(home, `/var/lib/${value("StateDirectory")}`);
  await using gateway = await start(words, directory, { [name]: directory.join("state") });
  assert.ok(existsSync(directory.join("state/tokens/default")));
  writeConfig(directory, "etc/toolcrib.yaml", ["one", "two"]);
  const reload = value("ExecReload").replace("$MAINPID", String(gateway.pid));
  const { code, stderr } = await runProcess("sh", ["-c", reload]);
  assert.equal(code, 0, stderr);
  const token = readFileSync(directory.join("state/tokens/default"), "utf8").trim();
  await waitUntil(async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await (await fetch(`${gateway.url}/api/v1/tools`, { headers })).text()).includes("two__echo");
  });
  if (!existsSync("/usr/bin/systemd-analyze")) return context.skip("systemd-analyze is not installed");
  const path = directory.join("toolcrib.service");
  // The program is not installed where the page has it, and the user need not exist.
  writeFileSync(path, unit.replace("/usr/local/bin/toolcrib", launcherPath));
  const verified = await runProcess("/usr/bin/systemd-analyze", ["verify", path]);
  assert.deepEqual([verified.code, verified.stderr], [0, ""]);
});

test("the pod starts a gateway with its configuration, which its probes find", async () => {
  const text =
    /```yaml gateway\.k8s\.yaml\n([\s\S]*?)^```$/m.exec(readPage("operations/kubernetes.md"))?.[1] ?? "";
  const manifests = parseAllDocuments(text).map((document) => document.toJS());
  const config = manifests.find(({ kind }) => kind === "ConfigMap").data["toolcrib.yaml"] as string;
  const [container] = manifests.find(({ kind }) => kind === "StatefulSet").spec.template.spec.containers;
  await using directory = await makeTemporaryDirectory();
  const own = config.replaceAll("/secrets/", `${directory.join("secrets")}/`);
  // The server of the page is on the internet.
  const { tool_servers: servers, ...others } = parse(own);
  assert.equal(servers.length, 1);
  writeFiles(directory.path, {
    "config/toolcrib.yaml": JSON.stringify({ ...others, tool_servers: [echoServer("github")] }),
    "whole.yaml": own,
    "secrets/github-token": "x-1\n",
  });
  const checked = await runProcess(
    process.execPath,
    [...commandLine, "--config", directory.join("whole.yaml"), "config", "check"],
    { cwd: directory.path, env: cleanEnvironment(directory.path) },
  );
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  const [program, ...words] = (container.command as readonly string[]).map((word) =>
    word.replace("/config/", `${directory.join("config")}/`),
  );
  assert.equal(program, "toolcrib");
  const [{ name, value }] = container.env;
  assert.equal(value, "/data");
  await using gateway = await start(words, directory, { [name]: directory.join("data") });
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    const { path, httpHeaders } = probe.httpGet;
    const answer = await fetch(`${gateway.url}${path}`, {
      headers: Object.fromEntries(
        httpHeaders.map((one: { name: string; value: string }) => [one.name, one.value]),
      ),
    });
    assert.equal(answer.status, 200, path);
    await answer.body?.cancel();
  }
});

test("the command of the image starts a gateway, and its check of health sees it come and go", async () => {
  const text = blockOf("operations/container.md", "dockerfile Dockerfile");
  const list = (pattern: RegExp) => JSON.parse(pattern.exec(text)?.[1] ?? "[]") as readonly string[];
  const [program, ...words] = list(/^CMD (\[.*\])$/m);
  const [interpreter, ...check] = list(/^HEALTHCHECK CMD (\[.*\])$/m);
  assert.deepEqual([program, interpreter], ["toolcrib", "node"]);
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory, "toolcrib.yaml", ["one"]);
  const [, name = "", value] = /^ENV (\w+)=(\S+)$/m.exec(text) ?? [];
  assert.equal(value, "/data");
  const healthy = async (port: string) => {
    const args = check.map((word) => word.replace(":7420/", `:${port}/`));
    return (await runProcess(process.execPath, args)).code;
  };
  {
    await using gateway = await start(words, directory, { [name]: directory.join("data") });
    assert.equal(await healthy(new URL(gateway.url).port), 0);
  }
  assert.equal(await healthy(`${await freePort()}`), 1);
  // The address of the image needs a token, which is created at the first start.
  assert.deepEqual(words, ["serve", "--listen", "0.0.0.0:7420"]);
  const compose =
    /```yaml compose\.yaml\n([\s\S]*?)^```$/m.exec(readPage("operations/container.md"))?.[1] ?? "";
  const { services, volumes } = parse(compose);
  const mounted = services.gateway.volumes.map((one: string) => one.split(":").slice(0, 2));
  assert.deepEqual(mounted, [
    ["home", "/data"],
    ["./config", /^WORKDIR (\S+)$/m.exec(text)?.[1]],
  ]);
  assert.ok("home" in volumes);
});
