/**
 * The exits of tool servers with `network_egress: scoped`: for each launch a proxy
 * of its own, which the process finds in its otherwise empty network. It reaches
 * the hosts of `egress_allow` and nothing else.
 */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import {
  createEgress,
  type Egress,
  type EgressCredential,
  openSandboxExit,
  parseAllowedHost,
  type SandboxExit,
} from "@toolcrib/egress";
import type { FetchSandbox } from "@toolcrib/runners";
import { exitPort } from "@toolcrib/sandbox";
import { EgressEvents } from "../toolspecs/egress-events.ts";
import type { SourceContext } from "./open-sources.ts";

/** Opens the exit of one step of a fetch. */
type OpenFetchExit = ConstructorParameters<typeof FetchSandbox>[0]["openExit"];

/** The part of a server that its exit depends on. */
interface ExitingServer extends Pick<ToolServerConfig, "id"> {
  readonly containment: { readonly effective: Pick<ContainmentConfig, "egressAllow" | "egressPassthrough"> };
}

type ContainmentConfig = ToolServerConfig["containment"]["effective"];

interface ExitsContext
  extends Pick<SourceContext, "home" | "now" | "randomBytes" | "record" | "scrubber" | "logger"> {
  readonly config: Pick<GatewayConfig, "egress"> & {
    readonly toolServers: readonly Pick<ToolServerConfig, "id">[];
  };
}

/** Opens exits. Disposing closes all of them. */
export class ServerExits implements AsyncDisposable {
  readonly #egress: Egress;
  /** Hosts that fetches were refused, by the ids of their exits. */
  readonly #refusals = new Map<string, Set<string>>();
  #fetchCount = 0;

  constructor({ config, home, now, randomBytes, record, scrubber, logger }: ExitsContext) {
    const ids = new Map(config.toolServers.map(({ id }) => [egressIdOf(id), id]));
    const events = new EgressEvents({ ids, record, scrubber, logger });
    const { internalRanges, connectTo, caCertificates } = config.egress;
    this.#egress = createEgress(
      { internalRanges, connectTo, caCertificates },
      {
        directory: `${home}/egress`,
        now,
        randomBytes,
        onEvent: (event) => {
          this.#refusals.get(event.source)?.add(event.host);
          events.record(event);
        },
      },
    );
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
    const allow = egressAllow.flatMap((entry) => {
      const host = parseAllowedHost(entry, egressPassthrough.includes(entry) ? "passthrough" : undefined);
      return typeof host === "string" ? [] : [host];
    });
    return openSandboxExit(this.#egress, { id: egressIdOf(id), allow, credentials }, exitPort);
  }

  /** Opens the exit of one step of a fetch. @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED` */
  readonly openFetch: OpenFetchExit = async ({ label, origins, via }) => {
    const id = `${label} (${++this.#fetchCount})`;
    const proxy = await this.#egress.openHandedProxy(
      { id, allow: [], credentials: [], origins, via },
      exitPort,
    );
    const refused = new Set<string>();
    this.#refusals.set(id, refused);
    return {
      url: proxy.url,
      takeListener: proxy.takeListener,
      refused: () => [...refused],
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
