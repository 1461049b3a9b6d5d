/**
 * Runs the required cases of the JSON Schema Test Suite for 2020-12 and draft-07 through
 * `SchemaValidator`, which checks the arguments of calls. Documents that the cases refer to are
 * given to the validator; nothing is fetched. A deviation is an exception with a reason; one that
 * starts to conform fails the run.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { needsSuite, readSuite } from "@toolcrib/testing";

interface SuiteGroup {
  readonly description: string;
  readonly schema: JsonObject | boolean;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

const deviations: { readonly [dialect: string]: { readonly [name: string]: string } } = {
  "draft2020-12": {
    "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates":
      "a dialect of someone else is read as 2020-12",
  },
  draft7: {},
};
const dialects = [
  { dialect: "draft2020-12", uri: "https://json-schema.org/draft/2020-12/schema", leastCount: 1257 },
  { dialect: "draft7", uri: "http://json-schema.org/draft-07/schema#", leastCount: 913 },
] as const;

const documents = new Map(
  readSuite("json-schema", "remotes").map(({ path, text }) => [
    `http://localhost:1234/${path}`,
    JSON.parse(text) as JsonValue,
  ]),
);

for (const { dialect, uri, leastCount } of dialects) {
  const files = readSuite("json-schema", `tests/${dialect}`).filter(
    ({ path }) => !path.startsWith("optional/"),
  );
  test(`SchemaValidator passes the required cases of ${dialect}`, needsSuite(files), () => {
    const { count, failed } = run(files, uri);
    assert(count >= leastCount, `the suite has only ${count} cases`);
    assert.deepEqual(failed, Object.keys(deviations[dialect] ?? {}));
  });
}

function run(
  files: readonly { readonly path: string; readonly text: string }[],
  uri: string,
): { readonly count: number; readonly failed: readonly string[] } {
  const validator = new SchemaValidator({ documents });
  let count = 0;
  const failed: string[] = [];
  for (const { path, text } of files) {
    for (const { description, schema, tests } of JSON.parse(text) as readonly SuiteGroup[]) {
      // The schema of a tool is an object.
      const object: JsonObject = typeof schema === "boolean" ? { allOf: [schema] } : schema;
      for (const one of tests) {
        count += 1;
        const { kind } = validator.validate({ $schema: uri, ...object }, one.data);
        if (kind !== (one.valid ? "valid" : "invalid")) {
          failed.push(`${path}: ${description}: ${one.description}`);
        }
      }
    }
  }
  return { count, failed };
}
