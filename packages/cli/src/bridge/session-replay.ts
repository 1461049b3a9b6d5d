/**
 * The agreement of a client of the legacy era with its server, kept so that a session can be opened again at another
 * gateway: the handshake, the level of its log and its subscriptions. The client does not notice it.
 */

import type { HttpTransport } from "@toolcrib/mcp";
import { type ClientMessage, paramsIn } from "./client-message.ts";
import type { OwnRequest, OwnRequests } from "./own-requests.ts";

/** Most subscriptions that are kept. */
const subscriptionsMaxCount = 1000;
/** Longest message of the client that is kept, in bytes. */
const keptMaxBytes = 16 * 1024;

/** The state of one client's session. */
export class SessionReplay {
  /** As bytes: its parameters, parsed, can take ten times their memory. */
  #initialize: ClientMessage | undefined;
  #isInitialized = false;
  #logLevel: OwnRequest | undefined;
  readonly #subscriptions = new Map<string, OwnRequest>();

  /** Whether the client has finished its handshake. */
  get isOpen(): boolean {
    return this.#isInitialized;
  }

  /** Notes a message of the client. */
  sent(message: ClientMessage): void {
    const { method = "", body } = message;
    if (method === "notifications/initialized") this.#isInitialized = true;
    if (!keptMethods.has(method)) return;
    if (method === "initialize") {
      this.#initialize = message;
      return;
    }
    const params = paramsIn(message);
    const request = { method, params };
    const { uri } = params;
    if (method === "logging/setLevel" && body.length <= keptMaxBytes) this.#logLevel = request;
    // Any other value is refused by the gateway.
    if (typeof uri !== "string") return;
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    else if (method !== "resources/subscribe" || body.length > keptMaxBytes) return;
    else if (this.#subscriptions.size < subscriptionsMaxCount) this.#subscriptions.set(uri, request);
  }

  /** Opens the session again on `transport`. Does nothing for a client without one. @throws when the gateway refuses it */
  async run(transport: HttpTransport, requests: OwnRequests): Promise<void> {
    if (this.#initialize === undefined || !this.#isInitialized) return;
    const handshake = { method: "initialize", params: paramsIn(this.#initialize) };
    const { protocolVersion } = await requests.send(transport, handshake);
    if (typeof protocolVersion === "string") transport.negotiated(protocolVersion);
    transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await transport.settled();
    const later = [
      ...(this.#logLevel === undefined ? [] : [this.#logLevel]),
      ...this.#subscriptions.values(),
    ];
    // One that fails now is as one whose resource is gone.
    await Promise.allSettled(later.map((request) => requests.send(transport, request)));
  }
}

const keptMethods: ReadonlySet<string> = new Set([
  "initialize",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);
