/**
 * The connections of one bridge: the current one, and those that it left because their gateway ends or forgot the
 * session. One that was left stays open until the last request on it is answered, and is then closed.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { type HttpTransport, McpError, type RpcId } from "@toolcrib/mcp";
import type { CliContext } from "../cli-context.ts";
import { type BridgeFlags, createGatewayLink, type GatewayLink, hasMoved } from "./gateway-link.ts";
import { mayPass } from "./lost-request.ts";

/** The bridge, as its connections see it. */
export interface LinksOwner {
  /** Returns when the client takes more messages; undefined while it does. */
  whenTaken(): Promise<void> | undefined;
  fromGateway(transport: HttpTransport, value: JsonObject, relatedTo: RpcId | undefined): void;
  failed(transport: HttpTransport, id: RpcId, error: McpError): void;
  /** The session of a connection has ended; requests on it get no answer any more. */
  closed(transport: HttpTransport, error: McpError): void;
  /** Opens the session of the client on a new connection. @throws */
  reopen(transport: HttpTransport): Promise<void>;
  /** Whether requests on a connection have no answer. */
  isInUse(transport: HttpTransport): boolean;
  /** A connection that was left is closed now. */
  released(transport: HttpTransport): void;
  note(text: string): void;
  debug(text: string): void;
}

/** Milliseconds after a failed start in which requests fail at once. */
const restMs = 2000;

/** The connections of one client. */
export class GatewayLinks implements AsyncDisposable {
  readonly #context: CliContext;
  readonly #flags: BridgeFlags;
  readonly #owner: LinksOwner;
  readonly #closing = new AbortController();
  readonly #left = new Set<GatewayLink>();
  #current: GatewayLink | undefined;
  #connecting: Promise<GatewayLink> | undefined;
  /** The connection whose session is being opened; it is not closed meanwhile. */
  #opening: GatewayLink | undefined;
  #failure: { readonly error: unknown; readonly at: number } | undefined;

  constructor(context: CliContext, flags: BridgeFlags, owner: LinksOwner) {
    this.#context = context;
    this.#flags = flags;
    this.#owner = owner;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    // One that is being made is closed, too.
    await this.#connecting?.catch(() => {});
    const links = [...(this.#current === undefined ? [] : [this.#current]), ...this.#left];
    this.#current = undefined;
    this.#left.clear();
    await Promise.all(links.map((link) => link[Symbol.asyncDispose]()));
  }

  /** All that are not closed. */
  get open(): readonly HttpTransport[] {
    const left = [...this.#left].map(({ transport }) => transport);
    return this.#current === undefined ? left : [this.#current.transport, ...left];
  }

  isCurrent(transport: HttpTransport): boolean {
    return this.#current?.transport === transport;
  }

  /**
   * Calls `act` with the connection to the gateway that runs now, at a moment at which it is open.
   *
   * @param isFirst whether the client itself opens the session next
   * @throws {CliError} when there is no gateway; the error by which a new one refused the session
   */
  async use<Result>(isFirst: boolean, act: (transport: HttpTransport) => Result): Promise<Result> {
    for (;;) {
      const link = await this.#connected(isFirst);
      // It can have been left meanwhile.
      if (link === this.#current) return act(link.transport);
    }
  }

  /** Leaves a connection. @returns whether it was the current one */
  leave(transport: HttpTransport): boolean {
    if (this.#current?.transport !== transport) return false;
    this.#left.add(this.#current);
    this.#current = undefined;
    this.closeUnused();
    return true;
  }

  /** Leaves a connection if another gateway runs, or none: meanwhile, another request can have led to a new one. */
  async leaveIfMoved(transport = this.#current?.transport): Promise<void> {
    const current = this.#current;
    if (current === undefined || current.transport !== transport) return;
    const isOld = await hasMoved(this.#context, current.base);
    if (isOld && this.#current === current) this.leave(current.transport);
  }

  /** Closes the connections that were left and whose requests are answered. */
  closeUnused(): void {
    for (const link of this.#left) {
      if (link === this.#opening || this.#owner.isInUse(link.transport)) continue;
      this.#left.delete(link);
      this.#owner.released(link.transport);
      void link[Symbol.asyncDispose]();
    }
  }

  async #connected(isFirst: boolean): Promise<GatewayLink> {
    // While a connection is made, its session is not open yet.
    if (this.#current !== undefined && this.#connecting === undefined) return this.#current;
    const { error, at } = this.#failure ?? {};
    if (at !== undefined && this.#context.now() - at < restMs) throw error;
    this.#connecting ??= this.#connect(isFirst).finally(() => (this.#connecting = undefined));
    try {
      const link = await this.#connecting;
      this.#failure = undefined;
      return link;
    } catch (cause) {
      // The next attempt can lead to another gateway.
      if (mayPass(cause)) throw cause;
      if (this.#failure?.error !== cause)
        this.#owner.note(`error ${isCodedError(cause) ? `${cause.code}: ` : ""}${messageOf(cause)}`);
      this.#failure = { error: cause, at: this.#context.now() };
      throw cause;
    }
  }

  async #connect(isFirst: boolean): Promise<GatewayLink> {
    const owner = this.#owner;
    const { signal } = this.#closing;
    const linkOwner = {
      note: (text: string) => owner.note(text),
      whenTaken: () => owner.whenTaken(),
      signal,
    };
    const link = await createGatewayLink(this.#context, this.#flags, linkOwner);
    const { transport } = link;
    await transport.open({
      message: (value, relatedTo) => owner.fromGateway(transport, value as JsonObject, relatedTo),
      failed: (id, error) => owner.failed(transport, id, error),
      closed: (error) => owner.closed(transport, error),
      invalid: (reason) => owner.debug(reason),
    });
    this.#current = link;
    if (isFirst) return link;
    this.#opening = link;
    try {
      await owner.reopen(transport);
      if (this.#current !== link)
        throw new McpError("MCP_CONNECTION_CLOSED", "The gateway ended a new session");
    } catch (error) {
      this.leave(transport);
      throw error;
    } finally {
      this.#opening = undefined;
      this.closeUnused();
    }
    return link;
  }
}
