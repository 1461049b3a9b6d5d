/** Exits of fetches, served by a real egress as the gateway does. */

import { randomBytes } from "node:crypto";
import { createEgress, type Egress, openFetchExit } from "@toolcrib/egress";
import type { FetchExit, FetchExitRequest } from "@toolcrib/runners";
import { exitPort } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

/** Opens exits. Disposing closes all of them. */
export class TestExits implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly #egress: Egress;
  readonly #refused: string[] = [];
  /** What fetches were allowed to reach. */
  readonly requests: FetchExitRequest[] = [];

  constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    this.#egress = createEgress(
      {},
      {
        directory: directory.join("egress"),
        now: Date.now,
        randomBytes,
        onEvent: ({ host }) => void this.#refused.push(host),
      },
    );
  }

  static async create(): Promise<TestExits> {
    return new TestExits(await makeTemporaryDirectory());
  }

  async open(request: FetchExitRequest): Promise<FetchExit> {
    this.requests.push(request);
    const id = `${request.label} ${this.requests.length}`;
    const proxy = await openFetchExit(this.#egress, { id, ...request }, exitPort);
    const before = this.#refused.length;
    return { ...proxy, refused: () => this.#refused.slice(before) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#egress[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}
