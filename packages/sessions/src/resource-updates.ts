/**
 * The resource updates that one client still has to get. A server can report
 * changes without end; an update only says that the resource is to be read again,
 * so one of a URI stands for all before it. The first is sent at once, later ones
 * at most every 100 ms, each URI once, and none is lost.
 */

/** Pause between two groups of updates, in milliseconds. @limit client */
const pauseMs = 100;
/** Updates of one group. @limit client */
const groupMaxCount = 100;
/** URIs that wait. Beyond it the watched URI stands for its parts. @limit client */
const waitingMaxCount = 1000;

/** Dependencies of `ResourceUpdates`. */
export interface ResourceUpdatesDeps {
  /** Sends the update of a URI. */
  readonly send: (uri: string) => void;
  /** Counts a message to the client. @returns whether it may be sent now */
  readonly allows: () => boolean;
  /** Aborts when the client is gone. */
  readonly closed: AbortSignal;
}

/** The updates of one session or stream. */
export class ResourceUpdates {
  readonly #deps: ResourceUpdatesDeps;
  readonly #waiting = new Set<string>();
  #pause: NodeJS.Timeout | undefined;

  constructor(deps: ResourceUpdatesDeps) {
    this.#deps = deps;
    deps.closed.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** Sends the update of `changed`, which is `watched` or a part of it, now or after a pause. */
  add(changed: string, watched: string): void {
    if (this.#deps.closed.aborted) return;
    this.#waiting.add(this.#waiting.size < waitingMaxCount ? changed : watched);
    if (this.#pause === undefined) this.#sendGroup();
  }

  #sendGroup(): void {
    let count = 0;
    for (const uri of this.#waiting) {
      if (count >= groupMaxCount || !this.#deps.allows()) break;
      this.#waiting.delete(uri);
      this.#deps.send(uri);
      count += 1;
    }
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#waiting.size > 0) this.#sendGroup();
    }, pauseMs);
    this.#pause.unref();
  }

  #end(): void {
    clearTimeout(this.#pause);
    this.#waiting.clear();
  }
}
