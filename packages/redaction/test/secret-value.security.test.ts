/** Variables as READMEs of public MCP servers show them, with values of the form that real ones have. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { credentialRanges, looksLikeCredential, omitCredentials, secretVerdict } from "@toolcrib/redaction";
import { slowTest } from "@toolcrib/testing";

/** Joined here, so that no text of this file is the token of a service. */
const hex = (digits: number) =>
  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".slice(0, digits);
const mixed = (length: number) =>
  "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6jL9nP2rT5vX8zA1cE4gI7kM0oQ3s".slice(0, length);
const upper = (length: number) => "A7C2E9G4J1L6N3P8R5T0V7X2Z9B4D1F6".slice(0, length);

const pem = (what: string) => `-----BEGIN ${what}-----\n${mixed(64)}\n-----END ${what}-----`;
/** As a service account is passed in a variable. */
const longBase64 = Buffer.from(
  JSON.stringify({ type: "service_account", data: mixed(64).repeat(12) }),
).toString("base64");

type Pair = readonly [name: string, value: string];

const certain: readonly Pair[] = [
  ["GITHUB_PERSONAL_ACCESS_TOKEN", `ghp_${mixed(36)}`],
  ["OPENAI_API_KEY", `sk-proj-${mixed(48)}`],
  ["BRAVE_API_KEY", `BSA${mixed(28)}`],
  ["AWS_ACCESS_KEY_ID", `AKIA${upper(16)}`],
  ["AWS_SECRET_ACCESS_KEY", `${mixed(20)}/${mixed(19)}`],
  ["MNEMONIC", "any words at all"],
  ["WALLET_MNEMONIC", "test test test"],
  ["SEED_PHRASE", "one two three"],
  ["RECOVERY_PHRASE", "one two three"],
  ["PRIVATE_KEY", `0x${hex(64)}`],
  [
    "SSH_PRIVATE",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----",
  ],
  ["TELEGRAM_PHONE_PASSWORD", "swordfish"],
  ["SMTP_PASS", "swordfish"],
  // The form of the value is enough, under any name.
  ["GITHUB_LOGIN", `github_pat_${mixed(60)}`],
  ["GITLAB", `glpat-${mixed(20)}`],
  ["SLACK_BOT", `xoxb-${"1234567890-"}${mixed(24)}`],
  ["SLACK_APP", `xapp-1-A0-${mixed(30)}`],
  ["SLACK_D", `xoxd-${mixed(40)}`],
  ["STRIPE", `sk_live_${mixed(24)}`],
  ["STRIPE_RESTRICTED", `rk_test_${mixed(24)}`],
  ["STRIPE_HOOK", `whsec_${mixed(32)}`],
  ["CLAUDE", `sk-ant-api03-${mixed(60)}`],
  ["OPENROUTER", `sk-or-v1-${hex(64)}`],
  ["GEMINI", `AIza${mixed(35)}`],
  ["AWS_ROLE", `ASIA${upper(16)}`],
  ["HUGGINGFACE", `hf_${mixed(34)}`],
  ["GROQ", `gsk_${mixed(52)}`],
  ["SENDGRID", `SG.${mixed(22)}.${mixed(43)}`],
  ["NOTION", `ntn_${mixed(46)}`],
  ["LINEAR", `lin_api_${mixed(40)}`],
  ["NPM", `npm_${mixed(36)}`],
  ["FIGMA", `figd_${mixed(40)}`],
  ["GRAFANA", `glsa_${mixed(32)}_0a1b2c3d`],
  ["TAVILY", `tvly-dev-${mixed(32)}`],
  ["FIRECRAWL", `fc-${hex(32)}`],
  ["SUPABASE", `sbp_${hex(40)}`],
  ["DATABRICKS", `dapi${hex(32)}`],
  ["ATLASSIAN", `ATATT3xFfGF0${mixed(60)}`],
  ["TELEGRAM", `123456789:AA${mixed(33)}`],
  ["SESSION", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${mixed(43)}`],
  ["HEADER", `Bearer ${mixed(20)}`],
  ["DISCORD", ["MTk4NjIyNDgzNDcxOTI1MjQ4", "Cl2FMQ", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"].join(".")],
  ["AZURE_SP", ["abc8Q", "dEfGhIjKlMnOpQrStUvWxYz0123456789a"].join("~")],
  // A key of what is looked up is a word; this one is none.
  ["KEY", "hunter2"],
  ["CACHE_KEY", "hunter2x9"],
  ["PASS", "swordfish"],
  ["NEXT_PUBLIC_API_KEY", "hunter2"],
  ["PUBLIC_KEY_PASSWORD", "hunter2"],
  ["PUBLIC_KEY", pem("PRIVATE KEY")],
];

const likely: readonly Pair[] = [
  ["SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T0/B0/xxxx"],
  ["SLACK_URL", `https://hooks.slack.com/services/T024BE7LD/B024BE7LE/${mixed(24)}`],
  ["DISCORD_WEBHOOK_URL", `https://discord.com/api/webhooks/123456789012345678/${mixed(60)}`],
  ["NOTIFY", `https://discordapp.com/api/v10/webhooks/123456789012345678/${mixed(60)}`],
  [
    "TEAMS_WEBHOOK_URL",
    "https://acme.webhook.office.com/webhookb2/a1b2c3d4-0000-1111-2222-333344445555@x/IncomingWebhook/y",
  ],
  [
    "TEAMS_FLOW",
    `https://prod-12.westeurope.logic.azure.com:443/workflows/${hex(32)}/triggers/manual?sig=${mixed(43)}`,
  ],
  ["GOOGLE_CHAT", `https://chat.googleapis.com/v1/spaces/AAAA/messages?key=${mixed(39)}`],
  ["FEISHU_BOT", "https://open.feishu.cn/open-apis/bot/v2/hook/a1b2c3d4-0000-1111-2222-333344445555"],
  ["ZAP", "https://hooks.zapier.com/hooks/catch/123456/abc12de/"],
  ["N8N_WEBHOOK_URL", "https://n8n.example.com/webhook/orders"],
  ["MAKE_ENDPOINT", `https://hook.eu1.make.com/${mixed(32)}`],
  ["TARGET_URL", "https://n8n.example.com/webhook/a1b2c3d4-0000-1111-2222-333344445555"],
  ["MATTERMOST_URL", "https://chat.example.com/hooks/xen9f3kq8bgb9dj1rk7a5e4ymc"],
  ["MCP_URL", `https://mcp.example.com/api/mcp/s/${mixed(40)}/mcp`],
  ["SENTRY_DSN", `https://${hex(32)}@o447951.ingest.sentry.io/5429219`],
  ["ENDPOINT", `https://${hex(32)}@o447951.ingest.sentry.io/5429219`],
  ["DATABASE_URL", "postgresql://app:hunter2@db.example.com:5432/shop"],
  ["REDIS_URL", "redis://:hunter2@localhost:6379/0"],
  ["MDB_MCP_CONNECTION_STRING", "mongodb+srv://app:hunter2@cluster0.mongodb.net/shop"],
  ["MYSQL_DSN", "app:hunter2@tcp(127.0.0.1:3306)/shop"],
  ["PROXY", "http://ada:hunter2@proxy.example.com:3128"],
  ["API_BASE", `https://api.example.com/v1?api_key=${mixed(20)}`],
  ["MSSQL", "Server=db;Database=shop;User Id=sa;Password=hunter2x;"],
  ["AZURE_STORAGE", `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${mixed(40)}==`],
  ["CONNECTION_STRING", "Host=db;Username=sa;Pwd=hunter2x"],
  ["WORDS", "legal winner thank year wave sausage worth useful legal winner thank yellow"],
  ["WALLET_SEED", "legal winner thank year wave"],
  ["OTP", "492039"],
  ["EMAIL_OTP", "492039"],
  ["PIN", "4920"],
  ["SIM_PIN", "4920"],
  ["BACKUP_CODES", "a1b2-c3d4 e5f6-a7b8"],
  ["SID", `s%3A${mixed(20)}`],
  ["CONNECT_SID", `s%3A${mixed(20)}`],
  ["SESSION_ID", mixed(16)],
  ["TELEGRAM_SESSION_STRING", "1BVtsOHMBu0"],
  ["HTTP_AUTH", "ada:hunter2"],
  ["DB_PW", "hunter2"],
  ["APP_JWT", "hunter2"],
  ["TELEGRAM_API_HASH", hex(32)],
  ["GENERIC", mixed(32)],
  ["LICENSE", hex(40)],
  ["HEADERS", '{"Authorization":"Bearer hunter2x"}'],
  ["GCP_ACCOUNT", longBase64],
  ["GCP_ACCOUNT", longBase64.replace(/.{76}/g, "$&\n")],
  ["GCP_ACCOUNT", longBase64.repeat(100)],
  ["DB_URL", "postgres://user:p/ss0rd@host/db"],
  ["DB_URL", "the one of postgres://user:ss0rd@host/db"],
  ["LOGIN", "bob:hunter2"],
  ["SERVICE_USER", "bob:hunter2"],
  ["DB_CONN", "Server=db;User=sa;Password=abc;"],
  ["DB_CONN", "host=db user=sa password=abc"],
  ["FEED", "https://example.com/mcp?pass=hunter2"],
  ["FEED", "https://example.com/mcp?jwt=hunter2"],
  ["FEED", "https://example.com/mcp?a=b&pw=hunter2"],
  ["FEED", "https://example.com/mcp?api%5fk%65y=hunter2"],
  ["FEED", "https://example.com/mcp?code=hunter2x"],
  ["FEED", "https://example.com/s/a1b2c3d4-0000-1111-2222-333344445555/mcp"],
];

const none: readonly Pair[] = [
  ["ALLOWED_DIRECTORIES", "/home/ada/projects,/srv/docs"],
  ["MEMORY_FILE_PATH", "/home/ada/memory.json"],
  ["GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/service-account.json"],
  ["LOG_LEVEL", "debug"],
  ["NODE_ENV", "production"],
  ["PORT", "8080"],
  ["GITHUB_HOST", "https://github.example.com"],
  ["GITHUB_TOOLSETS", "repos,issues,pull_requests,actions,code_security"],
  ["GITLAB_API_URL", "https://gitlab.com/api/v4"],
  ["JIRA_URL", "https://acme.atlassian.net"],
  ["JIRA_USERNAME", "ada@example.com"],
  ["CONFLUENCE_SPACES_FILTER", "DEV,TEAM,DOC"],
  ["SLACK_TEAM_ID", "T01234567"],
  ["SLACK_CHANNEL_IDS", "C01234567, C76543210"],
  ["NOTION_DATABASE_ID", hex(32)],
  ["GDRIVE_FOLDER_ID", `1${mixed(32)}`],
  ["SHEET", `https://docs.google.com/spreadsheets/d/1${mixed(43)}/edit`],
  ["AIRTABLE_BASE_ID", "appAbCdEfGhIjKlMn"],
  ["AZURE_TENANT_ID", "72f988bf-86f1-41af-91ab-2d7cd011db47"],
  ["AZURE_OPENAI_ENDPOINT", "https://acme.openai.azure.com/openai/deployments/gpt-4o"],
  ["TWILIO_ACCOUNT_SID", `AC${hex(32)}`],
  ["GOOGLE_CLIENT_ID", `123456789012-${mixed(32).toLowerCase()}.apps.googleusercontent.com`],
  ["AWS_REGION", "eu-central-1"],
  ["AWS_PROFILE", "staging"],
  ["AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/mcp-readonly"],
  ["DATABASE_URL", "postgresql://localhost:5432/shop"],
  ["POSTGRES_URL", "postgresql://ada@localhost/shop"],
  ["MDB_MCP_CONNECTION_STRING", "mongodb://localhost:27017"],
  ["ODBC_DSN", "Warehouse"],
  ["SQLITE_DSN", "sqlite:///srv/data.db"],
  ["NEO4J_URI", "bolt://localhost:7687"],
  ["QDRANT_URL", "https://xyz-example.eu-central.aws.cloud.qdrant.io:6333"],
  ["COLLECTION_NAME", "my-documents-2024"],
  ["EMBEDDING_MODEL", "sentence-transformers/all-MiniLM-L6-v2"],
  ["OPENAI_MODEL", "gpt-4o-mini-2024-07-18"],
  ["ANTHROPIC_MODEL", "claude-3-5-sonnet-20241022"],
  ["MAX_TOKENS", "4096"],
  ["N8N_WEBHOOK_URL", "https://n8n.example.com/"],
  ["WEBHOOK_PATH", "/webhook/orders"],
  ["WEBHOOK_PORT", "9000"],
  ["HOOKS_DOCS", "https://example.com/docs/hooks/overview"],
  ["RANDOM_SEED", "42"],
  ["SEED", "1234567890"],
  ["LED_PIN", "13"],
  ["OTP_ENABLED", "true"],
  ["AUTH", "oauth"],
  ["HTTP_AUTH", "none"],
  ["SESSION_SID", "42"],
  ["CONTRACT_ADDRESS", `0x${hex(40)}`],
  ["TOKEN_CONTRACT_ADDRESS_LIST_PATH", "./contracts.json"],
  ["GIT_COMMIT", hex(40)],
  ["IMAGE", `ghcr.io/github/github-mcp-server@sha256:${hex(64)}`],
  ["DOCS", "https://github.com/modelcontextprotocol/servers/blob/main/src/filesystem/README.md"],
  ["PERMALINK", `https://github.com/modelcontextprotocol/servers/tree/${hex(40)}/src`],
  ["GIT_REMOTE", "ssh://git@github.com/acme/tools.git"],
  ["NPM_CONFIG_REGISTRY", "https://registry.example.com/npm/"],
  ["LOCALE", "sk-SK"],
  ["TZ", "Europe/Berlin"],
  ["USER_AGENT", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"],
  ["PLAYWRIGHT_BROWSERS_PATH", "/ms-playwright"],
  ["PYTHONPATH", "/opt/app/src:/opt/app/lib"],
  ["PROMPT", "Answer the question with the tools that you have and cite all sources please"],
  ["SCHEDULE", "0 3 * * 1-5"],
  ["FEATURES", "read_only_mode_enabled,write_mode_disabled"],
  ["KUBECONFIG", "~/.kube/config"],
  ["EMPTY", ""],
  // Names that contain the word of a credential, with values that none can have.
  ["KEYBINDINGS", "vim"],
  ["KEY_BINDINGS", "emacs"],
  ["SORT_KEY", "created_at"],
  ["SORT_KEY", "gsi1sk"],
  ["sortKey", "createdAt"],
  ["PRIMARY_KEY", "id"],
  ["PRIMARY_KEYS", "tenant_id, id"],
  ["PARTITION_KEY", "pk"],
  ["PARTITION_KEY", "/tenantId"],
  ["FOREIGN_KEY", "user_id"],
  ["GROUP_KEY", "region"],
  ["RANGE_KEY", "timestamp"],
  ["KEY", "id"],
  ["KEYS", "up,down,left,right"],
  ["CACHE_KEY", "tools.list"],
  ["LOOKUP_KEY", "email"],
  ["TRANSLATION_KEY", "menu.file.open"],
  ["MODIFIER_KEY", "Ctrl+Shift"],
  ["PUBLIC_KEY", pem("PUBLIC KEY")],
  ["PUBLIC_KEY", pem("RSA PUBLIC KEY")],
  ["SSH_PUBLIC_KEY", `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${mixed(43)} ada@example.com`],
  ["VAPID_PUBLIC_KEY", `B${mixed(64)}`],
  ["STRIPE_PUBLISHABLE_KEY", `pk_live_${mixed(24)}`],
  ["SECRET_SCANNING", "on"],
  ["SECRET_SCANNING_MODE", "strict"],
  ["SECRET_PROVIDER", "vault"],
  ["SECRETS_ROTATION", "weekly"],
  ["BEARER_METHODS", "header"],
  ["BEARER_METHODS", "header,query"],
  ["PASS", "true"],
  ["API_KEY", "false"],
  ["USE_TOKEN", "yes"],
  ["REQUIRE_PASSWORD", "off"],
  ["REQUIRE_API_KEY", "required"],
  ["CSRF_TOKEN", "disabled"],
  ["TOKEN_BUDGET", "20000"],
  ["TOKEN_METHOD", "client_secret_post"],
  ["PASSWORD_STRATEGY", "argon2id"],
  // Texts that only look like logins, passwords and random ones.
  ["DOCKER_USER", "1000:1000"],
  ["CONTAINER_USER", "node:staff"],
  ["LOGIN", "ada@example.com"],
  ["USER", "ada"],
  ["ALLOWED_ORIGINS", "http://localhost:3000,https://ada@example.com"],
  ["DEV_SERVER", "http://localhost:5173/@vite/client"],
  ["API_BASE", "https://example.com:8443?owner=ada@example.com"],
  ["DB_URL", "postgres://app:$" + "{DB_PASSWORD}@db/shop"],
  ["DB_URL", "postgres://<user>:<password>@<host>/<database>"],
  ["DB_CONN", "Server=db;Database=shop;Integrated Security=true;"],
  ["DB_CONN", "host=db user=ada dbname=shop sslmode=require"],
  ["FEED", "https://example.com/list?sort_key=created_at&page=2"],
  ["FEED", "https://example.com/list?design=modern&country_code=DE"],
  ["FEED", "https://example.com/list?code=de&key=id"],
  ["FEED", "https://example.com/projects/a1b2c3d4-0000-1111-2222-333344445555/items"],
  ["TENANT_URL", "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"],
  ["PACKAGE", `git+https://github.com/acme/tools.git#${hex(40)}`],
  ["PACKAGE", `git+https://github.com/acme/tools@${hex(40)}`],
  ["GIT_REF", hex(40)],
  ["MODEL_REV", hex(40)],
  ["SKILLS", Array.from({ length: 80 }, () => "read_write_search").join("_")],
];

for (const [verdict, pairs] of [
  ["certain", certain],
  ["likely", likely],
  [undefined, none],
] as const) {
  test(`secretVerdict() is ${verdict} for variables of real servers`, () => {
    assert.ok(pairs.length >= 40, `${pairs.length} pairs`);
    const others = pairs.filter(([name, value]) => secretVerdict("variable", name, value) !== verdict);
    assert.deepEqual(
      others.map(([name, value]) => [name, value, secretVerdict("variable", name, value)]),
      [],
    );
  });
}

test("a token of a known form is found within a text, too", () => {
  const tokens = certain.filter(([, value]) => looksLikeCredential(value)).map(([, value]) => value);
  assert.ok(tokens.length >= 28, `${tokens.length} tokens`);
  for (const token of tokens) {
    const text = `use "${token}" here`;
    const left = credentialRanges(text).reduce(
      (rest, { start, end }) => `${rest.slice(0, start)}${" ".repeat(end - start)}${rest.slice(end)}`,
      text,
    );
    assert.ok(!left.includes(token.slice(-8)), left);
  }
});

test("the secret part of the URL of a webhook is found within a text", () => {
  const known = likely.slice(0, 9).map(([, value]) => value);
  for (const url of known) {
    const text = `post it to ${url} now`;
    const ranges = credentialRanges(text);
    assert.ok(
      ranges.some(({ end }) => end >= text.length - " now".length - 1),
      url,
    );
    assert.ok(
      ranges.every(({ end }) => end <= text.length - " now".length),
      url,
    );
  }
});

test("of a URL within a text, the user and the parameters with names of secrets are found, and no others", () => {
  const hidden = (text: string) =>
    credentialRanges(text)
      .toSorted((one, other) => one.start - other.start)
      .map(({ start, end }) => text.slice(start, end));
  const rows: readonly (readonly [text: string, parts: readonly string[]])[] = [
    ["see https://bob:hunter2@api.example/x now", ["bob:hunter2"]],
    ["see https://api.example/x?pwd=hunter2&page=2", ["hunter2"]],
    ["see https://api.example/x?page=2&pass=hunter2#top", ["hunter2"]],
    ["see https://api.example/x?x-auth=swordfish, and more", ["swordfish,"]],
    ["see https://api.example/x?auth=swordfish&sid=a1b2c3d4e5", ["swordfish", "a1b2c3d4e5"]],
    ["see https://api.example/x?sig=ab12&jwt=x.y.z&otp=123456", ["ab12", "x.y.z", "123456"]],
    ["see https://api.example/x?api%5Fkey=hunter2", ["hunter2"]],
    ["see https://api.example/t?client_assertion=e30.e30.x&assertion=e30.y", ["e30.e30.x", "e30.y"]],
    ["see https://sp.example/acs?SAMLResponse=PHNhbWw&RelayState=home", ["PHNhbWw"]],
    ["see https://api.example/cb?code=k3vD9sQ1", ["k3vD9sQ1"]],
    ["see https://api.example/x?access_token=hunter2", ["hunter2"]],
    ["see https://api.example/x?code=DE&country=de&author=ada&page=2&auth=basic", []],
    ["see https://api.example/x?q=pass&author=ada@example.com", []],
    ["see https://a.example/go?next=https://b.example/?pwd=hunter2&page=2", ["hunter2"]],
    ["see https://a.example/go?a=?pwd=one&b=?c=?pass=two?jwt=2 now", ["one", "two?jwt=2"]],
    [`see https://a.example/?sas=${"ab12".repeat(2000)} now`, ["ab12".repeat(2000)]],
    ["see https://a.example/cb#access_token=hunter2&expires_in=3600", ["hunter2"]],
    ["see https://a.example/cb#state=1&pwd=hunter2 now", ["hunter2"]],
    ["see https://a.example/x;jsessionid=A1B2C3D4;v=2?page=1", ["A1B2C3D4"]],
    ["see https://a.example/x?page=1;pwd=hunter2;lang=de", ["hunter2"]],
    ["see https://a.example/x?pwd=hunter;2&page=1", ["hunter;2"]],
    ["see https://a.example/?next=https%3A%2F%2Fb.example%2F%3Fpwd%3Dhunter2%26page%3D2", ["hunter2"]],
    ["see https://a.example/?next=%2Fb%23access_token%3Dhunter2&page=2", ["hunter2"]],
    ["see https://a.example/?next=%252Fb%253Fapi_key%253Dhunter2%2526page%253D2", ["hunter2"]],
    ["see https://a.example/?next=%2Fb%3Fq%3D1%3Bsid%3Da1b2c3d4e5", ["a1b2c3d4e5"]],
    ["see https://bob:hun?ter#2@a.example/x now", ["bob:hun?ter#2"]],
    ["see https://bob:12345#x@a.example/ now", []],
    [String.raw`{"u":"https://a.example/?a=1\u0026access_token=hunter2\u0026page=2"}`, ["hunter2"]],
    [String.raw`{"u":"/x?access_token\u003dhunter2\u0026page\u003d2"}`, ["hunter2"]],
    [
      String.raw`{"u":"https:\/\/bob:hunter2@a.example\/cb#access_token=hunter3"}`,
      ["bob:hunter2", "hunter3"],
    ],
    [String.raw`{"u":"https:\/\/a.example\/cb\u0023pwd=hunter2"}`, ["hunter2"]],
    [String.raw`{"u":"https:\/\/a.example\/@scope\/x\u0026keyboard\u003d1", "color": "\u0023auth=x"}`, []],
    ["see https://a.example/?next=%2Fb%3Fpage%26author%3Dada%26sort_key%3Dname", []],
    ["see https://a.example:8080?mail=ada@example.com", []],
    ["see https://a.example:?mail=ada@example.com", []],
    ["see https://a.example/docs#keyboard=1;page=2 and #author=ada", []],
    ["see https://a.example/guide#signature-of-a-call;-and-more", []],
    ["see https://a.example/?next=https%3A%2F%2Fb.example%2F%3Fpage%3D2%26sort_key%3Dname", []],
    ["see https://a.example/wiki/Token;Key#Pass?x=1", []],
    ["let a = b;token=next();c", []],
    ["the color #auth=x of a page without an address", []],
  ];
  for (const [text, parts] of rows) assert.deepEqual(hidden(text), parts, text);
});

test("a secret in an encoded URL is found after a part without a value, too", () => {
  for (const name of ["sig", "sid", "auth", "otp", "session", "ticket", "hmac", "code", "api_key", "pwd"]) {
    for (const before of [
      "?next=%2Fb%3Fdebug%26",
      "?https%3A%2F%2Fb.example%2F%3F",
      "#%3F",
      "?q%26",
      "?q%3B",
      "?debug%2526",
      "?a%253Fb%252526",
    ]) {
      const [, level = ""] = /%((?:25)*)\w\w$/.exec(before) ?? [];
      const url = `https://a.example/${before}${name}%${level}3Dhunter2x9a1b2c3d`;
      const found = credentialRanges(url).map(({ start, end }) => url.slice(start, end));
      assert.deepEqual(found, ["hunter2x9a1b2c3d"], url);
      // No random part: only the name of the parameter says it.
      const plain = url.replace("9a1b2c3d", "");
      assert.equal(secretVerdict("url", "", plain), "likely", plain);
    }
  }
});

test("the value of a parameter that begins with a known token is hidden to its end", () => {
  for (const mark of ["?", "?page=2&", "#", ";"])
    assert.equal(
      omitCredentials(`see https://a.example/${mark}x_auth=ghp_${mixed(36)}.rest&page=2`),
      `see https://a.example/${mark}x_auth= &page=2`,
    );
});

test("of parameters of URLs, only those with certain names are found where nothing else may be hidden", () => {
  const hidden = (text: string) =>
    credentialRanges(text, "certain").map(({ start, end }) => text.slice(start, end));
  for (const name of ["auth_target", "auth-target", "session", "ticket", "code", "pin", "sid"])
    assert.deepEqual(hidden(`https://a.example/transfer?amount=5&${name}=mallory-account`), [], name);
  assert.deepEqual(hidden("https://a.example/?access_token=hunter2"), ["hunter2"]);
  assert.deepEqual(hidden("https://a.example/?q%26access_token%3Dhunter2"), ["hunter2"]);
  const amount = String.raw`{"u":"https://a.example/?access_token=hunter2\u0026amount=5"}`;
  assert.deepEqual(new Set(hidden(amount)), new Set(["hunter2"]));
});

test("a parameter with a long name is found by its beginning and its end, in linear time", () => {
  const found = (text: string, parameters?: "certain") =>
    credentialRanges(text, parameters).map(({ start, end }) => text.slice(start, end));
  for (const length of [90, 250, 300, 5000, 2_000_000]) {
    const long = "x".repeat(length);
    for (const mark of ["?", "?page=2&", "#", ";"]) {
      const url = `https://a.example/${mark}`;
      for (const name of [`${long}_token`, `api_key_${long}`]) {
        assert.deepEqual(found(`see ${url}${name}=hunter2&page=2`), ["hunter2"]);
        assert.deepEqual(found(`see ${url}${name}=hunter2&page=2`, "certain"), ["hunter2"]);
      }
      assert.deepEqual(found(`see ${url}${long}_sig=hunter2`), ["hunter2"]);
      assert.deepEqual(found(`see ${url}auth_${long}=hunter2`), ["hunter2"]);
      assert.deepEqual(found(`see ${url}${long}_page=hunter2`), []);
    }
    const encoded = `https://a.example/?next=%2Fb%3F${"%78".repeat(length)}%5Ftoken%3Dhunter2%26page%3D2`;
    assert.deepEqual(found(encoded), ["hunter2"]);
  }
  // Quadratic time would take minutes, and a match that remembers each character would end with the stack.
  for (const piece of ["%", "%25", "%2525252525", "\\", "\\u00", "é", "a%", "key", "_auth", "25"]) {
    const long = piece.repeat(Math.ceil(2_000_000 / piece.length));
    for (const text of [`?${long}`, `?${long}=hunter2`, `https://a.example/#${long}%3Dhunter2`]) found(text);
  }
});

test("secretVerdict() judges headers, URLs and arguments", () => {
  const cases: readonly (readonly [Parameters<typeof secretVerdict>, ReturnType<typeof secretVerdict>])[] = [
    [["header", "Authorization", "x"], "certain"],
    [["header", "X-Password", "x"], "certain"],
    [["header", "token", "x"], "certain"],
    [["header", "X-Auth", "swordfish"], "likely"],
    [["header", "Authtoken", "hunter2"], "certain"],
    [["header", "Authentication", "hunter2"], "certain"],
    [["header", "X-Authorization", "dXNlcjpwYXNz"], "certain"],
    [["header", "Key", "hunter2"], "certain"],
    [["header", "X-Access", "hunter2"], "likely"],
    [["header", "X-Signature", "hunter2"], "likely"],
    [["header", "X-Access", "read-only"], undefined],
    [["header", "X-Signature", "hmac-sha256"], undefined],
    [["header", "X-Sort-Key", "created_at"], undefined],
    [["header", "Key", "id"], undefined],
    [["header", "Authentication", "none"], undefined],
    [["header", "X-Access-Level", "3"], undefined],
    [["header", "X-Tenant", mixed(32)], "likely"],
    [["header", "Monkey", "banana"], undefined],
    [["header", "X-Region", "eu"], undefined],
    [["url", "", "https://mcp.example.com/mcp"], undefined],
    [["url", "", `https://mcp.example.com/s/${mixed(32)}/mcp`], "likely"],
    [["url", "", "https://mcp.example.com/mcp?api_key=hunter2x"], "likely"],
    [["url", "", "https://ada:hunter2@mcp.example.com/mcp"], "likely"],
    [["url", "", `https://mcp.example.com/mcp?x=ghp_${mixed(36)}`], "certain"],
    [["url", "", "https://mcp.example.com/mcp#access_token=hunter2x"], "likely"],
    [["url", "", "https://mcp.example.com/mcp;pwd=hunter2x"], "likely"],
    [["url", "", "https://mcp.example.com/?next=https%3A%2F%2Fb.example%2F%3Fpwd%3Dhunter2x"], "likely"],
    [["url", "", "https://ada:hun?ter2@mcp.example.com/mcp"], "likely"],
    [["url", "", "https://mcp.example.com/?next=https%3A%2F%2Fb.example%2F%3Fpage%3D2#top;more"], undefined],
    [["argument", "", "https://hooks.slack.com/services/T0/B0/xxxx"], "likely"],
    [["argument", "", "postgresql://app:hunter2@db/shop"], "likely"],
    [["argument", "", "PIN=4920"], "likely"],
    [["argument", "", "MONKEY=banana"], undefined],
    [["argument", "", "mysql://root:S3cretPw@db/x"], "likely"],
    [["argument", "", "--conn=postgres://bob:hunter2secret@db.local/x"], "likely"],
    [["argument", "", "--url=https://x.io/sse?pass=hunter2"], "likely"],
    [["argument", "", "--user=bob:hunter22"], "likely"],
    [["argument", "", "-phunter2secret"], "likely"],
    [["argument", "", "--pw=hunter2"], "likely"],
    [["argument", "", hex(32)], "likely"],
    [["argument", "", hex(40)], "likely"],
    [["argument", "--commit", hex(40)], undefined],
    [["argument", "", `--commit=${hex(40)}`], undefined],
    [["argument", "", `--project-id=${hex(32)}`], undefined],
    [["argument", "", "--sort-key=created_at"], undefined],
    [["argument", "", "--user=1000:1000"], undefined],
    [["argument", "", "--max-tokens=4096"], undefined],
    [["argument", "", "--token-file=/run/token"], undefined],
    [["argument", "", "--keybindings=vim"], undefined],
    [["argument", "", "--origin=http://localhost:3000"], undefined],
    [["argument", "", "-p8080"], undefined],
    [["argument", "", "-profile2"], undefined],
    [["argument", "", "-Xmx512m"], undefined],
    [["argument", "", "--port=8080"], undefined],
    [["plain", "", "The seed of the generator"], undefined],
  ];
  for (const [given, verdict] of cases) assert.equal(secretVerdict(...given), verdict, given.join(" | "));
});

test("secretVerdict() takes linear time for texts that are made to be slow", slowTest, () => {
  for (const piece of [
    "a:",
    "://",
    "//a:",
    "?key",
    "token:",
    "hooks/",
    "--a ",
    "A_",
    "eyJ.",
    "123456789:",
    "[0-9]{8}",
    "://a:b",
    "-p1a",
    "--a=",
    "k=v password",
    ";pwd ",
    "MNO-",
    "abc8Q~",
    "a.B-",
    "?%61=",
    "?a=%41",
    "?b%=%25",
    "%26%26",
    "?q%26auth%3D",
    "\\u0026",
    "&a\\u003d",
    ":\\/\\/",
    "?pwd=a&",
    "://#pwd=;",
    "%3Fpwd%3D",
    "%25253F%2525",
    "://a:b?",
    ";a",
    "?a=",
    "?code=",
    "?public_key=",
    "&key=abc",
    "aGVsbG8x",
    "user_",
    "ab:cd",
  ]) {
    const long = piece.repeat(Math.ceil(200_000 / piece.length));
    for (const text of [long, `https://${long}`]) {
      for (const role of ["header", "url", "argument", "plain"] as const) secretVerdict(role, "NAME", text);
      for (const name of ["NAME", "KEY", "SORT_KEY", "DB_DSN", "LOGIN", text])
        secretVerdict("variable", name, text);
      credentialRanges(text);
    }
  }
});
