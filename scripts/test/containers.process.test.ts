/**
 * The commands of pages that need Docker, a Dockerfile, a `compose.yaml` or a registry of images, word for word, in a
 * Docker of their own without a network: the image that the Dockerfile starts from consists of packages of this machine,
 * and registries of npm and of images serve beside Docker under the names that the pages have. Nothing is left behind.
 */

import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { createTestAuthority, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { parse } from "yaml";
import { build, copyParts, reasonWithoutImages } from "../../packages/cli/test/e2e/toolpack-images.ts";
import { ranElsewhere } from "../../packages/cli/test/pages/not-run.ts";
import { readPage, stepsOf } from "../../packages/cli/test/pages/page-steps.ts";
import { DockerDaemon, reasonWithoutDocker } from "../containers/docker-daemon.ts";
import { reasonWithoutMachineImage, writeMachineImage } from "../containers/machine-image.ts";
import { writeGatewayImage } from "../release/gateway-image.ts";
import { packPackage } from "../release/pack-package.ts";
import { publishedPackages } from "../release/published-packages.ts";
import { writePackage } from "../release/write-package.ts";

const root = join(import.meta.dirname, "../..");
const thisFile = "scripts/test/containers.process.test.ts";
const containerPage = "operations/container.md";
const toolpackPage = "guides/toolpack-images.md";
/** The packages that the Dockerfile installs with apt. */
const installable = ["bubblewrap", "ca-certificates"];
const skip =
  reasonWithoutDocker() ?? reasonWithoutMachineImage(installable) ?? (await reasonWithoutImages()) ?? false;

const api = "http://127.0.0.1:7420";

/** Exit codes of commands that say what is missing: the profile of Docker forbids namespaces. */
const codes: { readonly [command: string]: number } = { "docker exec gateway toolcrib sandbox check": 5 };

describe("the pages about containers", { skip }, () => {
  const stack = new AsyncDisposableStack();
  // Tests of other files may run beside these.
  const links = listLinks();
  let folder = "";
  let docker: DockerDaemon;

  before(async () => {
    const directory = stack.use(await makeTemporaryDirectory());
    folder = directory.path;
    const work = stack.use(await makeTemporaryDirectory());
    const published = publishedPackages.find(({ name }) => name === "toolcrib") ?? assert.fail();
    await writePackage(root, published, work.join("package"), undefined);
    writeGatewayImage(root, work.join("package"), {
      out: directory.join("release/gateway.oci.tar"),
      platforms: ["linux/amd64"],
    });
    const { tarball } = packPackage(work.join("package"), work.path);
    mkdirSync(work.join("machine"));
    // npm asks its registry about the archive, and the containers have no network.
    const files = { "usr/local/etc/npmrc": "offline=true\naudit=false\n" };
    const machine = await writeMachineImage(work.join("machine"), { installable, files });
    docker = stack.use(await DockerDaemon.start(folder));
    await docker.succeed(`docker import --change 'CMD ["node"]' - node:24-bookworm-slim < ${machine}`);
    copyFileSync(tarball, directory.join("toolcrib-0.1.0.tgz"));
    await serveImages(docker, folder);
  });
  afterEach(async () => {
    if (stack.disposed) return;
    await docker.succeed("docker ps --all --quiet | xargs -r docker rm --force; docker volume prune --force");
  });
  after(() => stack.disposeAsync());

  /** Runs a command of a page. @param command as it runs, where its page says how to change it */
  async function runCommand(shown: string, directory: string, command = shown): Promise<string> {
    const { code, stdout, stderr } = await docker.run(command, { directory });
    assert.equal(code, codes[shown] ?? 0, `${command}\n${stdout}${stderr}\n${docker.log().slice(-2000)}`);
    return stdout;
  }

  /** Runs the commands of the page with a gateway, which serves the tools of a server in the container. */
  async function runGateway(directory: string, changed: (command: string) => string): Promise<void> {
    writeProject(directory);
    copyFileSync(join(folder, "toolcrib-0.1.0.tgz"), join(directory, "toolcrib-0.1.0.tgz"));
    for (const step of stepsOf(containerPage)) {
      if (step.kind === "file") {
        writeFileSync(join(directory, step.name), step.text);
        continue;
      }
      const command = changed(step.command);
      if (ranElsewhere[containerPage]?.[step.command] !== thisFile || command === "") continue;
      const printed = await runCommand(step.command, directory, command);
      if (step.command.startsWith("docker run --detach")) await untilServed();
      if (step.command.endsWith(" status")) assert.match(printed, /^Toolcrib \S+ serves /);
      if (step.command.endsWith(" sandbox check"))
        assert.match(printed, /do not start here|run in bubblewrap/);
    }
    assert.deepEqual(await listTools(directory), ["echo:echo"]);
  }

  async function untilServed(): Promise<void> {
    const probe = `curl -fsS ${api}/readyz`;
    await waitUntil(async () => (await docker.run(probe)).code === 0, { intervalMs: 100, what: probe });
  }

  /** Returns the tools of servers, as a client with the copied token gets them through the published port. */
  async function listTools(directory: string): Promise<readonly string[]> {
    const request = `curl -fsS -H "Authorization: Bearer $(cat desk.token)" ${api}/api/v1/tools`;
    // A gateway takes a new token over within a second.
    await waitUntil(async () => (await docker.run(request, { directory })).code === 0, { intervalMs: 100 });
    const tools = JSON.parse(await docker.succeed(request, { directory })) as readonly {
      readonly id: string;
    }[];
    return tools.map(({ id }) => id).filter((id) => !id.startsWith("toolcrib:"));
  }

  test("the image of the Dockerfile serves as an ordinary user, and again after it was killed", async () => {
    const directory = join(folder, "container");
    await runGateway(directory, (command) => command);
    const within = (command: string) => docker.succeed(`docker exec gateway ${command}`);
    assert.equal((await within("id -u")).trim(), "10001");
    assert.match(await within("grep CapEff /proc/self/status"), /CapEff:\s+0+$/m);
    assert.equal((await docker.run("docker exec gateway touch /usr/there")).code, 1);
    assert.match(await within("toolcrib call echo__echo -a text=hello"), /hello/);
    const health = await docker.succeed(
      "docker inspect --format '{{json .Config.Healthcheck.Test}}' gateway",
    );
    const [kind, ...words] = JSON.parse(health) as readonly string[];
    assert.equal(kind, "CMD");
    await within(words.map((word) => `"${word}"`).join(" "));

    // Its process has the same id each time, so that what is left of a killed gateway looks like the running one.
    await docker.succeed("docker kill gateway && docker start gateway");
    await untilServed();
    assert.match(await within("toolcrib status"), /^Toolcrib \S+ serves [\s\S]*process 1,/);
    await docker.succeed("docker stop gateway");
    assert.equal((await docker.succeed("docker inspect --format '{{.State.ExitCode}}' gateway")).trim(), "0");
  });

  test("the compose.yaml of the page starts the same image", async () => {
    const directory = join(folder, "container");
    await docker.succeed("docker-compose up --detach", { directory });
    await untilServed();
    const exec = "docker-compose exec -T gateway toolcrib";
    await docker.succeed(`${exec} token create desk`, { directory });
    await docker.succeed("docker cp container_gateway_1:/data/tokens/desk desk.token", { directory });
    assert.deepEqual(await listTools(directory), ["echo:echo"]);
    assert.match(await docker.succeed(`${exec} status`, { directory }), /^Toolcrib \S+ serves /);
    await docker.succeed("docker-compose down --volumes", { directory });
  });

  test("the image of a release runs with what the page writes in place of names", async () => {
    const directory = join(folder, "release");
    const text = readPage(containerPage);
    const [, load = ""] =
      /`(docker load --input gateway\.oci\.tar)`/.exec(text) ?? assert.fail("not on the page");
    await runCommand(load, directory);
    const sentence =
      /in the commands of this page, write (.*)\.$/m.exec(text)?.[1] ?? assert.fail("no names");
    const names = [...sentence.matchAll(/`([^`]+)` in place of `([^`]+)`/g)].map(
      ([, now = "", shown = ""]) => [shown, now] as const,
    );
    assert.equal(names.length, 3);
    await runGateway(directory, (command) => {
      // It is built already, and has no sandbox.
      if (/^docker (?:build|run --rm) /.test(command)) return "";
      return names.reduce(
        (line, [shown, now]) =>
          shown === "toolcrib"
            ? line.replace("gateway toolcrib ", `gateway ${now} `)
            : line.replace(shown, now),
        command,
      );
    });
  });

  test("an image of a toolspec is loaded, run as a tool server, and pushed with and without its digest", async () => {
    copyParts({
      path: folder,
      join: (...names) => join(folder, ...names),
      [Symbol.asyncDispose]: async () => {},
    });
    const printed = await build(folder, ["github", "--out", "./github-image"]);
    await build(folder, ["github", "--tar", "--out", "./out"]);
    const [, reference, digest] = /^Image (\S+) (sha256:\w+)$/m.exec(printed) ?? assert.fail(printed);
    const name = "docker://registry.example.com/github:0.1.0";
    const pushed: string[] = [];
    for (const step of stepsOf(toolpackPage)) {
      if (step.kind !== "command" || ranElsewhere[toolpackPage]?.[step.command] !== thisFile) continue;
      await runCommand(step.command, folder);
      if (!step.command.startsWith("skopeo ")) continue;
      assert.ok(step.command.includes(name), step.command);
      pushed.push((await docker.succeed(`skopeo inspect --format '{{.Digest}}' ${name}`)).trim());
      const layout = await docker.succeed("skopeo inspect --raw oci:./github-image/image", {
        directory: folder,
      });
      const raw = await docker.succeed(`skopeo inspect --raw ${name}`);
      assert.equal(JSON.parse(raw).config.digest, JSON.parse(layout).config.digest);
    }
    assert.deepEqual(
      pushed.map((one) => one === digest),
      [false, true],
    );

    const block =
      /```yaml\n(tool_servers:\n {2}- id: github\n[\s\S]*?)```/.exec(readPage(toolpackPage))?.[1] ?? "";
    const [{ command, args }] = parse(block).tool_servers;
    assert.equal(args.at(-1), reference);
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
    ];
    const stdin = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    assert.match(await docker.succeed([command, ...args].join(" "), { stdin }), /"name":"get_me"/);
  });

  test("Docker leaves no file, process, mount, network or control group", async () => {
    // What it writes elsewhere ends with its namespaces, or is refused.
    for (const place of ["/usr", "/var/lib"])
      assert.match((await docker.run(`touch ${place}/there`)).stderr, /Read-only file system/);
    await stack.disposeAsync();
    assert.ok(!existsSync(folder));
    assert.deepEqual(listLeft(folder, links), { processes: [], mounts: [], links: [], groups: [] });
  });
});

/** Writes what the reader of the page has: a configuration, and a server that it starts in the container. */
function writeProject(directory: string): void {
  rmSync(join(directory, "config"), { recursive: true, force: true });
  mkdirSync(join(directory, "config"), { recursive: true });
  cpSync(join(root, "bench/echo-server.mjs"), join(directory, "config/echo.mjs"));
  const transport = { kind: "stdio", command: "node", args: ["/config/echo.mjs"] };
  const server = { id: "echo", trust_state: "verified", transport };
  // The container is the boundary, as the page says.
  const config = { sandbox: { mode: "preferred" }, tool_servers: [server] };
  writeFileSync(join(directory, "config/toolcrib.yaml"), JSON.stringify(config));
}

/** Serves a registry of images as `registry.example.com`, with a certificate that the programs beside it trust. */
async function serveImages(docker: DockerDaemon, folder: string): Promise<void> {
  const host = "registry.example.com";
  const authority = createTestAuthority();
  const { certificate, key } = authority.sign({ hosts: [host] });
  const files = { "authority.pem": authority.certificate, "certificate.pem": certificate, "key.pem": key };
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  });
  const [authorityPath, certificatePath, keyPath] = paths;
  const config = {
    version: "0.1",
    storage: { filesystem: { rootdirectory: join(folder, "images") } },
    http: { addr: "127.0.0.1:443", tls: { certificate: certificatePath, key: keyPath } },
  };
  writeFileSync(join(folder, "registry.json"), JSON.stringify(config));
  const trusted = `/etc/containers/certs.d/${host}`;
  await docker.succeed(
    `echo 127.0.0.1 ${host} >> /etc/hosts && mkdir -p ${trusted} && cp ${authorityPath} ${trusted}/ca.crt`,
  );
  const probe = `curl -fsS --cacert ${authorityPath} https://${host}/v2/`;
  await docker.serve(`docker-registry serve ${join(folder, "registry.json")}`, probe);
}

/**
 * Lists what Docker would leave on this machine.
 *
 * @param folder that of Docker
 * @param before the network interfaces that were there before
 */
function listLeft(folder: string, before: readonly string[]): object {
  return {
    processes: listNames("/proc").filter(
      (name) => /^\d/.test(name) && tryRead(`/proc/${name}/cmdline`).includes(folder),
    ),
    mounts: tryRead("/proc/self/mountinfo")
      .split("\n")
      .filter((line) => line.includes(folder)),
    links: listLinks().filter((name) => !before.includes(name)),
    groups: ["", ...listNames("/sys/fs/cgroup")].filter((name) =>
      existsSync(join("/sys/fs/cgroup", name, `toolcrib-test-${process.pid}`)),
    ),
  };
}

/** Returns the names of the network interfaces that Docker creates. */
function listLinks(): readonly string[] {
  return listNames("/sys/class/net").filter((name) => /^(?:docker|br-)/.test(name));
}

function listNames(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path).toSorted() : [];
}

/** Returns the text of a file that may go away. */
function tryRead(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
