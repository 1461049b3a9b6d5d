/** Exits of fetches, served by a real egress as the gateway does. */

import { randomBytes } from "node:crypto";
import { createEgress, type Egress } from "@toolcrib/egress";
import type { FetchSandbox } from "@toolcrib/runners";
import { exitPort } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

type OpenExit = ConstructorParameters<typeof FetchSandbox>[0]["openExit"];
type FetchExitRequest = Parameters<OpenExit>[0];

/** Opens exits. Disposing closes all of them. */
export class TestExits implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly #egress: Egress;
  readonly #refused: string[] = [];
  /** The exits that fetches asked for, each with the hosts that it allows. */
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

  async open(request: FetchExitRequest): ReturnType<OpenExit> {
    this.requests.push(request);
    const id = `${request.label} ${this.requests.length}`;
    const source = { id, allow: [], credentials: [], origins: request.origins, via: request.via };
    const proxy = await this.#egress.openHandedProxy(source, exitPort);
    const before = this.#refused.length;
    return { ...proxy, refused: () => this.#refused.slice(before) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#egress[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}
