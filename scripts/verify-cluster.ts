/**
 * Applies the manifests of the page about Kubernetes to a cluster, as a step of `npm run verify` that runs where it is named:
 * Go builds etcd, Kubernetes and kubectl from pinned modules, and they run with containerd in namespaces of their own, whose
 * network has nothing but loopback and the pods, so that nothing of this machine changes. The commands of the page run in
 * their order:
 *
 * - the API server accepts the manifests, and refuses a field that its schema does not have;
 * - the pod is ready by the probes of the page, as its user and with a root that it cannot write;
 * - the commands in the pod succeed, and the gateway accepts the token that they print;
 * - a changed ConfigMap is applied.
 *
 * The image is made of programs of this machine, as the Dockerfile of the page about containers says, and a folder is the
 * volume. Without Linux, root, control groups of version 1, Go, containerd or the plugins of its network, it is skipped with
 * the reason.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { waitUntil } from "@toolcrib/testing";
import { ranElsewhere } from "../packages/cli/test/pages/not-run.ts";
import { commandsOf, stepsOf } from "../packages/cli/test/pages/page-steps.ts";
import { buildPrograms, type Programs, reasonWithoutGo } from "./cluster/build-programs.ts";
import { fillGatewayRoot, writeImage } from "./cluster/images.ts";
import { type Cluster, startCluster } from "./cluster/start-cluster.ts";
import { publishedPackages } from "./release/published-packages.ts";
import { writePackage } from "./release/write-package.ts";
import { check, counts } from "./verify-cases.ts";

const root = join(import.meta.dirname, "..");
const page = "operations/kubernetes.md";
const manifestName = "gateway.k8s.yaml";
const hierarchies = "/sys/fs/cgroup";
const folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib/cni", "/usr/local/bin"];

const [mode, base = "", cluster = "", pause = ""] = process.argv.slice(2);
if (mode === "--inside") await verifyInside(base, { cluster, pause });
else process.exitCode = await buildAndEnter();

function reasonToSkip(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64" || process.getuid?.() !== 0)
    return "a node needs root on Linux on x64";
  if (!existsSync(join(hierarchies, "memory/cgroup.procs")))
    return "the node needs control groups of version 1, of which this machine has none";
  const programs = [
    "containerd",
    "ctr",
    "runc",
    "bridge",
    "host-local",
    "loopback",
    "ip",
    "unshare",
    "setpriv",
    "ldd",
  ];
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  return reasonWithoutGo();
}

/** Builds the programs and the package, and starts this program again in namespaces. @returns the exit code */
async function buildAndEnter(): Promise<number> {
  const reason = reasonToSkip();
  if (reason !== undefined) {
    console.log(`skipped: ${reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const programs = buildPrograms(root);
  const folder = mkdtempSync("/tmp/toolcrib-cluster-");
  const name = `toolcrib-cluster-${randomUUID()}`;
  try {
    const published = publishedPackages.find((one) => one.name === "toolcrib") ?? assert.fail();
    await writePackage(root, published, join(folder, "package"), undefined);
    const namespaces = ["--mount", "--propagation", "private", "--pid", "--ipc", "--uts", "--net"];
    const enter = [join(import.meta.dirname, "cluster/enter.sh"), name];
    const again = [process.execPath, "--conditions=toolcrib-source", import.meta.filename, "--inside"];
    const words = [...namespaces, "--fork", "--kill-child", ...enter, ...again];
    // Ends with this process, even where that is killed.
    const { status } = spawnSync(
      "setpriv",
      ["--pdeathsig", "KILL", "unshare", ...words, folder, programs.cluster, programs.pause],
      {
        stdio: "inherit",
      },
    );
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    // The kernel counts a process as a member for a moment after its end.
    const groups = [hierarchies, "-ignore_readdir_race", "-depth", "-type", "d", "-path", `*${name}*`];
    await waitUntil(() => spawnSync("find", [...groups, "-exec", "rmdir", "{}", "+"]).status === 0, {
      intervalMs: 100,
      timeoutMs: 20_000,
      what: `the control groups ${name} are removed`,
    });
  }
}

async function verifyInside(folder: string, programs: Programs): Promise<void> {
  const images = join(folder, "images");
  fillGatewayRoot(join(images, "gateway-root"), join(folder, "package"));
  mkdirSync(join(images, "pause-root"));
  cpSync(programs.pause, join(images, "pause-root/pause"));
  const manifest = stepsOf(page).find((step) => step.kind === "file" && step.name === manifestName);
  assert(manifest?.kind === "file");
  const reference = /^\s*image: (\S+)$/m.exec(manifest.text)?.[1] ?? assert.fail("the page names no image");
  const archives = [
    writeImage(join(images, "pause"), join(images, "pause-root"), "toolcrib.test/pause:1", {
      Cmd: ["/pause"],
    }),
    writeImage(join(images, "gateway"), join(images, "gateway-root"), reference, {
      Cmd: ["toolcrib", "serve", "--listen", "0.0.0.0:7420"],
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "TOOLCRIB_HOME=/data"],
      User: "toolcrib",
      WorkingDir: "/config",
    }),
  ];
  const started = await startCluster(programs, archives);
  const work = join(folder, "work");
  mkdirSync(work);
  await verifyPage(started, work, manifest.text);
  if (counts.failed > 0) console.log(started.logs());
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed === 0 ? 0 : 1);
}

async function verifyPage({ run }: Cluster, work: string, manifest: string): Promise<void> {
  const write = (text: string) => writeFileSync(join(work, manifestName), text);
  const succeed = (command: string) => {
    const { code, output } = run(command, work);
    assert.equal(code, 0, `${command}\n${output}`);
    return output;
  };
  const commands = commandsOf(page).filter((command) => ranElsewhere[page]?.[command] !== undefined);
  const [dryRun = "", apply = "", status = "", create = "", show = "", ...others] = commands;
  assert.deepEqual(others, [], "the page has other commands");
  const objects = [...manifest.matchAll(/^kind: (\w+)$/gm)].map(([, kind = ""]) => kind);

  await check("the API server refuses a field and a value that its schema does not have", () => {
    for (const [from, to, answer] of [
      ["replicas: 1", "replica: 1", /unknown field "spec\.replica"/],
      ["periodSeconds: 2", "periodSeconds: often", /spec\.template\.spec\.containers|cannot unmarshal|int32/],
      ["accessModes: [ReadWriteOnce]", "accessModes: [ReadAndWrite]", /Unsupported value: "ReadAndWrite"/],
    ] as const) {
      write(manifest.replace(from, to));
      const { code, output } = run(dryRun, work);
      assert.notEqual(code, 0, `${to} was accepted`);
      assert.match(output, answer);
    }
  });
  write(manifest);
  await check(dryRun, () => {
    const lines = succeed(dryRun).trim().split("\n");
    assert.equal(lines.filter((line) => line.endsWith(" created (server dry run)")).length, objects.length);
    assert.equal(lines.length, objects.length, lines.join("\n"));
    assert.match(run("kubectl get statefulset toolcrib", work).output, /NotFound/);
  });
  await check(apply, () => {
    const created = succeed(apply).match(/ created$/gm);
    assert.equal(created?.length, objects.length);
  });
  await check("the pod is ready by its probes, as the user of the page", () => {
    const { code, output } = run("kubectl rollout status statefulset/toolcrib --timeout=170s", work);
    const describe = () => run("kubectl describe pod toolcrib-0; kubectl logs toolcrib-0", work).output;
    assert.equal(code, 0, code === 0 ? "" : `${output}\n${describe()}`);
    assert.match(succeed("kubectl exec toolcrib-0 -- cat /proc/1/status"), /^Uid:\s10001\s/m);
    assert.notEqual(run("kubectl exec toolcrib-0 -- sh -c 'echo > /config/here'").code, 0);
    assert.notEqual(run("kubectl exec toolcrib-0 -- sh -c 'echo > /usr/here'").code, 0);
  });
  const [, server = ""] = /^ +- id: (\S+)$/m.exec(manifest) ?? [];
  await check(status, () => assert.match(succeed(status), new RegExp(`^${server} `, "m")));
  await check(create, () => void succeed(create));
  await check(`${show}, and the gateway accepts the token`, async () => {
    const token = succeed(show).trim();
    assert.match(token, /^tcb_\S{20,}$/);
    const [, host = ""] = /allowed_hosts: \[([^,\]]+)/.exec(manifest) ?? [];
    const pod = succeed("kubectl get pod toolcrib-0 --output jsonpath='{.status.podIP}'").trim();
    const ask = (headers: object) => statusOf(pod, { host, ...headers });
    await waitUntil(async () => (await ask({ authorization: `Bearer ${token}` })) === 200);
    assert.equal(await ask({}), 401);
    assert.equal(await ask({ authorization: `Bearer ${token}`, host: "elsewhere.example.com" }), 403);
  });
  await check("a changed ConfigMap is applied", async () => {
    write(manifest.replace(`- id: ${server}`, `- id: changed`));
    assert.match(succeed(apply), /configmap\/toolcrib configured/);
    const reload = "kubectl exec toolcrib-0 -- toolcrib reload";
    const isApplied = () => run(reload).code === 0 && /^changed /m.test(run(status).output);
    await waitUntil(isApplied, { timeoutMs: 180_000, intervalMs: 2000, what: "the changed server is there" });
  });
}

/** The status with which the gateway in a pod answers. */
function statusOf(host: string, headers: { readonly [name: string]: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host, port: 7420, path: "/api/v1/tools", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}
