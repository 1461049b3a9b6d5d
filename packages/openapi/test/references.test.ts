import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "@toolcrib/diagnostics";
import type { ImportOptions } from "@toolcrib/openapi";
import { api, importText, lintOf } from "./check-import.ts";

type ReadReference = NonNullable<ImportOptions["readReference"]>;

/** Returns a reader of the given documents, and the list of its reads. */
function reader(files: { readonly [name: string]: string }) {
  const asked: string[] = [];
  const readReference: ReadReference = async (reference, from) => {
    asked.push(`${reference} from ${from}`);
    const text = files[reference];
    if (text === undefined) throw new CodedError("NOT_HERE", `Cannot read ${reference}`);
    return { name: reference, text };
  };
  return { asked, readReference };
}

const paths = `/a:
  get:
    parameters: [{$ref: "parts.yaml#/parameters/Size"}]
    responses: {}
/b:
  $ref: "b.yaml"
`;

test("references to other documents are read once each, relative to the document that contains them", async () => {
  const { asked, readReference } = reader({
    "parts.yaml": 'parameters:\n  Size: {name: size, in: query, schema: {$ref: "types.yaml#/Size"}}',
    "types.yaml": "Size: {type: integer, maximum: 9, description: {}}",
    "b.yaml": 'get: {operationId: getB, parameters: [{$ref: "parts.yaml#/parameters/Size"}], responses: {}}',
  });
  const report = await importText(api(paths), { readReference });
  const params = report.value?.toolspec.tools.map(({ name, params }) => [
    name,
    params?.[0]?.type,
    params?.[0]?.description,
  ]);
  assert.deepEqual(params, [
    ["get_a", "integer", "At most 9"],
    ["get_b", "integer", "At most 9"],
  ]);
  assert.deepEqual(asked.sort(), [
    "b.yaml from api.yaml",
    "parts.yaml from api.yaml",
    "parts.yaml from b.yaml",
    "types.yaml from parts.yaml",
  ]);
});

/** Checks the reason for a reference that cannot be resolved. */
function checkLost(reference: string, files: { readonly [name: string]: string }, reason: RegExp) {
  test(`$ref ${JSON.stringify(reference)} is reported when it cannot be resolved, and the rest is imported`, async () => {
    const lines = `/a: {get: {parameters: [{name: x, in: query, schema: {$ref: "${reference}"}}], responses: {}}}`;
    const report = await importText(api(lines, more), { readReference: reader(files).readReference });
    const [first] = report.diagnostics.filter(({ code }) => code === "OPENAPI_REFERENCE");
    assert.match(first?.message ?? "", reason);
    assert.equal(report.value?.toolspec.tools[0]?.params?.[0]?.name, "x");
    assert.deepEqual(lintOf(report), []);
  });
}

const more = `components:
  schemas:
    Loop: {$ref: "#/components/schemas/Pool"}
    Pool: {$ref: "#/components/schemas/Loop"}
`;
checkLost("#/components/schemas/None", {}, /its target does not exist/);
checkLost("#/components/schemas/Loop", {}, /it refers to itself/);
checkLost("#bad", {}, /its target does not exist/);
checkLost("other.yaml#/x", {}, /Cannot read other\.yaml/);
checkLost("other.yaml#/x", { "other.yaml": "x: [" }, /its document has an error: A bracket is not closed/);
checkLost("other.yaml#/y", { "other.yaml": "x: 1" }, /its target does not exist/);

test("without a reader no other document is read, and each is reported", async () => {
  const report = await importText(api(paths));
  const messages = report.diagnostics
    .filter(({ code }) => code === "OPENAPI_REFERENCE")
    .map(({ message }) => message);
  assert.equal(messages.length, 2);
  for (const message of messages) assert.match(message, /other documents are not read/);
});

test("documents that refer to each other without end are read up to a limit", async () => {
  let count = 0;
  const readReference: ReadReference = async (reference) => {
    count += 1;
    return { name: `${reference}${count}`, text: `x: {$ref: "n${count}.yaml#/x"}` };
  };
  const lines = '/a: {get: {parameters: [{name: x, in: query, schema: {$ref: "n.yaml#/x"}}], responses: {}}}';
  const report = await importText(api(lines), { readReference });
  assert.ok(count < 100, `${count} documents were read`);
  assert.ok(report.value);
});
