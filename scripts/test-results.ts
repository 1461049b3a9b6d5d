/** The results of a run of tests by file, and how a second run of some files changes them. */

/** The counts of one file. */
interface FileResults {
  skipped: number;
  /** Titles of the tests that passed. */
  readonly passed: string[];
  /** Titles of the tests that failed. */
  readonly failed: string[];
}

/** Where tests are counted that belong to no single file, such as a process that ended while it ran several. */
const noFile = "";

/** The results of a run, by file. */
export class TestResults {
  readonly #files: Map<string, FileResults>;

  /** @param written what `toJSON` returned; without it, the results of a run that begins */
  constructor(written: { readonly [file: string]: FileResults } = {}) {
    this.#files = new Map(Object.entries(written));
  }

  /** @param file path from the root of the repository; undefined where the test belongs to no single file */
  addPassed(file: string | undefined, title: string): void {
    this.#of(file).passed.push(title);
  }

  addSkipped(file: string | undefined): void {
    this.#of(file).skipped += 1;
  }

  addFailed(file: string | undefined, title: string): void {
    this.#of(file).failed.push(title);
  }

  /** The titles of all tests that failed. */
  get failed(): readonly string[] {
    return [...this.#files.values()].flatMap(({ failed }) => failed);
  }

  /** The last line of a report. */
  get counts(): string {
    const files = [...this.#files.values()];
    const sum = (count: (file: FileResults) => number) => files.reduce((all, file) => all + count(file), 0);
    return `${sum(({ passed }) => passed.length)} passed, ${sum(({ failed }) => failed.length)} failed, ${sum(({ skipped }) => skipped)} skipped`;
  }

  /**
   * The files in which a test failed, where they can run again: undefined where none failed, or where a process ended
   * with tests that have not run and are not known.
   */
  get filesToRepeat(): readonly string[] | undefined {
    const files = [...this.#files].filter(([, { failed }]) => failed.length > 0).map(([file]) => file);
    return files.length === 0 || files.includes(noFile) ? undefined : files;
  }

  /**
   * Replaces the results of the files of `second`, and returns the titles that failed here and passed there. What failed here
   * and did not run there, or was skipped, has failed.
   */
  replaceWith(second: TestResults): readonly string[] {
    const unsteady: string[] = [];
    for (const [file, results] of second.#files) {
      for (const title of this.#files.get(file)?.failed ?? []) {
        if (results.passed.includes(title)) unsteady.push(title);
        else if (!results.failed.includes(title)) results.failed.push(title);
      }
      this.#files.set(file, results);
    }
    return unsteady;
  }

  toJSON(): object {
    return Object.fromEntries(this.#files);
  }

  #of(file = noFile): FileResults {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const results = { skipped: 0, passed: [], failed: [] };
    this.#files.set(file, results);
    return results;
  }
}
