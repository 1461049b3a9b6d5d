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
import type { ByteScrubber, OnFound } from "@toolcrib/redaction";
import { createAddressRules } from "./address/address-rules.ts";
import { parseConnectTo } from "./address/connect-to.ts";
import { type AddressBook, findAddresses, lookupHost } from "./address/find-addresses.ts";
import { type Authority, authorise, parseTarget, showHost, type Target } from "./authority.ts";
import { createTrustedRoots, type DialOptions, dialTls, type TrustedRoots } from "./dial-tls.ts";
import { EgressError } from "./egress-error.ts";
import type { ResolvedSettings } from "./egress-settings.ts";
import type {
  EgressCredential,
  EgressDeps,
  EgressEvent,
  EgressEventOrigin,
  EgressSource,
} from "./egress-types.ts";
import { findPlaces } from "./inject/find-places.ts";
import { createPlaceholderRegistry } from "./inject/placeholder-registry.ts";
import { putSecrets } from "./inject/put-secrets.ts";
import { type ReadSecret, readSecret } from "./inject/read-secret.ts";
import { checkHead, type HeaderField, type RequestHead } from "./inject/request-head.ts";
import { findPlaceholder, type Misplaced, PlaceholderScanner } from "./scan/find-placeholder.ts";
import { withoutPlaceholders } from "./scan/placeholder.ts";
import { SourceSecrets } from "./scrub/source-secrets.ts";

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
  readonly scrubber: ByteScrubber<EgressCredential> | undefined;
  /** For the scrubber: an event for each credential and `where` (`header:<name>`, `body`), once. */
  echoed(where: string): OnFound<EgressCredential>;
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
   * Read the URL of a request.
   *
   * @throws {EgressError} `EGRESS_AUTHORITY_INVALID`
   */
  readTarget(asker: Asker, url: string, headers: readonly HeaderField[], body?: Uint8Array): Target;
  /**
   * Hold an authority to what the source may reach, as `CONNECT` asks before there is a request.
   *
   * @throws {EgressError} `EGRESS_HOST_DENIED`, `EGRESS_PORT_DENIED`
   */
  authorise(asker: Asker, authority: Authority): void;
  /**
   * Everything up to dialling. A `body` that is there whole is looked into at once; one that streams, by `scanBody`.
   *
   * @throws {EgressError} of any step.
   */
  admit(asker: Asker, head: RequestHead, body?: Uint8Array): Promise<AdmittedRequest>;
  /**
   * Connect: addresses found once, judged, dialled; the certificate verified against the host.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`, `EGRESS_TLS_FAILED`, `EGRESS_TIMED_OUT`; the reason of `signal`.
   */
  dial(authority: Authority, choice: DialChoice): Promise<TLSSocket>;
  /** Tell of a refusal that `dial` threw; anything else is no refusal. */
  denied(asker: Asker, host: string, error: unknown): void;
  /** Tell of a request that a door refused before it came here; `host` is what it named, and a placeholder in it is an alarm. */
  refused(asker: Asker, host: string, error: unknown, headers: readonly HeaderField[]): void;
  /** Forget secrets and placeholders. */
  clear(): void;
}

/** How one connection is made. */
export type DialChoice = Pick<DialOptions, "protocols" | "session" | "onRead" | "signal">;

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
  const sourceSecrets = new SourceSecrets();

  function tell(asker: Asker, host: string, event: EventDetail): void {
    const { callId } = asker;
    const origin: EgressEventOrigin = {
      source: asker.source.id,
      host: withoutPlaceholders(host),
      ...(callId === undefined ? {} : { callId }),
    };
    deps.onEvent({ ...origin, ...event });
  }

  function deny(asker: Asker, host: string, error: unknown): void {
    if (!(error instanceof EgressError)) return;
    tell(asker, host, {
      kind: "egress.denied",
      code: error.code,
      reason: withoutPlaceholders(error.message),
    });
  }

  function tellAlarm(asker: Asker, host: string, { where, text }: Misplaced): void {
    const owner = registry.ownerOf(text);
    const place = { owner: owner?.source, where: withoutPlaceholders(where) };
    tell(asker, host, { kind: "egress.alarm", credential: owner?.credential, ...place });
  }

  function alarm(asker: Asker, host: string, misplaced: Misplaced): EgressError {
    tellAlarm(asker, host, misplaced);
    const { where } = misplaced;
    const message = `Cannot send a placeholder in ${describe(where)}: it may stand in its own place only`;
    const error = new EgressError("EGRESS_PLACEHOLDER_MISPLACED", message);
    deny(asker, host, error);
    return error;
  }

  /** A placeholder on its way to where it may not go is an alarm, in its place or not. Of one request, the first. */
  function alarmOnDenied(asker: Asker, host: string, { head, url, body }: DeniedTexts): void {
    const texts: (readonly [where: string, text: string | Uint8Array])[] = [
      ["url", url],
      ...head.map(([name, value]) => [`header:${name.toLowerCase()}`, value] as const),
      ["body", body ?? ""],
    ];
    for (const [where, text] of texts) {
      const found = findPlaceholder(where, text);
      if (found === undefined) continue;
      tellAlarm(asker, host, found);
      return;
    }
  }

  async function readSecrets(
    asker: Asker,
    host: string,
    used: readonly EgressCredential[],
  ): Promise<readonly ReadSecret[]> {
    const secrets: ReadSecret[] = [];
    try {
      for (const credential of used) secrets.push(await readSecret(credential));
    } catch (error) {
      deny(asker, host, error);
      throw error;
    }
    return secrets;
  }

  return {
    roots,
    learn: (source) => registry.learn(source),
    readTarget(asker, url, headers, body) {
      registry.learn(asker.source);
      try {
        return parseTarget(url);
      } catch (error) {
        alarmOnDenied(asker, showHost(url), { head: headers, url, body });
        deny(asker, showHost(url), error);
        throw error;
      }
    },
    authorise(asker, authority) {
      try {
        authorise(asker.source, authority);
      } catch (error) {
        deny(asker, authority.host, error);
        throw error;
      }
    },
    async admit(asker, head, body) {
      const { source } = asker;
      const { target, headers } = head;
      const { host } = target.authority;
      registry.learn(source);
      try {
        authorise(source, target.authority);
      } catch (error) {
        alarmOnDenied(asker, host, { head: headers, url: `${host}${target.path}`, body });
        deny(asker, host, error);
        throw error;
      }
      const { used, misplaced } = findPlaces(head, source.credentials);
      const found = misplaced ?? (body === undefined ? undefined : findPlaceholder("body", body));
      if (found !== undefined) throw alarm(asker, host, found);
      try {
        checkHead(head);
      } catch (error) {
        deny(asker, host, error);
        throw error;
      }
      const secrets = await readSecrets(asker, host, used);
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
    async dial(authority, choice) {
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
          throw new EgressError("EGRESS_TIMED_OUT", message);
        }
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    denied(asker, host, error) {
      if (error instanceof EgressError && error.code === "EGRESS_ADDRESS_DENIED") deny(asker, host, error);
    },
    refused(asker, host, error, headers) {
      alarmOnDenied(asker, showHost(host), { head: headers, url: host, body: undefined });
      deny(asker, showHost(host), error);
    },
    clear: () => sourceSecrets.clear(),
  };
}

/** The texts of a refused request that may hold a placeholder. */
interface DeniedTexts {
  readonly head: readonly HeaderField[];
  readonly url: string;
  readonly body: Uint8Array | undefined;
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
