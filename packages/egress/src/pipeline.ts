/**
 * The steps between a request of a source and the network, the same for both
 * doors: authorise the host, find the credentials and any placeholder out of
 * place, read the secrets and put them in, find and judge the addresses, dial,
 * scrub what comes back. Each refusal and each secret is told as an event.
 *
 * It sends nothing itself: a door takes an `AdmittedRequest`, sends its head
 * and body, and hands the response through its scrubber.
 */

import type { TLSSocket } from "node:tls";
import { createAddressRules } from "./address/address-rules.ts";
import { parseConnectTo } from "./address/connect-to.ts";
import { type AddressBook, findAddresses, lookupHost } from "./address/find-addresses.ts";
import { type Authority, authorise, showHost } from "./authority.ts";
import { egressAddressDenied, egressPlaceholderMisplaced, egressTimedOut } from "./codes.ts";
import { createTrustedRoots, type DialOptions, dialTls, type TrustedRoots } from "./dial-tls.ts";
import { EgressError } from "./egress-error.ts";
import type { ResolvedSettings } from "./egress-settings.ts";
import type { EgressDeps, EgressEvent, EgressEventOrigin, EgressSource } from "./egress-types.ts";
import { findPlaces } from "./inject/find-places.ts";
import { createPlaceholderRegistry } from "./inject/placeholder-registry.ts";
import { putSecrets } from "./inject/put-secrets.ts";
import { type ReadSecret, readSecret } from "./inject/read-secret.ts";
import { checkHead, type RequestHead } from "./inject/request-head.ts";
import { findPlaceholder, type Misplaced, PlaceholderScanner } from "./scan/find-placeholder.ts";
import type { OnFound, SecretScrubber } from "./scrub/secret-scrubber.ts";
import { createSourceSecrets } from "./scrub/source-secrets.ts";

/** A request that may be sent. */
export interface AdmittedRequest {
  /** With secrets where placeholders stood. */
  readonly head: RequestHead;
  /**
   * Look into a piece of the body before it is sent; `undefined` when it ends.
   *
   * @throws {EgressError} `EGRESS_PLACEHOLDER_MISPLACED`; nothing more may be sent then.
   */
  scanBody(piece: Uint8Array | undefined): void;
  /** Say that the head is about to be written to a connection: the event of each secret, once. */
  sending(): void;
  /** What takes the secrets of the source out of the response; `undefined` when it has used none. */
  readonly scrubber: SecretScrubber | undefined;
  /** For the scrubber: an event for each credential and `where` (`header:<name>`, `body`), once. */
  echoed(where: string): OnFound;
}

/** Who asks: the source, and the call that the request is part of. */
export interface Asker {
  readonly source: EgressSource;
  readonly callId?: string;
}

/** The steps that both doors share. */
export interface Pipeline {
  readonly roots: TrustedRoots;
  /** Remember the placeholders of `source`. Asserts that its credentials are in their form. */
  learn(source: EgressSource): void;
  /**
   * Run `step` for a host, and tell of its refusal as an event.
   *
   * @throws whatever `step` throws.
   */
  refusable<T>(asker: Asker, host: string, step: () => T): T;
  /**
   * Hold an authority to what the source may reach, as `CONNECT` asks before there is a request.
   *
   * @throws {EgressError} `EGRESS_HOST_DENIED`, `EGRESS_PORT_DENIED`
   */
  authorise(asker: Asker, authority: Authority): void;
  /**
   * Everything up to dialling.
   *
   * @throws {EgressError} of any step.
   */
  admit(asker: Asker, head: RequestHead): Promise<AdmittedRequest>;
  /**
   * Connect: addresses found once, judged, dialled; the certificate verified against the host.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`, `EGRESS_TLS_FAILED`, `EGRESS_TIMED_OUT`; the reason of `signal`.
   */
  dial(asker: Asker, authority: Authority, options: DialChoice): Promise<TLSSocket>;
  /** Forget secrets and placeholders. */
  clear(): void;
}

/** How one connection is made. */
export type DialChoice = Pick<DialOptions, "protocols" | "session" | "signal">;

/**
 * Create the pipeline of one egress.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createPipeline(settings: ResolvedSettings, deps: EgressDeps): Pipeline {
  const book: AddressBook = {
    rules: createAddressRules(settings.internalRanges),
    connectTo: parseConnectTo(settings.connectTo),
    resolve: deps.resolve ?? lookupHost,
  };
  const roots = createTrustedRoots(settings.caCertificates);
  const registry = createPlaceholderRegistry();
  const sourceSecrets = createSourceSecrets();

  function tell(asker: Asker, host: string, event: EventDetail): void {
    const { callId } = asker;
    const origin: EgressEventOrigin = {
      source: asker.source.id,
      host,
      ...(callId === undefined ? {} : { callId }),
    };
    deps.onEvent({ ...origin, ...event });
  }

  function deny(asker: Asker, host: string, error: unknown): void {
    if (!(error instanceof EgressError)) return;
    tell(asker, host, { kind: "egress.denied", code: error.code, reason: error.message });
  }

  function refusable<T>(asker: Asker, host: string, step: () => T): T {
    try {
      return step();
    } catch (error) {
      deny(asker, showHost(host), error);
      throw error;
    }
  }

  function alarm(asker: Asker, host: string, { where, text }: Misplaced): EgressError {
    const owner = registry.ownerOf(text);
    tell(asker, host, { kind: "egress.alarm", credential: owner?.credential, owner: owner?.source, where });
    const message = `Cannot send a placeholder in ${describe(where)}: it may stand in its own place only`;
    const error = new EgressError(egressPlaceholderMisplaced, message);
    deny(asker, host, error);
    return error;
  }

  /** A placeholder for a host that is not allowed is an alarm, in its place or not. */
  function alarmOnDenied(asker: Asker, { method, target, headers }: RequestHead): void {
    const texts = [
      ["method", method],
      ["url", target.authority.host],
      ["url", target.path],
      ...headers.map(([name, value]) => [`header:${name.toLowerCase()}`, value] as const),
    ] as const;
    for (const [where, text] of texts) {
      const found = findPlaceholder(where, text);
      if (found === undefined) continue;
      alarm(asker, target.authority.host, found);
      return;
    }
  }

  return {
    roots,
    learn: (source) => registry.learn(source),
    refusable,
    authorise: (asker, authority) =>
      refusable(asker, authority.host, () => authorise(asker.source, authority)),
    async admit(asker, head) {
      const { source } = asker;
      const { host } = head.target.authority;
      registry.learn(source);
      refusable(asker, host, () => {
        try {
          authorise(source, head.target.authority);
        } catch (error) {
          alarmOnDenied(asker, head);
          throw error;
        }
        checkHead(head);
      });
      const { used, misplaced } = findPlaces(head, source.credentials);
      if (misplaced !== undefined) throw alarm(asker, host, misplaced);
      const secrets: ReadSecret[] = [];
      for (const credential of used) secrets.push(await readSecret(credential));
      const scanner = new PlaceholderScanner("body");
      const echoes = new Set<string>();
      let isSending = false;
      return {
        head: putSecrets(head, secrets),
        scanBody(piece) {
          const found = piece === undefined ? scanner.end() : scanner.push(piece);
          if (found !== undefined) throw alarm(asker, host, found);
        },
        sending() {
          if (isSending) return;
          isSending = true;
          for (const { id, secretName } of used)
            tell(asker, host, { kind: "secret.used", credential: id, secretName });
        },
        scrubber: sourceSecrets.scrubberFor(source, secrets),
        echoed: (where) => (credential) => {
          const { id, secretName } = credential;
          if (echoes.has(`${id} ${where}`)) return;
          echoes.add(`${id} ${where}`);
          tell(asker, host, { kind: "secret.echoed", credential: id, secretName, where });
        },
      };
    },
    async dial(asker, authority, choice) {
      const { connectTimeoutMs: timeoutMs } = settings;
      const { host } = authority;
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      const signal = AbortSignal.any([choice.signal, deadline.signal]);
      try {
        const plan = await findAddresses(authority, book, signal);
        return await dialTls(authority, plan, { ...choice, signal, roots });
      } catch (error) {
        if (choice.signal.aborted) throw choice.signal.reason;
        if (signal.aborted) {
          const message = `Cannot connect to "${host}": it took more than ${timeoutMs} ms`;
          throw new EgressError(egressTimedOut, message);
        }
        if (error instanceof EgressError && error.code === egressAddressDenied) deny(asker, host, error);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    clear: () => sourceSecrets.clear(),
  };
}

type EventDetail = EgressEvent extends infer E
  ? E extends EgressEvent
    ? Omit<E, keyof EgressEventOrigin>
    : never
  : never;

function describe(where: string): string {
  const [kind, name] = where.split(":");
  return name === undefined ? `the ${kind}` : `header "${name}"`;
}
