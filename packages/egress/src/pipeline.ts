/**
 * The steps between a request of a source and the network, shared by `fetch`
 * and the proxy: authorize the host, find the credentials and any misplaced
 * placeholder, read the secrets and insert them, resolve and check the
 * addresses, connect, scrub the response. Each refusal and each use of a secret
 * is emitted as an event.
 *
 * The pipeline sends nothing itself: its caller receives an `AdmittedRequest`,
 * sends the head and the body, and passes the response through the scrubber.
 */

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ByteScrubber, OnFound } from "@toolcrib/redaction";
import { AddressRules } from "./address/address-rules.ts";
import { parseConnectTo } from "./address/connect-to.ts";
import { HostResolver, lookupHost } from "./address/host-resolver.ts";
import { shareLookups } from "./address/shared-lookups.ts";
import { type Authority, authorize, parseTarget, showHost, type Target } from "./authority.ts";
import { dialNamed, type NamedConnection } from "./dial-named.ts";
import { dialTcp } from "./dial-tcp.ts";
import { type DialOptions, dialTls, TrustedRoots } from "./dial-tls.ts";
import { EgressError } from "./egress-error.ts";
import type { ResolvedSettings } from "./egress-settings.ts";
import type {
  EgressCredential,
  EgressDeps,
  EgressEvent,
  EgressEventOrigin,
  EgressSource,
  NamedOrigin,
  ResolveHost,
} from "./egress-types.ts";
import { findPlaces } from "./inject/find-places.ts";
import { insertSecrets } from "./inject/insert-secrets.ts";
import { PlaceholderRegistry } from "./inject/placeholder-registry.ts";
import { type ReadSecret, readSecret } from "./inject/read-secret.ts";
import { checkHead, type HeaderField, type RequestHead } from "./inject/request-head.ts";
import { findPlaceholder, type Misplaced, PlaceholderScanner } from "./scan/find-placeholder.ts";
import { withoutPlaceholders } from "./scan/placeholder.ts";
import { SourceSecrets } from "./scrub/source-secrets.ts";

/** The origin of a request: the source, and the call that the request is part of. */
export interface Requester {
  readonly source: EgressSource;
  readonly callId?: string;
}

/** The options of one connection. */
export type ConnectOptions = Pick<DialOptions, "protocols" | "session" | "onRead" | "signal">;

/** Receives the events of one request. */
type EmitEvent = (detail: EventDetail) => void;

/** The steps that `fetch` and the proxy share. */
export class Pipeline {
  readonly #settings: ResolvedSettings;
  readonly #deps: EgressDeps;
  readonly #resolve: ResolveHost;
  readonly #resolver: HostResolver;
  readonly #roots: TrustedRoots;
  readonly #registry = new PlaceholderRegistry();
  readonly #sourceSecrets = new SourceSecrets();

  /** @throws {EgressError} `EGRESS_SETTINGS_INVALID` */
  constructor(settings: ResolvedSettings, deps: EgressDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#resolve = shareLookups(deps.resolve ?? lookupHost);
    this.#resolver = new HostResolver({
      rules: new AddressRules(settings.internalRanges),
      connectTo: parseConnectTo(settings.connectTo),
      resolve: this.#resolve,
    });
    this.#roots = new TrustedRoots(settings.caCertificates);
  }

  /** Remembers the placeholders of `source`. Asserts that its credentials are valid. */
  learn(source: EgressSource): void {
    this.#registry.learn(source);
  }

  /**
   * Parses the URL of a request.
   *
   * @throws {EgressError} `EGRESS_AUTHORITY_INVALID`
   */
  readTarget(requester: Requester, url: string, headers: readonly HeaderField[], body?: Uint8Array): Target {
    this.#registry.learn(requester.source);
    try {
      return parseTarget(url);
    } catch (error) {
      this.#emitAlarmOnRefused(requester, showHost(url), { headers, url, body });
      this.#emitDenied(requester, showHost(url), error);
      throw error;
    }
  }

  /**
   * Runs every step before the connection. A complete `body` is scanned here;
   * a body that streams is scanned by `AdmittedRequest.scanBody`.
   *
   * @throws {EgressError} of any step.
   */
  async admit(requester: Requester, head: RequestHead, body?: Uint8Array): Promise<AdmittedRequest> {
    const { source } = requester;
    const { target, headers } = head;
    const { host } = target.authority;
    this.#registry.learn(source);
    try {
      authorize(source, target.authority);
    } catch (error) {
      this.#emitAlarmOnRefused(requester, host, { headers, url: `${host}${target.path}`, body });
      this.#emitDenied(requester, host, error);
      throw error;
    }
    const { used, misplaced } = findPlaces(head, source.credentials);
    const found = misplaced ?? (body === undefined ? undefined : findPlaceholder("body", body));
    if (found !== undefined) throw this.#alarm(requester, host, found);
    let secrets: readonly ReadSecret[];
    try {
      checkHead(head);
      secrets = await readSecrets(used);
    } catch (error) {
      this.#emitDenied(requester, host, error);
      throw error;
    }
    return new AdmittedRequest({
      head: insertSecrets(head, secrets),
      used,
      scrubber: this.#sourceSecrets.scrubberFor(source, secrets),
      emit: (detail) => this.#emit(requester, host, detail),
      alarm: (misplaced) => this.#alarm(requester, host, misplaced),
    });
  }

  /**
   * Connects: resolves the host once, checks the addresses, connects to one of
   * them, and verifies the certificate against the host.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`, `EGRESS_TLS_FAILED`, `EGRESS_TIMED_OUT`; the reason of `signal`.
   */
  connect(authority: Authority, options: ConnectOptions): Promise<TLSSocket> {
    return this.#withDeadline(authority.host, options.signal, async (signal) => {
      const plan = await this.#resolver.resolve(authority, signal);
      return await dialTls(authority, plan, { ...options, signal, roots: this.#roots });
    });
  }

  /**
   * Connects as `connect` does, without TLS: for TLS that the client speaks with the host itself.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`, `EGRESS_TIMED_OUT`; the reason of `signal`.
   */
  connectUnread(authority: Authority, signal: AbortSignal): Promise<Socket> {
    return this.#withDeadline(authority.host, signal, async (either) =>
      dialTcp(authority.host, await this.#resolver.resolve(authority, either), either),
    );
  }

  /**
   * Connects to an origin that the operator named, or to the proxy that leads to it.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`, `EGRESS_TIMED_OUT`; the reason of `signal`.
   */
  connectNamed(source: EgressSource, origin: NamedOrigin, signal: AbortSignal): Promise<NamedConnection> {
    return this.#withDeadline(origin.host, signal, (either) =>
      dialNamed(source, origin, { resolve: this.#resolve, signal: either }),
    );
  }

  /** Runs `dial` within `connectTimeoutMs`. */
  async #withDeadline<Connection>(
    host: string,
    outer: AbortSignal,
    dial: (signal: AbortSignal) => Promise<Connection>,
  ): Promise<Connection> {
    const { connectTimeoutMs: timeoutMs } = this.#settings;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const signal = AbortSignal.any([outer, deadline.signal]);
    try {
      return await dial(signal);
    } catch (error) {
      if (outer.aborted) throw outer.reason;
      if (signal.aborted) {
        const message = `Cannot connect to "${host}": it took more than ${timeoutMs} ms`;
        throw new EgressError("EGRESS_TIMED_OUT", message);
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Emits an event if `error`, thrown by `connect`, is a refusal. */
  reportDenied(requester: Requester, host: string, error: unknown): void {
    if (error instanceof EgressError && error.code === "EGRESS_ADDRESS_DENIED")
      this.#emitDenied(requester, host, error);
  }

  /** Emits the event of a connection that is passed on unread and was refused after CONNECT was accepted. */
  reportRelayRefused(requester: Requester, host: string, error: unknown): void {
    const isRefusal =
      error instanceof EgressError &&
      (error.code === "EGRESS_AUTHORITY_MISMATCH" || error.code === "EGRESS_ADDRESS_DENIED");
    if (isRefusal) this.#emitDenied(requester, showHost(host), error);
  }

  /**
   * Emits the event of a request that the proxy refused before `admit`, and an
   * alarm if the request contains a placeholder.
   *
   * @param host the host as the request named it.
   */
  reportRefused(requester: Requester, host: string, error: unknown, headers: readonly HeaderField[]): void {
    this.#emitAlarmOnRefused(requester, showHost(host), { headers, url: host, body: undefined });
    this.#emitDenied(requester, showHost(host), error);
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#sourceSecrets.clear();
  }

  #emit({ source, callId }: Requester, host: string, detail: EventDetail): void {
    const origin: EgressEventOrigin = {
      source: source.id,
      host: withoutPlaceholders(host),
      ...(callId === undefined ? {} : { callId }),
    };
    this.#deps.onEvent({ ...origin, ...detail });
  }

  #emitDenied(requester: Requester, host: string, error: unknown): void {
    if (!(error instanceof EgressError)) return;
    const reason = withoutPlaceholders(error.message);
    this.#emit(requester, host, { kind: "egress.denied", code: error.code, reason });
  }

  #emitAlarm(requester: Requester, host: string, { where, text }: Misplaced): void {
    const owner = this.#registry.ownerOf(text);
    this.#emit(requester, host, {
      kind: "egress.alarm",
      credential: owner?.credential,
      owner: owner?.source,
      where: withoutPlaceholders(where),
    });
  }

  /** Emits an alarm and returns the error that refuses the request. */
  #alarm(requester: Requester, host: string, misplaced: Misplaced): EgressError {
    this.#emitAlarm(requester, host, misplaced);
    const message = `Cannot send a placeholder in ${describePlace(misplaced.where)}: it is allowed only in the place of its credential`;
    const error = new EgressError("EGRESS_PLACEHOLDER_MISPLACED", message);
    this.#emitDenied(requester, host, error);
    return error;
  }

  /** Emits an alarm for the first placeholder of a refused request, whether it is in its place or not. */
  #emitAlarmOnRefused(requester: Requester, host: string, { headers, url, body }: RefusedTexts): void {
    const texts: (readonly [where: string, text: string | Uint8Array])[] = [
      ["url", url],
      ...headers.map(([name, value]) => [`header:${name.toLowerCase()}`, value] as const),
      ["body", body ?? ""],
    ];
    for (const [where, text] of texts) {
      const found = findPlaceholder(where, text);
      if (found === undefined) continue;
      this.#emitAlarm(requester, host, found);
      return;
    }
  }
}

async function readSecrets(used: readonly EgressCredential[]): Promise<readonly ReadSecret[]> {
  const secrets: ReadSecret[] = [];
  for (const credential of used) secrets.push(await readSecret(credential));
  return secrets;
}

/** The parts of an admitted request. */
interface AdmittedParts {
  readonly head: RequestHead;
  readonly used: readonly EgressCredential[];
  readonly scrubber: ByteScrubber<EgressCredential> | undefined;
  readonly emit: EmitEvent;
  readonly alarm: (misplaced: Misplaced) => EgressError;
}

/** A request that can be sent. */
export class AdmittedRequest {
  /** The head, with secrets in place of placeholders. */
  readonly head: RequestHead;
  /** Removes the secrets of the source from the response; `undefined` if the source has used none. */
  readonly scrubber: ByteScrubber<EgressCredential> | undefined;
  readonly #parts: AdmittedParts;
  readonly #scanner = new PlaceholderScanner("body");
  readonly #echoes = new Set<string>();
  #isSending = false;

  constructor(parts: AdmittedParts) {
    this.head = parts.head;
    this.scrubber = parts.scrubber;
    this.#parts = parts;
  }

  /**
   * Scans a piece of the body before it is sent; `undefined` at the end.
   *
   * @throws {EgressError} `EGRESS_PLACEHOLDER_MISPLACED`; the caller must not send anything more.
   */
  scanBody(piece: Uint8Array | undefined): void {
    const found = piece === undefined ? this.#scanner.end() : this.#scanner.push(piece);
    if (found !== undefined) throw this.#parts.alarm(found);
  }

  /** Emits the event of each secret, once. Call it right before the head is written to a connection. */
  sending(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    const { used, emit } = this.#parts;
    for (const { id, secretName } of used) emit({ kind: "secret.used", credential: id, secretName });
  }

  /** Returns the listener for secrets that the scrubber finds at `where` (`header:<name>`, `body`): one event for each credential and place. */
  echoed(where: string): OnFound<EgressCredential> {
    return ({ id, secretName }) => {
      const key = `${id} ${where}`;
      if (this.#echoes.has(key)) return;
      this.#echoes.add(key);
      this.#parts.emit({ kind: "secret.echoed", credential: id, secretName, where });
    };
  }
}

/** The texts of a refused request that can contain a placeholder. */
interface RefusedTexts {
  readonly headers: readonly HeaderField[];
  readonly url: string;
  readonly body: Uint8Array | undefined;
}

type EventDetail = EgressEvent extends infer E
  ? E extends EgressEvent
    ? Omit<E, keyof EgressEventOrigin>
    : never
  : never;

function describePlace(where: string): string {
  const [kind, name] = where.split(":");
  return name === undefined ? `the ${kind}` : `header "${name}"`;
}
