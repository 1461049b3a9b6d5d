/**
 * The programs of the cluster, built by Go from the modules that `go.mod` pins, below `node_modules/.cache`. Go compares each
 * module with `go.sum`. A build takes minutes and is made once for the same sources.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";

const sources = import.meta.dirname;

/** Where the programs are. */
export interface Programs {
  /** etcd, the parts of Kubernetes and kubectl, by their name as the first argument. */
  readonly cluster: string;
  /** The program that holds the namespaces of a pod. */
  readonly pause: string;
}

/** Returns why Go cannot build the programs here; undefined where it can. */
export function reasonWithoutGo(): string | undefined {
  const { stdout, error } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8", env: environment("") });
  const [, major = 0, minor = 0] = /^go(\d+)\.(\d+)/.exec(stdout ?? "")?.map(Number) ?? [];
  const [, wanted = 0] = /^go 1\.(\d+)/m.exec(readSource("go.mod"))?.map(Number) ?? [];
  if (error !== undefined) return "Go is not installed";
  return major === 1 && minor >= wanted ? undefined : `needs Go 1.${wanted}; this is ${stdout.trim()}`;
}

/** Builds the programs unless they are there. @param root the checkout. @throws where Go fails, after its output */
export function buildPrograms(root: string): Programs {
  const digest = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "main.go", "pause/main.go"]) digest.update(readSource(file));
  const folder = join(root, "node_modules/.cache/toolcrib-cluster", digest.digest("hex").slice(0, 16));
  const programs = { cluster: join(folder, "cluster"), pause: join(folder, "pause") };
  mkdirSync(folder, { recursive: true });
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(readSource("go.mod"))?.[1] ?? "";
  const flags = ["component-base/version", "client-go/pkg/version"].map(
    (part) => `-X k8s.io/${part}.gitVersion=${version}`,
  );
  for (const [path, target] of [
    ["./pause", programs.pause],
    [".", programs.cluster],
  ] as const) {
    if (existsSync(target)) continue;
    console.log(`Building ${target}: minutes, the first time`);
    const args = ["build", "-trimpath", `-ldflags=-s -w ${flags.join(" ")}`, "-o", `${target}.new`, path];
    const env = environment(join(root, "node_modules/.cache/go"));
    const { status } = spawnSync("go", args, { cwd: sources, stdio: "inherit", env });
    if (status !== 0) throw new Error(`go build ${path} failed in ${sources}`);
    renameSync(`${target}.new`, target);
  }
  return programs;
}

function readSource(file: string): string {
  return readFileSync(join(sources, file), "utf8");
}

/** A cache of modules that can be deleted, no other version of Go, and programs without libraries. */
function environment(cache: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(cache === "" ? {} : { GOMODCACHE: cache }),
    GOFLAGS: "-mod=readonly -modcacherw -buildvcs=false",
    GOTOOLCHAIN: "local",
    GOWORK: "off",
    CGO_ENABLED: "0",
  };
}
