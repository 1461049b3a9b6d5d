import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePolicies } from "@toolcrib/cedar";
import { formatDiagnostics } from "@toolcrib/diagnostics";

async function findings(...texts: readonly string[]): Promise<string> {
  const { diagnostics } = await parsePolicies(
    texts.map((text, at) => ({ name: at === 0 ? "main.cedar" : `${at}.cedar`, text })),
  );
  return formatDiagnostics(diagnostics);
}

/** Checks that a text has one finding, of this code and at this place, whose text contains `part`. */
async function check(text: string, place: string, code: string, part: string): Promise<void> {
  const found = await findings(text);
  assert.ok(found.startsWith(`${place}: `), found);
  assert.ok(found.includes(` ${code}\n`), found);
  assert.ok(found.includes(part), found);
}

test("parsePolicies() accepts every construct of the schema", async () => {
  const text = `
@id("readers") @description("everyone reads")
permit(principal, action in Action::"use", resource) when { resource.read_only };
permit(principal in Role::"operator", action, resource);
@id("teams")
permit(principal, action == Action::"call", resource is Tool in ToolServer::"github")
  when { principal.hasTag("team") && resource.server.hasTag("team") && principal.getTag("team") == resource.server.getTag("team") }
  unless { context.time.weekday == "sunday" || context.time.hour >= 18 || context.seen_labels.contains("data=personal") };
@id("refunds") @message("Refunds above 1000 need a person")
forbid(principal, action == Action::"call", resource == Tool::"stripe:refund")
  when { context.integers.hasTag("amount") && context.integers.getTag("amount") > 1000 };
@approval("waived")
permit(principal == Client::"ci", action == Action::"call", resource in ToolServer::"notes")
  when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/tmp/*" && context.depth == 0 };
permit(principal, action == Action::"save", resource) when { resource.origin == "saved" };
`;
  const { value, diagnostics } = await parsePolicies([{ name: "main.cedar", text }]);
  assert.equal(formatDiagnostics(diagnostics), "");
  assert.deepEqual(
    value?.policies.map(({ rule, message, waivesApproval }) => [rule, message, waivesApproval]),
    [
      ["main.cedar#readers", undefined, false],
      ["main.cedar#2", undefined, false],
      ["main.cedar#teams", undefined, false],
      ["main.cedar#refunds", "Refunds above 1000 need a person", false],
      ["main.cedar#5", undefined, true],
      ["main.cedar#6", undefined, false],
    ],
  );
});

test("parsePolicies() keeps the order of more than ten policies", async () => {
  const text = Array.from(
    { length: 13 },
    (_, at) => `@id("p${at}") permit(principal, action, resource);`,
  ).join("\n");
  const { value } = await parsePolicies([{ name: "main.cedar", text }]);
  assert.deepEqual(
    value?.policies.map(({ name }) => name),
    Array.from({ length: 13 }, (_, at) => `p${at}`),
  );
});

test("parsePolicies() reports each mistake with its place and a fix", async () => {
  const head = "permit(principal, action, resource)";
  await check(`${head}`, "main.cedar:1:36", "CEDAR_SYNTAX", "end of input");
  await check(
    `${head} when { foo };`,
    "main.cedar:1:44",
    "CEDAR_SYNTAX",
    "did you mean to enclose `foo` in quotes",
  );
  await check(`// é€\n${head} when { foo };`, "main.cedar:2:44", "CEDAR_SYNTAX", "foo");
  await check(
    `// 𝒳é€\n${head} when { resource.nme == "x" };`,
    "main.cedar:2:53",
    "CEDAR_INVALID",
    "ttribute `nme`",
  );
  await check(
    'permit(principal, action == Action::"cal", resource);',
    "main.cedar:1:29",
    "CEDAR_INVALID",
    'did you mean `Action::"call"`',
  );
  await check(
    'permit(principal == Clent::"a", action, resource);',
    "main.cedar:1:21",
    "CEDAR_INVALID",
    "did you mean `Client`",
  );
  await check(
    'permit(principal, action == Action::"call", resource) when { context.integers.getTag("n") > 1 };',
    "main.cedar:1:62",
    "CEDAR_INVALID",
    "tag",
  );
  await check(
    "permit(principal == ?principal, action, resource);",
    "main.cedar:1:21",
    "CEDAR_TEMPLATE",
    "templates",
  );
  await check(
    `@id("a") ${head};\n@id("a") ${head};`,
    "main.cedar:2:5",
    "CEDAR_ID_DUPLICATE",
    "give each its own @id",
  );
  await check(`@mesage("x") ${head};`, "main.cedar:1:2", "CEDAR_ANNOTATION", "did you mean @message?");
  await check(`@approval("wave") ${head};`, "main.cedar:1:11", "CEDAR_ANNOTATION", '@approval("waived")');
  await check(
    `\n${head} when { resource.server.trust_state == "verifed" };`,
    "main.cedar:2:75",
    "CEDAR_VALUE_UNKNOWN",
    'did you mean "verified"?',
  );
  await check(
    `${head} when { ["read_only", "wirte"].contains(resource.server.mutability_class) };`,
    "main.cedar:1:58",
    "CEDAR_VALUE_UNKNOWN",
    'did you mean "write"?',
  );
  await check(
    `${head} when { resource.server.transport == "a" && false };`,
    "main.cedar:1:1",
    "CEDAR_VALUE_UNKNOWN",
    "stdio",
  );
  await check(
    `${head} when { resource.read_only && false };`,
    "main.cedar:1:1",
    "CEDAR_SUSPICIOUS",
    "impossible",
  );
  await check("x".repeat(262_145), "main.cedar", "CEDAR_TOO_LARGE", "split it");
});

test("parsePolicies() reports the mistakes of all files at once", async () => {
  const found = await findings(
    "permit(",
    "forbid(principal, action, resource) when { resource.nme };",
    "@id(",
  );
  for (const place of ["main.cedar:1:", "1.cedar:1:", "2.cedar:1:"]) assert.ok(found.includes(place), found);
});

test("parsePolicies() limits the policies of all files together", async () => {
  const text = "permit(principal, action, resource);\n".repeat(501);
  assert.match(await findings(text, text), /There are 1002 policies; at most 1000/);
});

test("a finding about the second of several policies marks the token in its file and line", async () => {
  const first = '@id("first")\npermit(principal, action, resource);\n\n// "verifid" is é no value\n';
  const marked = async (second: string) => {
    const found = await findings("permit(principal, action, resource);", first + second);
    const [place = "", , frame = "", carets = ""] = found.split("\n");
    const from = carets.indexOf("^");
    return `${place.split(": ")[0]} ${frame.slice(from, carets.length)}`;
  };
  const head = '@id("second")\nforbid(principal, action, resource)';
  const cases: readonly (readonly [string, string])[] = [
    [`${head} when { resource.read_onlyy };`, "1.cedar:6:53 read_onlyy"],
    [`${head} when { resource.server.trust_state = "verified" };`, "1.cedar:6:72 ="],
    [
      `${head}\n  when { resource.read_only && "verifid" == resource.server.trust_state };`,
      '1.cedar:7:32 "verifid"',
    ],
    [
      `${head}\n  when { resource.name == "verifid" || resource.server.trust_state == "verifid" };`,
      '1.cedar:7:71 "verifid"',
    ],
    [`${head.replace("second", "first")};`, '1.cedar:5:5 "first"'],
    [`${head.replace(")", ') @massage("x")')};`, "1.cedar:5:16 massage"],
    [`${head.replace(")", ') @approval("no")')};`, '1.cedar:5:25 "no"'],
    [`${head} when { resource.server == ToolServr::"x" };`, "1.cedar:6:63 ToolServr"],
  ];
  for (const [text, expected] of cases) assert.equal(await marked(text), expected);
  const found = await findings(`${head} when { resource.nme == "x" };`);
  assert.equal(found.match(/CEDAR_INVALID/g)?.length, 1, "once for tools, resources and prompts");
});
