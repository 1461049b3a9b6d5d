/**
 * The API of all canary services. Checks that each request carries the secrets of its
 * service and no others, and responds with these secrets.
 */

import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import { createTestAuthority, freePort, type RecordedRequest, startTlsServer } from "@toolcrib/testing";
import { answerPlainly, before, oddAnswers } from "./canary-answers.ts";
import { createLeakSearch, type LeakSearch } from "./canary-forms.ts";
import {
  type CanaryCredential,
  type CanaryService,
  canaries,
  type PlainRequest,
  services,
  unreachable,
} from "./canary-services.ts";

/** A running API, and the requests and failures that it recorded. */
export interface CanaryApi extends AsyncDisposable {
  /** The configuration section `egress` that routes requests to the API. */
  readonly egress: JsonObject;
  /** The endpoint, for `--connect-to`. */
  readonly endpoint: string;
  readonly caFile: string;
  /** Descriptions of invalid requests; only the first ones are kept. */
  readonly faults: readonly string[];
  /** Number of requests for each host with the current secrets, and with the previous ones. */
  readonly carried: ReadonlyMap<string, { now: number; before: number }>;
  /** Number of responses sent, by the name of the abnormal response. */
  readonly given: ReadonlyMap<string, number>;
  /** Resolves when the abnormal response `name` is sent the next time. */
  nextGiven(name: string): Promise<unknown>;
  /** Sets a new value for the secret `name`. The previous value is still accepted. */
  rotate(name: string, value: string): void;
  /** Searches for every canary, including the values that `rotate` sets. */
  readonly search: LeakSearch;
  /** Called when a request with the mode `held` arrives; the API responds when the promise settles. */
  onHeld: () => Promise<void>;
}

/** The current and the previous value of a secret. */
type Values = { now: string; before: string | undefined };

/** Starts the API. Writes its certificates below `folder`. */
export async function startCanaryApi(folder: string): Promise<CanaryApi> {
  const authority = createTestAuthority();
  const hosts = services.flatMap(hostsOf);
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  const known = new Map(canaries);
  const values = new Map<string, Values>(
    services.flatMap(({ credentials }) =>
      credentials.map(({ secretName, value }) => [secretName, { now: value, before: undefined }] as const),
    ),
  );
  const faults: string[] = [];
  const carried = new Map(hosts.map((host) => [host, { now: 0, before: 0 }]));
  const given = new Map<string, number>();
  const givenNow = new EventEmitter().setMaxListeners(0);
  let search = createLeakSearch(known);

  function fault(text: string): void {
    if (faults.length < 20) faults.push(text);
  }

  const server = await startTlsServer({
    certificate: authority.sign({ hosts }),
    respond(request, response) {
      const service = services.find((one) => hostsOf(one).includes(request.servername ?? ""));
      const hostHeader = request.headers.find(([name]) => name.toLowerCase() === "host")?.[1];
      if (service === undefined || hostHeader !== request.servername) {
        fault(`a request for ${request.servername} and ${hostHeader}`);
        response.destroy();
        return;
      }
      const taken = takeCredentials(service, request);
      if (typeof taken === "string") {
        fault(`${service.id} ${request.method} ${request.target}: ${taken}`);
        response.destroy();
        return;
      }
      const mode = /^\/[a-z]+\/([^/?]+)/.exec(taken.rest.target)?.[1] ?? "";
      const [first] = taken.secrets as [string];
      const others = [...values.values()].flatMap((one) => [one.now, one.before ?? []].flat());
      const asked = { request, response, secret: first, others };
      const number = /^plain-(\d+)$/.exec(mode)?.[1];
      const odd = /^odd-(.+)$/.exec(mode)?.[1];
      response.on("error", () => {});
      if (number !== undefined) {
        const secret = taken.secrets[Number(number) % taken.secrets.length] as string;
        answerPlainly(Number(number), { ...asked, secret }).catch((error: unknown) => fault(String(error)));
      } else if (odd !== undefined && Object.hasOwn(oddAnswers, decodeURIComponent(odd))) {
        const name = decodeURIComponent(odd);
        given.set(name, (given.get(name) ?? 0) + 1);
        oddAnswers[name]?.(asked);
        givenNow.emit(name);
      } else {
        const body = JSON.stringify({ before, value: taken.secrets, next: taken.secrets.join("&") });
        const answer = () => response.writeHead(200, { "content-type": "application/json" }).end(body);
        if (mode === "held") api.onHeld().then(answer, answer);
        else answer();
      }
    },
  });
  /** A server whose certificate contains a canary, because an error could quote the certificate. */
  const mistrusted = await startTlsServer({
    certificate: createTestAuthority().sign({ hosts: [`${unreachable[0]?.credentials[0]?.value}.example`] }),
  });
  const gonePort = await freePort();

  /** Removes the secrets from a request. Returns them and the rest, or the reason why the request is invalid. */
  function takeCredentials(
    { credentials }: CanaryService,
    request: RecordedRequest,
  ): { readonly secrets: readonly string[]; readonly rest: PlainRequest } | string {
    let rest: PlainRequest = request;
    let isOld = false;
    const secrets: string[] = [];
    for (const credential of credentials) {
      const taken = takeOne(credential, rest);
      if (taken === undefined) return `it lacks its credential "${credential.id}"`;
      isOld ||= taken.isOld;
      rest = taken.rest;
      secrets.push(taken.canary);
    }
    const left = Buffer.from(JSON.stringify([request.method, rest, request.body.toString("latin1")]));
    const leak = search.find(left);
    if (leak !== undefined) return `it carries ${leak.canary} in an unexpected place: ${leak.excerpt}`;
    if (left.includes("toolcrib-ph-")) return `it carries a placeholder: ${left.toString()}`;
    const count = carried.get(request.servername ?? "");
    if (count !== undefined) count[isOld ? "before" : "now"] += 1;
    return { secrets, rest };
  }

  function takeOne(credential: CanaryCredential, request: PlainRequest) {
    const { now, before } = values.get(credential.secretName) as Values;
    for (const value of [now, before]) {
      const rest = value === undefined ? undefined : credential.take(request, value);
      if (rest !== undefined && value !== undefined)
        return { rest, isOld: value !== now, canary: canaryOf(credential, value) };
    }
    return undefined;
  }

  const api: CanaryApi = {
    egress: {
      internal_ranges: ["127.0.0.0/8"],
      connect_to: {
        ...Object.fromEntries(hosts.map((host) => [host, server.endpoint])),
        "api.mistrusted.example": mistrusted.endpoint,
        "api.gone.example": `127.0.0.1:${gonePort}`,
      },
      ca_files: [caFile],
    },
    endpoint: server.endpoint,
    caFile,
    faults,
    carried,
    given,
    nextGiven: (name) => once(givenNow, name),
    search: { find: (bytes) => search.find(bytes) },
    onHeld: () => Promise.resolve(),
    rotate(name, value) {
      const all = services.flatMap(({ credentials }) => credentials);
      const credential = all.find(({ secretName }) => secretName === name) as CanaryCredential;
      const { now } = values.get(name) as Values;
      values.set(name, { now: value, before: now });
      known.set(canaryOf(credential, value), `${name}, new value`);
      search = createLeakSearch(known);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await mistrusted[Symbol.asyncDispose]();
    },
  };
  return api;
}

function hostsOf({ host, otherHosts = [] }: CanaryService): readonly string[] {
  return [host, ...otherHosts];
}

/** Returns the part of a value of `credential` that is secret. */
function canaryOf({ canary, value: first }: CanaryCredential, value: string): string {
  return canary === first ? value : value.slice(value.indexOf(":") + 1);
}
