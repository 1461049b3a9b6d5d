/**
 * The packages that servers launch through `npx`, `uvx` and `go run`. Each is
 * fetched once, in a sandbox, without scripts of its own; the whole tree is
 * recorded with integrity values; from then on its program is started from disk,
 * and no start fetches anything. To use newer versions, the operator removes a package.
 *
 * One folder holds all packages; gateways that share it take turns by locks.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { makePrivateDirectory, readRegularFile, replaceFile, tryLock, waitForLock } from "@toolcrib/files";
import { abortable } from "@toolcrib/lifecycle";
import type { SpawnRequest } from "@toolcrib/process";
import { FetchFailures } from "./fetch-failures.ts";
import { fetchGo } from "./fetch-go.ts";
import { fetchNpm } from "./fetch-npm.ts";
import { fetchPython } from "./fetch-python.ts";
import { cacheName, type FetchRecipe, type FetchWorkplace } from "./fetch-recipe.ts";
import type { FetchSandbox } from "./fetch-sandbox.ts";
import { readFileTree, treeLimits } from "./file-tree.ts";
import { lockMaxLength, moduleDigestOf, type PackageRecord, readNpmLock } from "./package-lock.ts";
import { type PackageKind, type PackageRun, readPackageRun } from "./package-run.ts";
import { describeVersions, type Receipt, readReceipt, receiptName } from "./receipt.ts";
import { RunnersError } from "./runners-error.ts";

/** Dependencies of the store. */
export interface PackageStoreDeps {
  /** Folder of all packages; created when it is needed. */
  readonly folder: string;
  /** Runs the tools that fetch. */
  readonly sandbox: Pick<FetchSandbox, "at">;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A request that starts the program of a fetched package. */
export interface PackageRequest {
  readonly request: SpawnRequest;
  /** The folder that the program needs to read. */
  readonly folder: string;
}

/** A fetched package and its folder. */
export interface StoredPackage {
  /** Name of its folder. */
  readonly key: string;
  readonly receipt: Receipt;
  /** The packages with their versions: `@scope/name 1.2.3`. */
  readonly shown: string;
}

/** A fetch in progress. */
interface RunningFetch {
  readonly fetched: Promise<Receipt>;
  /** Returns the bytes that it got so far; undefined while it waits for other fetches. */
  receivedBytes(): number | undefined;
}

const recipes: { readonly [kind in PackageKind]: FetchRecipe } = {
  npm: fetchNpm,
  python: fetchPython,
  go: fetchGo,
};

/** Bytes of all packages together. */
const totalMaxBytes = 20 * 1024 ** 3;
/** Milliseconds that one gateway waits for the fetch of another. */
const lockMaxMs = 3_600_000;
/** Milliseconds between two attempts to take over from another gateway. */
const lockPollMs = 50;
/** Milliseconds that one waits to create or remove a folder. */
const placesLockMaxMs = 60_000;
/** Fetches at a time. */
const fetchesMaxCount = 2;

/** Fetched packages in one folder. */
export class PackageStore {
  readonly #deps: PackageStoreDeps;
  readonly #fetching = new Map<string, RunningFetch>();
  readonly #failures = new FetchFailures();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(deps: PackageStoreDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the request that starts the program which `request` would fetch and start; fetches it when it is not there.
   *
   * @param options `signal` ends the waiting, and not the fetch: the next attempt finds it done. With `record`, exactly
   *   what a manifest records is fetched, and a program that a project has installed is not used in its place.
   *   `onFetch` is called when the package must be fetched, with a function that returns the bytes so far, or undefined
   *   while it waits for other fetches.
   * @returns undefined when the program of `request` is no package runner, or runs something local.
   * @throws {RunnersError}
   */
  async toRequest(
    request: SpawnRequest,
    {
      signal,
      record,
      onFetch,
    }: {
      readonly signal: AbortSignal;
      readonly record?: PackageRecord | undefined;
      readonly onFetch?: (receivedBytes: RunningFetch["receivedBytes"]) => void;
    },
  ): Promise<PackageRequest | undefined> {
    const named = readPackageRun(request.program, request.args);
    if (named === undefined) return undefined;
    const run = record === undefined ? named : { ...named, record };
    const local = record === undefined ? localProgram(run, request.directory ?? "/") : undefined;
    if (local !== undefined) {
      return { request: { ...request, program: local, args: run.args }, folder: dirname(dirname(local)) };
    }
    const place = this.#placeOf(keyOf(run));
    const receipt =
      (await readReceipt(place)) ?? (await this.#waitFor(run, this.#fetch(run, request, onFetch), signal));
    const folder = join(place, receipt.folder);
    const program = join(folder, receipt.program);
    if (!existsSync(program)) {
      throw new RunnersError("PACKAGE_CHANGED", `The program of ${describeVersions(receipt)} is missing`, {
        hint: `run toolcrib fetched remove ${keyOf(run)}; the next start fetches it again`,
      });
    }
    return { request: { ...request, program, args: run.args }, folder };
  }

  /** Returns all fetched packages, by name. */
  async list(): Promise<readonly StoredPackage[]> {
    const names: readonly string[] = await readdir(this.#deps.folder).catch(() => []);
    const found: StoredPackage[] = [];
    for (const key of names.toSorted()) {
      const receipt = await readReceipt(this.#placeOf(key));
      if (receipt !== undefined) found.push({ key, receipt, shown: describeVersions(receipt) });
    }
    return found;
  }

  /** Compares the files of a package with those that were fetched. @throws {RunnersError} `PACKAGE_CHANGED` */
  async verify({ key, receipt, shown }: StoredPackage): Promise<void> {
    const { digest } = await readFileTree(join(this.#placeOf(key), receipt.folder), receipt.links);
    if (digest === receipt.treeDigest) return;
    throw new RunnersError("PACKAGE_CHANGED", `The files of ${shown} are not those that were fetched`, {
      hint: `run toolcrib fetched remove ${key}; the next start fetches it again`,
    });
  }

  /**
   * Returns what a manifest records to get a package again: its lock, or the SHA-256 of its Go module.
   *
   * @throws {RunnersError} `PACKAGE_UNLOCKED`
   */
  async recordOf({ key, receipt }: StoredPackage): Promise<PackageRecord> {
    const { kind, locked, folder } = receipt;
    if (kind === "go") return { moduleDigest: moduleDigestOf(locked[0]?.integrity ?? "") };
    const name = kind === "npm" ? "package-lock.json" : "requirements.txt";
    const { bytes } = await readRegularFile(join(this.#placeOf(key), folder, name), lockMaxLength);
    const text = new TextDecoder().decode(bytes);
    return { lock: kind === "npm" ? readNpmLock(text).text : text };
  }

  /** Removes a package. Its next start fetches it again, in the versions of that day. */
  async remove({ key }: StoredPackage): Promise<void> {
    await rm(this.#placeOf(key), { recursive: true, force: true });
  }

  #placeOf(key: string): string {
    return join(this.#deps.folder, key);
  }

  async #waitFor(run: PackageRun, fetched: Promise<Receipt>, signal: AbortSignal): Promise<Receipt> {
    try {
      return await abortable(fetched, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      fetched.catch(() => {
        // The next attempt reports it.
      });
      throw new RunnersError("PACKAGE_FETCHING", `${run.packages.join(", ")} is still being fetched`, {
        hint: "the server starts when it is there",
      });
    }
  }

  /** Joins the fetch of the same package that runs, or begins one. */
  #fetch(
    run: PackageRun,
    { program }: SpawnRequest,
    onFetch: ((receivedBytes: RunningFetch["receivedBytes"]) => void) | undefined,
  ): Promise<Receipt> {
    const key = keyOf(run);
    const fetching = this.#fetching.get(key) ?? this.#startFetch(key, run, program);
    onFetch?.(fetching.receivedBytes);
    return fetching.fetched;
  }

  #startFetch(key: string, run: PackageRun, program: string): RunningFetch {
    this.#failures.check(key, this.#deps.now());
    let workplace: FetchWorkplace | undefined;
    const work = () =>
      this.#fetchNow(run, program, (begun) => {
        workplace = begun;
      });
    const fetched = this.#inTurn(work).finally(() => {
      this.#fetching.delete(key);
    });
    fetched.then(
      () => this.#failures.forget(key),
      (error: unknown) => this.#failures.add(key, error, this.#deps.now()),
    );
    const fetching = { fetched, receivedBytes: () => workplace?.receivedBytes() };
    this.#fetching.set(key, fetching);
    return fetching;
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running >= fetchesMaxCount) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #fetchNow(
    run: PackageRun,
    runner: string,
    onBegin: (workplace: FetchWorkplace) => void,
  ): Promise<Receipt> {
    const { folder: all, logger, now } = this.#deps;
    const place = this.#placeOf(keyOf(run));
    await makePrivateDirectory(all);
    using lock = await this.#takePlace(place);
    if (lock === undefined) {
      throw new RunnersError("PACKAGE_FETCHING", `Another gateway is fetching ${run.packages.join(", ")}`);
    }
    const before = await readReceipt(place);
    if (before !== undefined) return before;
    const startedAt = now();
    try {
      await this.#checkTotal();
      const name = await nextFolder(place);
      const folder = join(place, name);
      await mkdir(folder, { mode: 0o755 });
      logger.info({ packages: run.packages }, "package.fetching");
      const workplace = this.#deps.sandbox.at(run, folder, runner);
      onBegin(workplace);
      const fetched = await recipes[run.kind](run, workplace);
      const { program, locked, links = [] } = fetched;
      await rm(join(folder, cacheName), { recursive: true, force: true });
      const { digest: treeDigest, files, bytes } = await readFileTree(folder, links);
      const { kind, packages, command, python } = run;
      const recorded = recordedDigest(run.record);
      const receipt: Receipt = {
        version: 1,
        ...{ kind, packages, command, python, locked, folder: name, program },
        ...(recorded === undefined ? {} : { recorded }),
        ...{ links, treeDigest, files, bytes },
        fetchedAt: now(),
      };
      await replaceFile(this.#deps, join(place, receiptName), `${JSON.stringify(receipt, null, 1)}\n`);
      const fields = { packages: describeVersions(receipt), dependencies: locked.length, files, bytes };
      logger.info({ ...fields, durationMs: now() - startedAt }, "package.fetched");
      return receipt;
    } catch (error) {
      await this.#dropPlace(place, lock).catch((cause: unknown) => {
        logger.warn({ place, reason: messageOf(cause) }, "package.cleanup.failed");
      });
      // The server that needs it reports the reason as its own, once.
      logger.info({ packages: run.packages, reason: messageOf(error) }, "package.fetch.failed");
      throw error;
    }
  }

  /** Creates the folder of a package and locks it for one fetch; undefined where another gateway has it for too long. */
  async #takePlace(place: string): Promise<Disposable | undefined> {
    const deadline = AbortSignal.timeout(lockMaxMs);
    for (;;) {
      {
        using _places = await this.#lockPlaces();
        await mkdir(place, { recursive: true, mode: 0o755 });
        const lock = tryLock(place, "fetch", "exclusive");
        if (lock !== undefined || deadline.aborted) return lock;
      }
      await delay(lockPollMs);
    }
  }

  /** Removes the folder of a package that could not be fetched, with its lock, which nobody else can take meanwhile. */
  async #dropPlace(place: string, lock: Disposable): Promise<void> {
    using _places = await this.#lockPlaces();
    lock[Symbol.dispose]();
    await rm(place, { recursive: true, force: true });
  }

  /** Only its holder creates and removes folders of packages, and takes their locks. */
  async #lockPlaces(): Promise<Disposable> {
    const lock = await waitForLock(this.#deps.folder, ".places", placesLockMaxMs);
    if (lock !== undefined) return lock;
    throw new RunnersError("PACKAGE_FETCHING", "Another gateway changes the folder of fetched packages");
  }

  /** @throws {RunnersError} `PACKAGE_TOO_LARGE` */
  async #checkTotal(): Promise<void> {
    const used = (await this.list()).reduce((sum, { receipt }) => sum + receipt.bytes, 0);
    if (used + treeLimits.bytes <= totalMaxBytes) return;
    throw new RunnersError(
      "PACKAGE_TOO_LARGE",
      `The fetched packages have ${used} bytes; all together may have ${totalMaxBytes}`,
      { hint: "remove those that no server uses: toolcrib fetched list, toolcrib fetched remove NAME" },
    );
  }
}

/** Removes what earlier fetches left, and returns the name of a new folder. */
async function nextFolder(place: string): Promise<string> {
  const names = (await readdir(place)).filter((name) => /^v\d+$/.test(name));
  const numbers = names.map((name) => Number(name.slice(1)));
  for (const name of names) await rm(join(place, name), { recursive: true, force: true });
  return `v${Math.max(0, ...numbers) + 1}`;
}

/** The program of the project in `directory` that npx would run without fetching. */
function localProgram({ kind, packages, command }: PackageRun, directory: string): string | undefined {
  const name = command ?? packages[0] ?? "";
  if (kind !== "npm" || !/^[\w.~-]+$/.test(name)) return undefined;
  for (let folder = directory; ; folder = dirname(folder)) {
    const program = join(folder, "node_modules", ".bin", name);
    if (existsSync(program)) return program;
    if (existsSync(join(folder, "package.json")) || folder === dirname(folder)) return undefined;
  }
}

/** The name of the folder of a package: readable, and different for everything that is fetched differently. */
function keyOf({ kind, packages, command, python, record }: PackageRun): string {
  const facts = JSON.stringify([
    kind,
    packages,
    command ?? null,
    python ?? null,
    process.platform,
    process.arch,
    ...(record === undefined ? [] : [recordedDigest(record)]),
  ]);
  const digest = createHash("sha256").update(facts).digest("hex").slice(0, 10);
  const name = (packages[0] ?? "").replace(/[^A-Za-z0-9.]+/g, "-").replace(/^-|-$/g, "");
  return `${kind}-${name.slice(0, 60)}-${digest}`;
}

/** SHA-256 of what a manifest records, in hexadecimal digits; `none` where it records nothing, undefined without one. */
function recordedDigest(record: PackageRecord | undefined): string | undefined {
  if (record === undefined) return undefined;
  if (record.lock === undefined) return record.moduleDigest ?? "none";
  return createHash("sha256").update(record.lock).digest("hex");
}
