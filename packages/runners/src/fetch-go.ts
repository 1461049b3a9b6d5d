/**
 * Builds a Go program: `go install` without cgo and with the installed
 * toolchain. Go checks every module against the checksum database and records
 * versions and checksums in the program.
 */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FetchRecipe } from "./fetch-recipe.ts";
import { moduleDigestOf } from "./package-lock.ts";
import type { LockedPackage } from "./receipt.ts";
import { RunnersError } from "./runners-error.ts";

/** The recipe for Go modules. */
export const fetchGo: FetchRecipe = async (run, { folder, cache, runner, run: runStep }) => {
  const bin = join(folder, "bin");
  const [module = ""] = run.packages;
  await runStep({
    command: runner,
    // Without symbols, which only a debugger reads; versions and checksums stay.
    args: ["install", "-trimpath", "-ldflags=-s -w", module],
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
  const locked = readBuildInfo(info);
  checkModule(module, locked[0], run.record?.moduleDigest);
  return { program: join("bin", program), locked };
};

/** @throws {RunnersError} `PACKAGE_CHANGED` for a module that is not the recorded one */
function checkModule(asked: string, main: LockedPackage | undefined, recorded: string | undefined): void {
  if (recorded === undefined || moduleDigestOf(main?.integrity ?? "") === recorded) return;
  const found = main === undefined ? "no checksum" : `${main.name} ${main.version} with ${main.integrity}`;
  throw new RunnersError(
    "PACKAGE_CHANGED",
    `"${asked}" is not the module that the manifest records: its module proxy has ${found}`,
    {
      hint: "check GOPROXY; where the new one is right, record it: toolcrib lint-manifests --live MANIFEST --write",
    },
  );
}

/** Reads the modules of `go version -m`: `mod|dep PATH VERSION CHECKSUM`, and `=>` for a replaced one. */
function readBuildInfo(text: string): readonly LockedPackage[] {
  return text.split("\n").flatMap((line) => {
    const [kind, name, version, integrity] = line.trim().split(/\s+/);
    if (kind !== "mod" && kind !== "dep" && kind !== "=>") return [];
    if (name === undefined || version === undefined) return [];
    return [{ name, version, integrity: integrity ?? "" }];
  });
}
