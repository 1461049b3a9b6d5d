/**
 * A cluster of one node within the namespaces of `enter.sh`: etcd, the API server, the controllers, the scheduler, containerd
 * and a kubelet, with one administrator, whose token is the one of every part. It ends with its namespaces.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "@toolcrib/testing";
import type { Programs } from "./build-programs.ts";

/** In memory, as all of `/var/lib` is there. */
const base = "/var/lib/toolcrib-cluster";
/** The address of the node on the bridge of the pods. */
const address = "10.88.0.1";
const token = "administrator";

const files: { readonly [name: string]: string } = {
  "tokens.csv": `${token},administrator,administrator,system:masters\n`,
  "kubeconfig.yaml": `apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true } }]
users: [{ name: test, user: { token: ${token} } }]
contexts: [{ name: test, context: { cluster: test, user: test } }]
current-context: test
`,
  "containerd.toml": `version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "toolcrib.test/pause:1"
# Not every root may shield processes from a lack of memory.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${base}/cni"
`,
  "cni/pods.conflist": JSON.stringify({
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        ipam: { type: "host-local", ranges: [[{ subnet: "10.88.0.0/16", rangeStart: "10.88.0.10" }]] },
      },
    ],
  }),
  "kubelet.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
resolvConf: ${base}/resolv.conf
volumePluginDir: ${base}/volume-plugins
syncFrequency: 10s
evictionHard: { memory.available: "0%", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%" }
`,
  "resolv.conf": "nameserver 127.0.0.1\n",
  "volume.yaml": `apiVersion: v1
kind: PersistentVolume
metadata: { name: home }
spec:
  capacity: { storage: 8Gi }
  accessModes: [ReadWriteOnce]
  hostPath: { path: ${base}/volume }
`,
};

/** The arguments of each part, in the order in which they start. */
const parts: { readonly [name: string]: readonly string[] } = {
  etcd: [`--data-dir=${base}/etcd`, "--unsafe-no-fsync"],
  "kube-apiserver": [
    "--etcd-servers=http://127.0.0.1:2379",
    `--advertise-address=${address}`,
    `--cert-dir=${base}/certificates`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${base}/service-accounts.pub`,
    `--service-account-signing-key-file=${base}/service-accounts.key`,
    `--token-auth-file=${base}/tokens.csv`,
    "--authorization-mode=RBAC",
    "--kubelet-preferred-address-types=InternalIP",
  ],
  "kube-controller-manager": [`--kubeconfig=${base}/kubeconfig.yaml`, "--leader-elect=false"],
  "kube-scheduler": [`--kubeconfig=${base}/kubeconfig.yaml`, "--leader-elect=false"],
  kubelet: [
    `--kubeconfig=${base}/kubeconfig.yaml`,
    `--config=${base}/kubelet.yaml`,
    `--root-dir=${base}/kubelet`,
    `--node-ip=${address}`,
    "--hostname-override=node",
  ],
};

/** A cluster that runs. */
export interface Cluster {
  /** Runs a command line with `kubectl` on its PATH, in `folder`. */
  run(command: string, folder?: string): { readonly code: number | null; readonly output: string };
  /** The end of what each part logged. */
  logs(): string;
}

/** Starts a cluster. @param images archives for its node, see `images.ts` */
export async function startCluster({ cluster }: Programs, images: readonly string[]): Promise<Cluster> {
  for (const folder of ["bin", "cni", "volume", "volume-plugins"])
    mkdirSync(join(base, folder), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(base, name), text);
  // The volume is the home of the gateway, which runs as this user.
  chownSync(join(base, "volume"), 10_001, 10_001);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(base, "service-accounts.pub"), publicKey.export({ type: "spki", format: "pem" }));
  writeFileSync(join(base, "service-accounts.key"), privateKey.export({ type: "pkcs1", format: "pem" }));
  writeFileSync(join(base, "bin/kubectl"), `#!/bin/sh\nexec '${cluster}' kubectl "$@"\n`, { mode: 0o755 });

  const path = `${join(base, "bin")}:${process.env["PATH"]}:/usr/sbin:/sbin`;
  const env = { PATH: path, HOME: base, KUBECONFIG: join(base, "kubeconfig.yaml") };
  const started = new Map<string, ChildProcess>();
  const logOf = (name: string) => join("/var/log", `${name}.log`);
  const start = (name: string, command: string, args: readonly string[]) => {
    const log = openSync(logOf(name), "w");
    started.set(name, spawn(command, args, { env, cwd: base, stdio: ["ignore", log, log] }));
  };
  const run: Cluster["run"] = (command, folder = base) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
      env,
      cwd: folder,
      encoding: "utf8",
      timeout: 180_000,
    });
    return { code: status, output: `${stdout}${stderr}` };
  };
  const logs = () =>
    [...started.keys()]
      .map((name) => `# ${name}\n${readFileSync(logOf(name), "utf8").slice(-3000)}`)
      .join("\n");
  /** Waits until a command succeeds; a part that has ended fails at once. */
  const until = (command: string) =>
    waitUntil(
      () => {
        for (const [name, { exitCode }] of started)
          assert.equal(
            exitCode,
            null,
            `${name} has ended\n${readFileSync(logOf(name), "utf8").slice(-3000)}`,
          );
        return run(command).code === 0;
      },
      { timeoutMs: 180_000, intervalMs: 500, what: command },
    ).catch((error: Error) => assert.fail(`${error.message}\n${logs()}`));

  start("containerd", "containerd", ["--config", join(base, "containerd.toml")]);
  await until("ctr version");
  for (const image of images) {
    const { code, output } = run(`ctr --namespace k8s.io images import '${image}'`);
    assert.equal(code, 0, output);
  }
  const [etcd = "", server = "", ...others] = Object.keys(parts);
  start(etcd, cluster, [etcd, ...(parts[etcd] ?? [])]);
  start(server, cluster, [server, ...(parts[server] ?? [])]);
  await until("kubectl get --raw /readyz");
  for (const name of others) start(name, cluster, [name, ...(parts[name] ?? [])]);
  await until("kubectl wait --for=condition=Ready node/node --timeout=5s");
  await until("kubectl get serviceaccount default");
  assert.equal(run("kubectl apply --filename volume.yaml").code, 0);
  return { run, logs };
}
