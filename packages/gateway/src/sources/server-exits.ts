/**
 * The exits of tool servers with `network_egress: scoped`: for each launch a proxy
 * of its own, which the process finds in its otherwise empty network. It reaches
 * the hosts of `egress_allow` and nothing else.
 */

import type { ToolServerConfig } from "@toolcrib/config";
import {
  type AllowedHost,
  createEgress,
  type Egress,
  type HandedProxy,
  proxyVariables,
} from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import { parseHostPattern } from "@toolcrib/hosts";
import { exitPort } from "@toolcrib/sandbox";
import { EgressEvents } from "../toolspecs/egress-events.ts";
import type { SourceContext } from "./open-sources.ts";

/** One exit, and what the process needs to use it. Disposing closes it. */
export interface ServerExit extends AsyncDisposable {
  /** Variables for the process, by their names. */
  readonly variables: { readonly [name: string]: string };
  /** Certificates of the proxy, by the paths that the variables name. */
  readonly files: ReadonlyMap<string, string>;
  readonly takeListener: HandedProxy["takeListener"];
}

/** Certificates in the sandbox of a server. */
const caFile = "/etc/toolcrib/ca.pem";
const caBundleFile = "/etc/toolcrib/ca-bundle.pem";

const caFileMaxBytes = 4 * 1024 * 1024;

/** Opens exits. Disposing closes all of them. */
export class ServerExits implements AsyncDisposable {
  readonly #egress: Egress;

  constructor({ config, home, now, randomBytes, record, scrubber, logger }: SourceContext) {
    const ids = new Map(config.toolServers.map(({ id }) => [egressIdOf(id), id]));
    const events = new EgressEvents({ ids, record, scrubber, logger });
    const { internalRanges, connectTo, caCertificates } = config.egress;
    this.#egress = createEgress(
      { internalRanges, connectTo, caCertificates },
      { directory: `${home}/egress`, now, randomBytes, onEvent: (event) => events.record(event) },
    );
  }

  /** Opens the exit of one launch of `server`. @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED` */
  async open({ id, containment }: ToolServerConfig): Promise<ServerExit> {
    const allow = containment.effective.egressAllow.flatMap(allowedHost);
    const proxy = await this.#egress.openHandedProxy(
      { id: egressIdOf(id), allow, credentials: [] },
      exitPort,
    );
    try {
      return {
        variables: proxyVariables({ url: proxy.url, caFile, caBundleFile }),
        files: new Map([
          [caFile, await readText(proxy.caFile)],
          [caBundleFile, await readText(proxy.caBundleFile)],
        ]),
        takeListener: proxy.takeListener,
        [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
      };
    } catch (error) {
      await proxy[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#egress[Symbol.asyncDispose]();
  }
}

function egressIdOf(id: string): string {
  return `server:${id}`;
}

/** Reads an entry of `egress_allow`: a host pattern, optionally with a port. The configuration has checked it. */
function allowedHost(entry: string): readonly AllowedHost[] {
  const [name = "", port] = entry.split(":");
  const pattern = parseHostPattern(name.toLowerCase());
  if (pattern.kind === "invalid") return [];
  return [port === undefined ? pattern.value : { ...pattern.value, ports: [Number(port)] }];
}

async function readText(path: string): Promise<string> {
  return new TextDecoder().decode((await readRegularFile(path, caFileMaxBytes)).bytes);
}
