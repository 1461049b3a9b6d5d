/**
 * The results of the tests of installed packages, and the packages that are held back because their behaviour
 * changed. Types only: `file-test-history.ts` is the engine of one machine.
 */

/** The result of one test in a run. */
export interface TestRecord {
  /** Path of its file in the package. */
  readonly path: string;
  readonly outcome: "passed" | "failed" | "error";
  readonly latencyMs: number;
  /** Digest of the members and types of the result. */
  readonly shape?: string;
  /** Why it did not pass: at most 3 lines. */
  readonly failures?: readonly string[];
}

/** A run of the tests of a package. */
export interface TestRun {
  readonly toolId: string;
  readonly version: string;
  /** Digest of the archive. */
  readonly digest: string;
  /** RFC 3339. */
  readonly at: string;
  /** The trigger of the run. */
  readonly by: "command" | "schedule";
  /** Id of the implementation that it was run on; absent where the call chose it. */
  readonly implementation?: string;
  readonly durationMs: number;
  readonly tests: readonly TestRecord[];
}

/** A package that is not used until the operator releases it. */
export interface BehaviourHold {
  readonly toolId: string;
  /** Digest of the archive: another version is not held back. */
  readonly digest: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly since: string;
}

/** Results of tests, and holds. Several processes use it at the same time. */
export interface TestHistory {
  /** Adds a run; the oldest runs of the package beyond 50 are dropped, those with the last result of a scheduled test last. @throws {StoreError} */
  add(run: TestRun): Promise<void>;
  /** The runs of a package, the oldest first. @throws {StoreError} `STORE_UNREADABLE` */
  list(toolId: string): Promise<readonly TestRun[]>;
  /** Holds a package back; a hold of the same package is replaced. @throws {StoreError} */
  hold(hold: BehaviourHold): Promise<void>;
  /** The packages that are held back, by toolId. @throws {StoreError} `STORE_UNREADABLE` */
  holds(): Promise<ReadonlyMap<string, BehaviourHold>>;
  /** Ends a hold. @returns whether there was one. @throws {StoreError} */
  release(toolId: string): Promise<boolean>;
  /**
   * Takes the right to run scheduled tests, which one process has at a time.
   *
   * @returns the right, held until disposed; undefined while another process has it. @throws {StoreError}
   */
  takeSchedule(): Promise<Disposable | undefined>;
}
