/**
 * The exits of processes with `network_egress: scoped`: for each launch a proxy
 * of its own, which the process finds in its otherwise empty network. It reaches
 * the hosts of `egress_allow` and nothing else.
 */

import type { AllowedHost, Egress, EgressCredential, EgressSource, HandedProxy } from "./egress-types.ts";
import { createRecordedEgress, type RecordedEgressContext } from "./recorded-egress.ts";
import { openSandboxExit, parseAllowedHost, type SandboxExit } from "./sandbox-exit.ts";

/** The part of a server that its exit depends on. */
interface ExitingServer {
  readonly id: string;
  readonly containment: {
    readonly effective: {
      /** Hosts, with an optional port. */
      readonly egressAllow: readonly string[];
      /** Entries of `egressAllow` whose TLS passes through without being decrypted. */
      readonly egressPassthrough: readonly string[];
    };
  };
}

/** One step of a fetch of packages, and where it may connect to. */
interface FetchStep extends Pick<EgressSource, "origins" | "via"> {
  /** The package, for the audit. */
  readonly label: string;
}

/** The only exit of the network of one step. Disposing closes it. */
interface FetchExit extends AsyncDisposable {
  /** URL of the proxy at which the step finds it. */
  readonly url: string;
  readonly takeListener: HandedProxy["takeListener"];
  /** Hosts that the step was refused. */
  readonly refused: () => readonly string[];
  readonly receivedBytes: HandedProxy["receivedBytes"];
}

/** Hosts of one fetch that are named as refused. */
const refusedMaxCount = 256;

/** Opens exits. Disposing closes all of them. */
export class ServerExits implements AsyncDisposable {
  readonly #egress: Egress;
  readonly #ids: Map<string, string>;
  /** Hosts that fetches were refused, by the ids of their exits. */
  readonly #refusals = new Map<string, Set<string>>();
  #fetchCount = 0;
  readonly #port: number;

  /**
   * @param serverIds servers whose ids are recorded without the prefix `server:`
   * @param port the port of 127.0.0.1 at which a process finds its exit
   */
  constructor(context: RecordedEgressContext, serverIds: readonly string[], port: number) {
    const ids = new Map(serverIds.map((id) => [egressIdOf(id), id]));
    this.#ids = ids;
    this.#port = port;
    this.#egress = createRecordedEgress(context, ids, ({ source, host }) => {
      const refused = this.#refusals.get(source);
      if (refused !== undefined && refused.size < refusedMaxCount) refused.add(host);
    });
  }

  /**
   * Opens the exit of one launch of `server`.
   *
   * @param credentials secrets that it inserts in place of their placeholders
   * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED`
   */
  open(
    { id, containment }: ExitingServer,
    credentials: readonly EgressCredential[] = [],
  ): Promise<SandboxExit> {
    // The configuration has checked the entries.
    const { egressAllow, egressPassthrough } = containment.effective;
    const allow = egressAllow.flatMap((entry): readonly AllowedHost[] => {
      const host = parseAllowedHost(entry, egressPassthrough.includes(entry) ? "passthrough" : undefined);
      return typeof host === "string" ? [] : [host];
    });
    return openSandboxExit(this.#egress, { id: egressIdOf(id), allow, credentials }, this.#port);
  }

  /** Records the id of another server without the prefix `server:`. */
  name(id: string): void {
    this.#ids.set(egressIdOf(id), id);
  }

  /** Forgets the id of a server that has left. */
  forget(id: string): void {
    this.#ids.delete(egressIdOf(id));
  }

  /** Opens the exit of one step of a fetch. @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED` */
  readonly openFetch = async ({ label, ...reached }: FetchStep): Promise<FetchExit> => {
    const id = `${label} (${++this.#fetchCount})`;
    const proxy = await this.#egress.openHandedProxy(
      { id, allow: [], credentials: [], ...reached },
      this.#port,
    );
    const refused = new Set<string>();
    this.#refusals.set(id, refused);
    return {
      url: proxy.url,
      takeListener: proxy.takeListener,
      refused: () => [...refused],
      receivedBytes: proxy.receivedBytes,
      [Symbol.asyncDispose]: async () => {
        this.#refusals.delete(id);
        await proxy[Symbol.asyncDispose]();
      },
    };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#egress[Symbol.asyncDispose]();
  }
}

function egressIdOf(id: string): string {
  return `server:${id}`;
}
