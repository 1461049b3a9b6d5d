/**
 * Builds a Go program: `go install` without cgo and with the installed
 * toolchain. Go checks every module against the checksum database and records
 * versions and checksums in the program.
 */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FetchRecipe } from "./fetch-recipe.ts";
import type { LockedPackage } from "./receipt.ts";
import { RunnersError } from "./runners-error.ts";

/** The recipe for Go modules. */
export const fetchGo: FetchRecipe = async (run, { folder, cache, runner, run: runStep }) => {
  const bin = join(folder, "bin");
  const [module = ""] = run.packages;
  await runStep({
    command: runner,
    args: ["install", "-trimpath", module],
    env: {
      GOBIN: bin,
      GOPATH: join(cache, "path"),
      GOCACHE: join(cache, "build"),
      GOTMPDIR: cache,
      GOFLAGS: "-modcacherw",
      CGO_ENABLED: "0",
      GOTOOLCHAIN: "local",
    },
  });
  const [program] = await readdir(bin);
  if (program === undefined) {
    throw new RunnersError("RUNNER_COMMAND_INVALID", `"${module}" is not a program`, {
      hint: "name the package with its main function, such as example.com/module/cmd/server@v1.2.3",
    });
  }
  const info = await runStep({
    command: runner,
    args: ["version", "-m", join(bin, program)],
    isLocal: true,
  });
  return { program: join("bin", program), locked: readBuildInfo(info) };
};

/** Reads the modules of `go version -m`: `mod|dep PATH VERSION CHECKSUM`, and `=>` for a replaced one. */
function readBuildInfo(text: string): readonly LockedPackage[] {
  return text.split("\n").flatMap((line) => {
    const [kind, name, version, integrity] = line.trim().split(/\s+/);
    if (kind !== "mod" && kind !== "dep" && kind !== "=>") return [];
    if (name === undefined || version === undefined) return [];
    return [{ name, version, integrity: integrity ?? "" }];
  });
}
