/** The shape of a test (MCPKG document, Test Case Format). */

import {
  anyJson,
  flag,
  integer,
  list,
  record,
  reportType,
  type Shape,
  text,
  toJsonValue,
  type ValueOf,
} from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";

const input: Shape<JsonObject> = {
  check: (node, place) =>
    node.kind === "map" ? (toJsonValue(node) as JsonObject) : reportType(node, place, "an object"),
  toJsonSchema: () => ({ type: "object", description: "The arguments of the call." }),
};

const assertion = record({
  description: "A condition for the result.",
  fields: {
    path: { required: text({ description: "JSONPath (RFC 9535).", maxLength: 2000 }) },
    equals: anyJson("What every match equals."),
    notEquals: anyJson("What no match equals."),
    exists: flag("Whether there is a match."),
    notExists: flag("Whether there is no match."),
  },
});

const expectedError = record({
  description: "The error with which the tool fails, in place of a result.",
  fields: {
    type: {
      required: text({
        description: "Type of the error of a composite, such as tool_error.",
        maxLength: 100,
      }),
    },
    message: text({
      description: "Its message. Without it, any error of this type.",
      maxLength: 16_384,
      minLength: 0,
    }),
  },
});

const exchange = record({
  description: "A request of an http endpoint and its response.",
  fields: {
    request: {
      required: record({
        description: "The request, without headers and credentials.",
        fields: {
          method: { required: text({ description: "Its method.", maxLength: 20 }) },
          url: {
            required: text({
              description: "Path and query, or the URL at another host than that of the endpoint.",
              maxLength: 16_384,
            }),
          },
          body: anyJson("Its body."),
        },
      }),
    },
    response: {
      required: record({
        description: "The response.",
        fields: {
          status: { required: integer({ description: "Its status.", minimum: 100, maximum: 599 }) },
          headers: anyJson("content-type and location, where it has them."),
          body: text({ description: "Its body, decompressed.", maxLength: 1_048_576, minLength: 0 }),
          bodyBase64: text({
            description: "Its body in base64, where it is no text.",
            maxLength: 1_398_104,
            minLength: 0,
            pattern: { source: "[A-Za-z0-9+/]*={0,2}", meaning: "base64" },
          }),
        },
      }),
    },
  },
});

/** The shape of a test. */
export const testShape = record({
  description: "One test of a tool package.",
  fields: {
    name: { required: text({ description: "Name of the test.", maxLength: 200 }) },
    description: text({ description: "What the test shows.", maxLength: 4096, minLength: 0 }),
    input: { required: input },
    expected: anyJson("A part of the result: objects may have more members."),
    expectedError,
    replies: list(anyJson("A recorded reply: tool, params, and a result or an error."), {
      description: "Recorded replies of the tools that a program or a chain calls, for runs without calls.",
      maxItems: 10_000,
    }),
    exchanges: list(exchange, {
      description: "Recorded requests of an http endpoint and their responses, for runs without requests.",
      maxItems: 100,
    }),
    now: text({
      description: "The time of such a run: nanoseconds since 1970, in digits.",
      maxLength: 20,
      pattern: { source: "-?[0-9]{1,19}", meaning: "digits" },
    }),
    assertions: list(assertion, { description: "Conditions for the result.", maxItems: 1000 }),
    timeoutMs: integer({
      description: "Longest time of the call in milliseconds.",
      minimum: 1,
      maximum: 3_600_000,
      perSecond: 1000,
    }),
  },
});

/** A test of the right shape. */
export type PackageTest = ValueOf<typeof testShape>;
