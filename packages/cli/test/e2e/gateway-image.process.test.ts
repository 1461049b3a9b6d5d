/** The image of the gateway: the same bytes twice, and a gateway that runs in it. No network and no container runtime. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort, runProcess, runsAll, startServerProcess, waitUntil } from "@toolcrib/testing";
import { ranElsewhere } from "../pages/not-run.ts";
import { inImage, makeHome, reasonWithoutImages, unpackImage } from "./toolpack-images.ts";

const root = join(import.meta.dirname, "../../../..");
const skip = runsAll
  ? ((await reasonWithoutImages()) ?? false)
  : "npm run verify builds the image of the gateway";

test("the image is the same twice, and its gateway serves with tokens as an ordinary user", {
  skip,
}, async () => {
  await using directory = await makeHome();
  const build = async (name: string) => {
    const out = directory.join(name);
    const args = ["--conditions=toolcrib-source", join(root, "scripts/release.ts"), "image", "--out", out];
    const { code, stderr } = await runProcess(process.execPath, args, { cwd: root });
    assert.equal(code, 0, stderr);
    return readFileSync(out);
  };
  assert.ok((await build("one.tar")).equals(await build("two.tar")));
  const layout = directory.join("layout");
  for (const folder of ["layout", "temporary", "config", "home"]) mkdirSync(directory.join(folder));
  await runProcess("tar", ["--extract", "--file", directory.join("one.tar"), "--directory", layout]);
  const { config } = await unpackImage(layout, directory.join("root"));
  assert.equal(config.config.User, "65532:65532");

  const transport = { kind: "stdio", command: "node", args: ["/config/server.mjs"] };
  writeFileSync(directory.join("config/server.mjs"), "process.stdin.resume();\n");
  writeFileSync(
    directory.join("config/toolcrib.yaml"),
    JSON.stringify({ tool_servers: [{ id: "local", transport }], serve: { listen: "127.0.0.1:0" } }),
  );
  const within = (args: readonly string[]) => {
    const { Entrypoint } = config.config;
    const run = inImage(directory.join("root"), directory.join("temporary"), config, {
      args: [...Entrypoint, ...args],
    });
    const at = run.args.indexOf("--chdir");
    const volumes = [
      "--ro-bind",
      directory.join("config"),
      "/config",
      "--bind",
      directory.join("home"),
      "/home",
    ];
    const all = run.args.toSpliced(at, 0, ...volumes).filter((arg) => arg !== "--unshare-pid");
    // As in one container, commands and the gateway see each other's processes.
    const shared = all.flatMap((arg) => (arg === "--proc" ? ["--ro-bind", "/proc"] : [arg]));
    return { command: run.command, args: shared };
  };
  const url = `http://127.0.0.1:${await freePort()}`;
  // The arguments of the image, on a free port.
  const { Cmd } = config.config as { readonly Cmd?: readonly string[] };
  assert.deepEqual(Cmd?.slice(0, 4), ["--config", "/config/toolcrib.yaml", "serve", "--quiet"]);
  assert.deepEqual(Cmd?.slice(4), ["--listen", "0.0.0.0:7420"]);
  const serving = within([
    ...Cmd.filter((word) => word !== "--quiet").slice(0, -1),
    url.replace("http://127.0.0.1", "0.0.0.0"),
  ]);
  await using _gateway = await startServerProcess(serving.command, serving.args);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const refused = await fetch(`${url}/mcp`, { method: "POST" });
  assert.equal(refused.status, 401);
  await refused.body?.cancel();

  const run = async (...args: readonly string[]) => {
    const { command, args: all } = within(args);
    return await runProcess(command, all);
  };
  // A server that is a process needs a sandbox, which the image does not have: it is not started without one.
  const { stdout: status } = await run("status");
  assert.match(status, /local +(?:starting|unavailable)/);
  assert.match(status, /This machine has no sandbox for processes/);
  await runPages(directory.join("home/toolcrib"), run);
  assert.equal((await run("token", "create", "ci")).code, 0);
  const token = readFileSync(directory.join("home/toolcrib/tokens/ci"), "utf8").trim();
  // A gateway takes a new token over within a second.
  await waitUntil(async () => {
    const listed = await fetch(`${url}/api/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
    await listed.body?.cancel();
    return listed.status === 200;
  });
});

/** The commands of the pages that run within a container that runs. @param home where it keeps its tokens */
async function runPages(
  home: string,
  run: (...args: readonly string[]) => Promise<{ readonly code: number | null; readonly stdout: string }>,
): Promise<void> {
  const inContainer = /^(?:docker exec gateway|kubectl exec toolcrib-0 --) toolcrib (?<words>.+)$/;
  for (const page of ["operations/container.md", "operations/kubernetes.md"]) {
    for (const command of Object.keys(ranElsewhere[page] ?? {})) {
      const words = inContainer.exec(command)?.groups?.["words"]?.split(" ");
      // What the runtime itself does needs one.
      if (words === undefined) continue;
      const { code, stdout } = await run(...words);
      // This image has no sandbox, and `sandbox check` says so.
      assert.equal(code, words[0] === "sandbox" ? 5 : 0, `${command}\n${stdout}`);
      const token = join(home, "tokens", words.at(-1) ?? "");
      if (words[0] === "token") rmSync(token);
    }
  }
}
