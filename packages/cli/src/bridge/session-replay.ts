/**
 * What a client of the legacy era agreed with its server, kept so that a session can be opened again at another
 * gateway: the handshake, the level of its log and its subscriptions. The client does not notice it.
 */

import type { HttpTransport } from "@toolcrib/mcp";

type Message = Parameters<HttpTransport["send"]>[0];
type Id = string | number;

/** Most subscriptions that are kept. */
const subscriptionsMaxCount = 1000;
/** Ids of the requests that are sent again. No client has such an id. */
const idPrefix = "toolcrib-bridge-";

/** The state of one client's session. */
export class SessionReplay {
  #initialize: Message | undefined;
  #initialized: Message | undefined;
  #logLevel: Message | undefined;
  readonly #subscriptions = new Map<string, Message>();
  readonly #open = new Map<Id, PromiseWithResolvers<unknown>>();
  #count = 0;

  /** Whether the client has finished its handshake. */
  get isOpen(): boolean {
    return this.#initialized !== undefined;
  }

  /** Notes a message of the client. */
  sent(message: Message): void {
    const { method, params } = message as {
      readonly method?: string;
      readonly params?: { readonly uri?: unknown };
    };
    const uri = typeof params?.uri === "string" ? params.uri : "";
    if (method === "initialize") this.#initialize = message;
    else if (method === "notifications/initialized") this.#initialized = message;
    else if (method === "logging/setLevel") this.#logLevel = message;
    else if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    else if (method === "resources/subscribe" && this.#subscriptions.size < subscriptionsMaxCount) {
      this.#subscriptions.set(uri, message);
    }
  }

  /** Opens the session again on `transport`. Does nothing for a client without one. @throws when the gateway refuses it */
  async run(transport: HttpTransport): Promise<void> {
    if (this.#initialize === undefined || this.#initialized === undefined) return;
    const result = (await this.#request(transport, this.#initialize)) as {
      readonly protocolVersion?: unknown;
    };
    if (typeof result?.protocolVersion === "string") transport.negotiated(result.protocolVersion);
    transport.send(this.#initialized);
    await transport.settled();
    const later = [
      ...(this.#logLevel === undefined ? [] : [this.#logLevel]),
      ...this.#subscriptions.values(),
    ];
    // One that fails now is as one whose resource is gone.
    await Promise.allSettled(later.map((message) => this.#request(transport, message)));
  }

  /** Whether a message answers a request of this object; then the client must not see it. */
  received(message: { readonly id?: Id; readonly method?: string; readonly result?: unknown }): boolean {
    const waiting =
      message.method === undefined && message.id !== undefined ? this.#open.get(message.id) : undefined;
    if (waiting === undefined || message.id === undefined) return false;
    this.#open.delete(message.id);
    if ("error" in message) waiting.reject(new Error("the gateway refuses the session"));
    else waiting.resolve(message.result);
    return true;
  }

  /** Whether a failed request is one of this object. */
  failed(id: Id, error: Error): boolean {
    const waiting = this.#open.get(id);
    this.#open.delete(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  #request(transport: HttpTransport, message: Message): Promise<unknown> {
    this.#count += 1;
    const id = `${idPrefix}${this.#count}`;
    const waiting = Promise.withResolvers<unknown>();
    this.#open.set(id, waiting);
    transport.send({ ...message, id } as Message);
    return waiting.promise;
  }
}
