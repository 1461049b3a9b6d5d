/**
 * The API behind all services of the canaries: takes each request apart, holds
 * it to the secrets that it must carry and to no other, and answers with them.
 */

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

/** The API, and what it noticed. */
export interface CanaryApi extends AsyncDisposable {
  /** The section `egress` that leads there. */
  readonly egress: JsonObject;
  /** For `--connect-to`. */
  readonly endpoint: string;
  readonly caFile: string;
  /** What was wrong with requests, at most a few of each. */
  readonly faults: readonly string[];
  /** Requests by host that carried the secrets of now, and those that carried the ones before. */
  readonly carried: ReadonlyMap<string, { now: number; before: number }>;
  /** Names of odd answers that were given. */
  readonly given: ReadonlyMap<string, number>;
  /** Take `value` for the secret `name` from now on, and what it was too. */
  rotate(name: string, value: string): void;
  /** The search for every canary, those of rotations too. */
  readonly search: LeakSearch;
  /** Called when a request of mode `held` has come; answered when its promise resolves. */
  onHeld: () => Promise<void>;
}

/** Values of a secret: the one of now, and the one before. */
type Values = { now: string; before: string | undefined };

/** Start it; its certificates are below `folder`. */
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
      } else {
        const body = JSON.stringify({ before, value: taken.secrets, next: taken.secrets.join("&") });
        const answer = () => response.writeHead(200, { "content-type": "application/json" }).end(body);
        if (mode === "held") api.onHeld().then(answer, answer);
        else answer();
      }
    },
  });
  /** Its certificate says a canary of its own, as an error could. */
  const mistrusted = await startTlsServer({
    certificate: createTestAuthority().sign({ hosts: [`${unreachable[0]?.credentials[0]?.value}.example`] }),
  });
  const gonePort = await freePort();

  /** The secrets of a request and what is left of it, or what is wrong with it. */
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
    if (leak !== undefined) return `it carries ${leak.canary} where nobody asked for it: ${leak.excerpt}`;
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
    search: { find: (bytes) => search.find(bytes) },
    onHeld: () => Promise.resolve(),
    rotate(name, value) {
      const all = services.flatMap(({ credentials }) => credentials);
      const credential = all.find(({ secretName }) => secretName === name) as CanaryCredential;
      const { now } = values.get(name) as Values;
      values.set(name, { now: value, before: now });
      known.set(canaryOf(credential, value), `${name}, the new one`);
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

/** What of a value of `credential` nobody may see. */
function canaryOf({ canary, value: first }: CanaryCredential, value: string): string {
  return canary === first ? value : value.slice(value.indexOf(":") + 1);
}
