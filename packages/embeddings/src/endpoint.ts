/**
 * The embeddings endpoint: one POST for a list of texts. https goes through the egress, which checks host and address
 * and inserts the secret; http goes to this machine alone. Redirects are not followed, and nothing is sent twice.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { createPlaceholder, type Egress, type EgressSource, parseAllowedHost } from "@toolcrib/egress";
import { abortable } from "@toolcrib/lifecycle";
import { EmbeddingsError } from "./embeddings-error.ts";
import { parseVectors } from "./vectors.ts";

/** The section `search.embeddings`. */
export interface EndpointSettings {
  /** https with a host name, or http to this machine. */
  readonly url: string;
  readonly model: string;
  /** Dimensions to ask for. @default those of the model */
  readonly dimensions?: number | undefined;
}

/** The secret that authenticates the requests. */
export interface EndpointSecret {
  readonly name: string;
  /** @throws {CodedError} when it cannot be read */
  readonly read: () => Promise<string>;
}

/** Dependencies of an endpoint. */
export interface EndpointDeps {
  readonly egress: Pick<Egress, "fetch" | "sendToLoopback">;
  readonly randomBytes: (length: number) => Buffer;
  readonly secret: EndpointSecret | undefined;
}

/** The sender in the events of the egress. */
const sourceId = "search.embeddings";

/** An endpoint. */
export class Endpoint {
  readonly #settings: EndpointSettings;
  readonly #deps: EndpointDeps;
  readonly #source: EgressSource | undefined;
  readonly #headers: { readonly [name: string]: string };

  constructor(settings: EndpointSettings, deps: EndpointDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { secret, randomBytes } = deps;
    const format = "Bearer {token}";
    const placeholder = createPlaceholder(randomBytes);
    const headers = { "content-type": "application/json", accept: "application/json" };
    const isLocal = settings.url.startsWith("http:");
    this.#headers =
      secret === undefined || isLocal
        ? headers
        : { ...headers, authorization: format.replace("{token}", placeholder) };
    const credentials =
      secret === undefined
        ? []
        : [
            {
              id: "authorization",
              place: { kind: "header", name: "authorization", format } as const,
              placeholder,
              secretName: secret.name,
              read: secret.read,
            },
          ];
    this.#source = isLocal ? undefined : { id: sourceId, allow: [hostOf(settings.url)], credentials };
  }

  /**
   * Returns the vector of each text.
   *
   * @throws {EmbeddingsError} `EMBEDDINGS_UNAVAILABLE`, `EMBEDDINGS_ANSWER_INVALID`; the reason of `signal`
   */
  async vectorsOf(
    texts: readonly string[],
    { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
  ): Promise<readonly Float32Array[]> {
    const { model, dimensions } = this.#settings;
    const sent = { model, input: texts, encoding_format: "float", dimensions };
    const body = await this.#send(Buffer.from(JSON.stringify(sent)), signal, maxBytes);
    return parseVectors(body, texts.length, dimensions);
  }

  async #send(body: Uint8Array, signal: AbortSignal, maxBytes: number): Promise<string> {
    const { egress } = this.#deps;
    try {
      const headers = await abortable(this.#headersOfRequest(), signal);
      const request = { url: this.#settings.url, headers, body, signal, maxBytes };
      const response =
        this.#source === undefined
          ? await egress.sendToLoopback(request)
          : await egress.fetch({ ...request, method: "POST" }, this.#source);
      if (response.status !== 200) throw refused(response.status, response.headers["retry-after"]);
      if (response.totalBytes > maxBytes) {
        throw new EmbeddingsError(
          "EMBEDDINGS_ANSWER_INVALID",
          `Cannot use the answer of the embeddings endpoint: it has more than ${maxBytes} bytes`,
        );
      }
      return Buffer.from(response.body).toString("utf8");
    } catch (error) {
      if (error instanceof EmbeddingsError || signal.aborted || !isCodedError(error)) throw error;
      const { code, message, hint } = error;
      throw new EmbeddingsError(
        "EMBEDDINGS_UNAVAILABLE",
        `Cannot ask the embeddings endpoint: ${message} (${code})`,
        { cause: error, hint },
      );
    }
  }

  async #headersOfRequest(): Promise<{ readonly [name: string]: string }> {
    const { secret } = this.#deps;
    if (secret === undefined) return this.#headers;
    // With https, the egress inserts it. It is read here too, so that its value is known before it is sent.
    const value = await secret.read();
    return this.#source === undefined
      ? { ...this.#headers, authorization: `Bearer ${value}` }
      : this.#headers;
  }
}

function hostOf(url: string): EgressSource["allow"][number] {
  const { hostname, port } = new URL(url);
  const host = parseAllowedHost(port === "" ? hostname : `${hostname}:${port}`);
  if (typeof host === "string")
    throw new TypeError(`the host of the embeddings endpoint is not valid: ${host}`);
  return host;
}

/** The status in the data of an error, and the milliseconds after which the endpoint wants to be asked again. */
export interface RefusalData {
  readonly status: number;
  readonly retryAfterMs?: number;
}

function refused(status: number, retryAfter: string | undefined): EmbeddingsError {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
  const data: RefusalData = { status, ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }) };
  const isRedirect = status >= 300 && status < 400;
  return new EmbeddingsError(
    "EMBEDDINGS_UNAVAILABLE",
    `Cannot use the embeddings endpoint: it ${isRedirect ? `redirects (status ${status}), which is not followed` : `answered with the status ${status}`}`,
    { data: { ...data }, hint: hintOf(status) },
  );
}

function hintOf(status: number): string | undefined {
  if (status === 401 || status === 403) return "check search.embeddings.secret_key_ref";
  if (status === 404) return "check search.embeddings.url (…/v1/embeddings) and search.embeddings.model";
  return status === 400 ? "check search.embeddings.model and dimensions" : undefined;
}
