/**
 * Runs the test data of go.starlark.net against `packages/starlark`, as a step of
 * `npm run verify`. The Go command downloads the module at a pinned version
 * through the Go module proxy into `node_modules/.cache` and verifies it against
 * the public checksum database; this script compares its sum as well. Nothing of
 * the module is built or executed by Go. Without Go or without its proxy, the
 * suite is skipped with the reason; another sum is a failure.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

const suite = {
  module: "go.starlark.net@v0.0.0-20260908191801-89a6a09411d5",
  sum: "h1:X8HyonnLxrmAbdeMIEGEJVZ/yg6WykLZyAZmpCLSfMA=",
};

process.exitCode = verifyStarlark();

function verifyStarlark(): number {
  if (spawnSync("go", ["version"]).error !== undefined) {
    console.log(`skipped ${suite.module}: no Go command to download it\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const { Dir: folder, Sum: sum, Error: error } = download();
  if (folder === undefined || sum === undefined) {
    console.log(`skipped ${suite.module}: ${error}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  if (sum !== suite.sum) {
    console.log(`${suite.module} has the sum "${sum}"\n0 passed, 1 failed, 0 skipped`);
    return 1;
  }
  const { status } = spawnSync(
    process.execPath,
    ["--conditions=toolcrib-source", "packages/starlark/conformance/main.ts", "--suite", folder],
    { cwd: root, stdio: "inherit" },
  );
  return status ?? 1;
}

/** Members of the output of `go mod download -json`. */
interface Download {
  readonly Dir?: string;
  readonly Sum?: string;
  readonly Error?: string;
}

function download(): Download {
  const { stdout, stderr } = spawnSync("go", ["mod", "download", "-json", suite.module], {
    // Outside of a Go module. A module cache that can be deleted, and no other version of Go.
    cwd: root,
    encoding: "utf8",
    timeout: 120_000,
    env: {
      ...process.env,
      GOMODCACHE: join(root, "node_modules/.cache/go"),
      GOFLAGS: "-modcacherw",
      GOTOOLCHAIN: "local",
    },
  });
  // The output is empty when the command fails before the download.
  return stdout === ""
    ? { Error: stderr.trim() || "go mod download printed nothing" }
    : (JSON.parse(stdout) as Download);
}
