/** The section `search`: whether and from whom search learns, and the endpoint for search by meaning. */

import { flag, integer, list, record, reportAt, text, type ValueOf } from "@toolcrib/document";
import type { SearchConfig } from "./config-types.ts";
import { toCompletePath } from "./egress-shape.ts";
import { lintEgressUrl } from "./egress-url.ts";
import { inspectVariables, reportInline, secretKeyRef } from "./text-shape.ts";
import { urlContainsCredential } from "./transport-shape.ts";

const defaults = { timeoutMs: 300 } as const;

const secretHint = "write secret_key_ref: NAME below search.embeddings";

const embeddingsShape = record({
  name: "SearchEmbeddings",
  description:
    "An OpenAI-compatible embeddings endpoint, by which search also goes by meaning. The texts of tool definitions and of searches are sent to it, without known secrets. Without this section, nothing is sent.",
  fields: {
    url: {
      required: text({
        description:
          "The address that texts are sent to (POST): https with a host name, through the egress, or http to this machine. No user name or password, no credential.",
        maxLength: 4096,
        examples: ["https://api.example.com/v1/embeddings", "http://127.0.0.1:11434/v1/embeddings"],
        inspect(value, node, place) {
          inspectVariables(value, node, place);
          if (urlContainsCredential(value)) {
            reportInline(node, place, "search.embeddings.url contains a possible secret", secretHint);
            return;
          }
          const names = {
            noun: "The URL of embeddings",
            credentialHint: secretHint,
            exampleHost: "api.example.com",
          };
          const problem = lintEgressUrl(value.trim(), names);
          if (problem !== undefined) reportAt(node, place, problem);
        },
      }),
      missing: {
        code: "CONFIG_URL_REQUIRED",
        message: "search.embeddings.url required",
        hint: "add url: with the address of the endpoint, such as http://127.0.0.1:11434/v1/embeddings",
      },
    },
    model: {
      required: text({
        description: "The model that the endpoint is asked for.",
        maxLength: 256,
        examples: ["text-embedding-3-small"],
        inspect: inspectVariables,
      }),
    },
    secret_key_ref: secretKeyRef,
    dimensions: integer({
      description: "Dimensions to ask for, where the model can have several. Default: those of the model.",
      minimum: 1,
      maximum: 8192,
    }),
    timeout_ms: integer({
      description:
        "Milliseconds that a search waits for the vector of its query. After that, it goes by words alone.",
      minimum: 10,
      maximum: 10_000,
      default: defaults.timeoutMs,
    }),
  },
  hints: {
    endpoint: "did you mean url?",
    base_url: "write url: with the whole address, such as https://api.example.com/v1/embeddings",
    api_key: "write secret_key_ref: NAME",
    token: "write secret_key_ref: NAME",
    headers: "write secret_key_ref: NAME; it is sent as Authorization: Bearer",
    timeout: "did you mean timeout_ms?",
    timeout_seconds: "write timeout_ms",
    enabled: "remove it: the section turns search by meaning on",
  },
});

export const searchShape = record({
  description: "Search of tools.",
  fields: {
    learn: flag(
      "Whether a search teaches its words to the tool that its client calls next. Default: true. The words are kept in the home; toolcrib search forget erases them.",
    ),
    learn_except: list(
      text({ description: "Name of a client, as in policy.clients.", maxLength: 256, examples: ["ci"] }),
      { description: "Clients from which nothing is learned.", maxItems: 1000 },
    ),
    embeddings: embeddingsShape,
  },
  hints: {
    learning: "did you mean learn?",
    enabled: "write learn: false to turn learning off",
    except: "did you mean learn_except?",
    embedding: "did you mean embeddings?",
    mode: "write it below serve: serve: { mode: … }",
  },
});

/** `search` as written. */
type SearchDocument = ValueOf<typeof searchShape>;

/** Returns `document` with the complete path of a secret in a file. */
export function withCompleteSecretPath(
  document: SearchDocument | undefined,
  fileName: string,
): SearchDocument | undefined {
  const ref = document?.embeddings?.secret_key_ref;
  if (document?.embeddings === undefined || ref?.kind !== "file") return document;
  const completed = { kind: "file", path: toCompletePath(ref.path, fileName) } as const;
  return { ...document, embeddings: { ...document.embeddings, secret_key_ref: completed } };
}

/** Translates `search` and fills in its defaults. */
export function toSearchConfig(document: SearchDocument | undefined): SearchConfig {
  const { learn, learn_except, embeddings } = document ?? {};
  return {
    learns: learn ?? true,
    learnsExcept: learn_except ?? [],
    embeddings: embeddings && {
      url: embeddings.url.trim(),
      model: embeddings.model,
      secret: embeddings.secret_key_ref,
      dimensions: embeddings.dimensions,
      timeoutMs: embeddings.timeout_ms ?? defaults.timeoutMs,
    },
  };
}
