/**
 * Realistic synthetic tools, the same in every run: services with their own nouns,
 * verbs on those nouns, descriptions of one
 * to three sentences, and input schemas with two to nine described parameters.
 */

/** A tool as search indexes take it. */
export interface SyntheticTool {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly namespace: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputSchema: { readonly type: "object"; readonly properties: Record<string, unknown> };
}

/** A source of numbers in [0, 1) that repeats for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A service a line: its name, a colon, what its tools are about. */
const services = `
github: issue, pull request, repository, branch, commit, release, workflow run, code scanning alert, gist, label
gitlab: merge request, pipeline, project, epic, milestone, snippet, runner, deploy key
slack: channel, message, thread, reaction, user profile, reminder, canvas, file upload
linear: issue, cycle, project update, team, roadmap, comment, workflow state
jira: ticket, sprint, board, worklog, attachment, transition, component, filter
notion: page, database, block, comment, workspace member, template
google-calendar: event, calendar, attendee, reminder, free busy slot, recurring series
gmail: email, draft, thread, label, attachment, filter rule, signature
google-drive: document, spreadsheet, folder, permission, revision, shared drive
filesystem: file, directory, symbolic link, file metadata, path, archive
postgres: table, query, schema, index, role, migration, view, materialized view
mongodb: collection, document, aggregation pipeline, index, replica set, change stream
redis: key, hash, sorted set, stream, pub sub channel, script
elasticsearch: index, mapping, document, search template, snapshot, ingest pipeline
stripe: customer, invoice, subscription, payment intent, refund, price, coupon, payout
shopify: product, order, variant, fulfillment, discount code, inventory level
salesforce: account, opportunity, lead, contact, campaign, case, report
hubspot: contact, deal, company, marketing email, form, ticket pipeline
zendesk: ticket, macro, satisfaction rating, organization, help center article
kubernetes: pod, deployment, service, config map, secret, namespace, node, ingress, cron job
docker: container, image, volume, network, compose stack, build cache
terraform: plan, state, workspace, module, provider, variable set
aws-s3: bucket, object, multipart upload, lifecycle rule, access policy
aws-ec2: instance, security group, volume, snapshot, key pair, elastic ip
aws-lambda: function, layer, event source mapping, alias, log group
cloudflare: zone, dns record, worker, firewall rule, page rule, r2 bucket
sentry: issue, event, project, release, alert rule, performance transaction
datadog: monitor, dashboard, metric, log query, incident, synthetic test
grafana: dashboard, panel, alert, data source, annotation, folder
pagerduty: incident, escalation policy, schedule, service, on call rotation
puppeteer: page, screenshot, element, form field, console message, pdf
brave-search: web result, news article, image, local business, summary
memory: entity, relation, observation, knowledge graph, node
weather: forecast, current conditions, severe weather alert, historical record, station
maps: route, place, geocode, distance matrix, elevation, time zone
spotify: playlist, track, album, artist, playback queue, device
youtube: video, channel, caption, playlist item, comment thread
figma: frame, component, style, comment, variable, design file
twilio: text message, phone call, phone number, voicemail recording, conversation
openapi: endpoint, operation, specification, mock server, example response
`;

const verbs = `
create: Create a new @|Creates a @ and returns its identifier|Add a @ to the selected workspace
get: Get the details of a single @|Retrieve a @ by its id|Fetch one @ including its metadata
list: List every @ that the caller can see|Returns a paginated list of each @|Enumerate the available @ entries
search: Search for a @ using a free text query|Find @ records that match the given criteria
update: Update the fields of an existing @|Modify a @; fields that are absent stay unchanged
delete: Permanently delete a @|Remove the @ with the given identifier. This cannot be undone
archive: Archive a @ so that it no longer shows up in lists|Move the @ to the archive
export: Export a @ as CSV or JSON|Download the @ in the requested format
import: Import a @ from a file or URL|Bulk load @ data from a CSV upload
share: Share a @ with people or groups|Grant somebody access to the @
copy: Duplicate a @ under another name|Make a copy of the @ including its settings
move: Move a @ somewhere else|Change the parent of the @
validate: Check a @ for problems without changing it|Validate the @ against its rules
watch: Subscribe to changes of a @|Get notified when the @ changes
count: Count how many @ entries match a filter|Returns the number of @ items
assign: Assign a @ to a person|Set the owner of the @
restore: Restore a deleted @ from its last version|Undo the deletion of a @
summarize: Summarize a @ in a few sentences|Produce a short summary of the @
schedule: Schedule a @ for a later date and time|Plan the @ for the given time zone
approve: Approve a pending @|Accept the @ on behalf of the reviewer
`;

const sentences = `
Requires write access to the @.
Results are sorted by creation date, newest first.
Use the cursor from the previous response to fetch the next page.
The response contains at most 100 items per page.
Rate limits of the upstream API apply.
Returns an error when the @ does not exist.
Dates are expected in ISO 8601 format, for example 2026-01-31T09:30:00Z.
Do not use this tool for bulk operations; prefer the batch variant instead.
Useful when you need to know which @ was changed most recently.
The operation runs asynchronously and returns a job id that can be polled.
`;

const parameters = `
owner: Account owner of the @ (user or organization name)
repo: Name of the repository
page: Page number for pagination (min 1)
per_page: Results per page for pagination (min 1, max 100)
query: Free text search query
cursor: Opaque cursor returned by the previous call
limit: Maximum number of results to return
include_archived: Whether archived entries are included in the result
sort_by: Field to sort the @ list by
order: Sort order, ascending or descending
title: Title of the @
body: Body text in Markdown
labels: Labels to attach to the @
assignees: Usernames that the @ is assigned to
since: Only return entries updated after this timestamp
until: Only return entries updated before this timestamp
dryRun: Validate the request without applying it
timeoutMs: Time limit of the request in milliseconds
format: Output format of the @
fields: Comma separated list of fields to return
parentId: Identifier of the parent @
message: Message shown to other people
recipients: Email addresses that receive a notification
timezone: IANA time zone name, such as Europe/Berlin
startTime: Start of the time range
endTime: End of the time range
filter: Filter expression applied on the server
force: Skip the confirmation step
description: Longer description of the @
metadata: Arbitrary key value pairs stored with the @
`;

const serviceEntries = entriesOf(services, ", ");
const verbEntries = entriesOf(verbs, "|");
const parameterEntries = entriesOf(parameters, "\n");
const sentenceLines = sentences.trim().split("\n");
const suffixes = [
  "",
  "",
  "",
  "_by_id",
  "_batch",
  "_v2",
  "_async",
  "_for_user",
  "_with_history",
  "_in_project",
];

/** The first `count` tools, each with a unique id; always the same. */
export function syntheticTools(count: number): readonly SyntheticTool[] {
  const uses = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    const tool = syntheticTool(index);
    const use = (uses.get(tool.id) ?? 0) + 1;
    uses.set(tool.id, use);
    if (use === 1) return tool;
    const name = `${tool.name}_${use}`;
    return { ...tool, name, id: `${tool.namespace}:${name}` };
  });
}

function syntheticTool(index: number): SyntheticTool {
  const random = seededRandom(1_000_003 + index * 7_919);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const [service, nouns] = pick(serviceEntries);
  const [verb, openings] = pick(verbEntries);
  const noun = pick(nouns);
  const about = (text: string): string => text.replaceAll("@", noun);
  // The more tools, the more servers of the same service, with some 30 tools each.
  const installation = Math.floor((random() * index) / (30 * serviceEntries.length));
  const namespace = installation === 0 ? service : `${service}-${installation}`;
  const words = [verb, ...noun.split(" ")];
  const isCamelCase = random() < 0.2;
  const stem = isCamelCase ? camelCase(words) : words.join("_");
  const name = `${stem}${pick(suffixes)}`;
  const properties: Record<string, unknown> = {
    [`${words.at(-1)}_id`]: { type: "string", description: about("Identifier of the @") },
  };
  for (let count = 1 + Math.floor(random() * 8); count > 0; count -= 1) {
    const [parameter, [description]] = pick(parameterEntries);
    properties[parameter] = { type: "string", description: about(description!) };
  }
  const extra = Array.from({ length: Math.floor(random() * 3) }, () => about(pick(sentenceLines)));
  return {
    id: `${namespace}:${name}`,
    name,
    ...(random() < 0.3 ? { title: `${verb[0]!.toUpperCase()}${verb.slice(1)} ${noun}` } : {}),
    namespace,
    description: [`${about(pick(openings))}.`, ...extra].join(" "),
    tags: random() < 0.5 ? [service, noun] : [],
    inputSchema: { type: "object", properties },
  };
}

/** Realistic queries: sentences, keywords, names, prefixes, and unknown words. */
export function syntheticQueries(count: number, seed = 1): readonly string[] {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  return Array.from({ length: count }, () => {
    const [service, nouns] = pick(serviceEntries);
    const [verb] = pick(verbEntries);
    const noun = pick(nouns);
    const forms = [
      `${verb} ${noun}`,
      `${verb} a ${noun} in ${service}`,
      `how do I ${verb} the ${noun} and send an email with the results to my team`,
      `${service} ${noun}`,
      [verb, ...noun.split(" ")].join("_"),
      camelCase([verb, ...noun.split(" ")]),
      service.slice(0, 2 + Math.floor(random() * 4)),
      `${verb} ${noun.slice(0, 3)}`,
      `${verb} ${noun.slice(0, 1)}${noun.slice(2)}`,
      `${noun} page query limit results`,
      `${verb}`,
      `quantum ${noun} teleportation`,
    ];
    return pick(forms);
  });
}

function camelCase(words: readonly string[]): string {
  return words.map((word, at) => (at === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join("");
}

function entriesOf(text: string, separator: string): readonly (readonly [string, readonly string[]])[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2).split(separator)] as const;
    });
}
