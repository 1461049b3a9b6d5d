/**
 * Tools in the style of well-known servers, for tests of relevance: names, descriptions
 * and parameters, with realistic overlaps (five kinds of search, four of create, two of
 * message).
 */

import type { SearchDocument } from "@toolcrib/search";

type Parameters = { readonly [name: string]: string };

function tool(
  namespace: string,
  name: string,
  description: string,
  parameters: Parameters = {},
  rest: Pick<SearchDocument, "title" | "tags"> = {},
): SearchDocument {
  const properties = Object.fromEntries(
    Object.entries(parameters).map(([parameter, text]) => [parameter, { type: "string", description: text }]),
  );
  return {
    id: `${namespace}:${name}`,
    namespace,
    name,
    description,
    inputSchema: { type: "object", properties },
    ...rest,
  };
}

const repository = { owner: "Repository owner", repo: "Repository name" };
const paging = { page: "Page number for pagination (min 1)", perPage: "Results per page (max 100)" };

/** All tools. */
export const relevanceTools: readonly SearchDocument[] = [
  tool(
    "github",
    "create_issue",
    "Create a new issue in a GitHub repository.",
    {
      ...repository,
      title: "Issue title",
      body: "Issue body content",
      assignees: "Usernames to assign to this issue",
      labels: "Labels to apply to this issue",
    },
    { title: "Open new issue" },
  ),
  tool(
    "github",
    "list_issues",
    "List issues in a GitHub repository. For pagination, use the cursor of the previous response.",
    {
      ...repository,
      state: "Filter by state: open or closed",
      labels: "Filter by labels",
      since: "Only issues updated after this ISO 8601 timestamp",
      ...paging,
    },
    { title: "List issues" },
  ),
  tool(
    "github",
    "get_issue",
    "Get details of a specific issue in a GitHub repository.",
    { ...repository, issue_number: "The number of the issue" },
    { title: "Get issue details" },
  ),
  tool(
    "github",
    "add_issue_comment",
    "Add a comment to a specific issue or pull request in a GitHub repository.",
    { ...repository, issue_number: "Issue number to comment on", body: "Comment content" },
  ),
  tool(
    "github",
    "search_issues",
    "Search for issues in GitHub repositories using issues search syntax already scoped to is:issue.",
    {
      query: "Search query using GitHub issues search syntax",
      sort: "Sort field by number of matches of categories",
      ...paging,
    },
  ),
  tool(
    "github",
    "create_pull_request",
    "Create a new pull request in a GitHub repository.",
    {
      ...repository,
      title: "PR title",
      head: "Branch containing changes",
      base: "Branch to merge into",
      draft: "Create as draft PR",
    },
    { title: "Open new pull request" },
  ),
  tool("github", "merge_pull_request", "Merge a pull request in a GitHub repository.", {
    ...repository,
    pullNumber: "Pull request number",
    merge_method: "Merge method: merge, squash or rebase",
    commit_title: "Title for merge commit",
  }),
  tool("github", "list_pull_requests", "List pull requests in a GitHub repository.", {
    ...repository,
    state: "Filter by state",
    head: "Filter by head user and branch",
    ...paging,
  }),
  tool("github", "get_file_contents", "Get the contents of a file or directory from a GitHub repository.", {
    ...repository,
    path: "Path to file or directory",
    ref: "Git ref, branch, tag or commit sha",
  }),
  tool(
    "github",
    "create_or_update_file",
    "Create or update a single file in a GitHub repository. If updating, you must provide the SHA of the file you want to update.",
    {
      ...repository,
      path: "Path where to create the file",
      content: "Content of the file",
      message: "Commit message",
      branch: "Branch to create the file in",
    },
  ),
  tool(
    "github",
    "search_code",
    "Fast and precise code search across ALL GitHub repositories using GitHub's native search engine. Best for finding exact symbols, functions, classes, or specific code patterns.",
    { query: "Search query using GitHub's powerful code search syntax", ...paging },
  ),
  tool(
    "github",
    "search_repositories",
    "Find GitHub repositories by name, description, readme, topics, or other metadata.",
    { query: "Repository search query", ...paging },
  ),
  tool("github", "fork_repository", "Fork a GitHub repository to your account or specified organization.", {
    ...repository,
    organization: "Organization to fork to",
  }),
  tool("github", "create_branch", "Create a new branch in a GitHub repository.", {
    ...repository,
    branch: "Name for new branch",
    from_branch: "Source branch",
  }),
  tool("github", "list_commits", "Get list of commits of a branch in a GitHub repository.", {
    ...repository,
    sha: "Commit SHA, branch or tag name",
    author: "Author username or email address",
    ...paging,
  }),
  tool(
    "github",
    "rerun_failed_jobs",
    "Re-run only the failed jobs in a workflow run.",
    { ...repository, run_id: "The unique identifier of the workflow run" },
    { tags: ["actions", "ci"] },
  ),
  tool("slack", "post_message", "Post a new message to a Slack channel.", {
    channel_id: "The ID of the channel to post to",
    text: "The message text to post",
  }),
  tool("slack", "reply_to_thread", "Reply to a specific message thread in Slack.", {
    channel_id: "The ID of the channel containing the thread",
    thread_ts: "The timestamp of the parent message",
    text: "The reply text",
  }),
  tool("slack", "add_reaction", "Add a reaction emoji to a message.", {
    channel_id: "The ID of the channel containing the message",
    timestamp: "The timestamp of the message to react to",
    reaction: "The name of the emoji reaction (without ::)",
  }),
  tool("slack", "get_channel_history", "Get recent messages from a channel.", {
    channel_id: "The ID of the channel",
    limit: "Number of messages to retrieve (default 10)",
  }),
  tool("slack", "list_channels", "List public or pre-defined channels in the workspace with pagination.", {
    limit: "Maximum number of channels to return",
    cursor: "Pagination cursor for next page of results",
  }),
  tool(
    "slack",
    "get_users",
    "Get a list of all users in the workspace with their basic profile information.",
    { cursor: "Pagination cursor", limit: "Maximum number of users to return" },
  ),
  tool(
    "filesystem",
    "read_text_file",
    "Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read.",
    {
      path: "Path of the file",
      head: "If provided, returns only the first N lines of the file",
      tail: "If provided, returns only the last N lines of the file",
    },
  ),
  tool(
    "filesystem",
    "write_file",
    "Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning.",
    { path: "Path of the file", content: "Text to write" },
  ),
  tool(
    "filesystem",
    "edit_file",
    "Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made.",
    {
      path: "Path of the file",
      edits: "Replacements",
      dryRun: "Preview changes using git-style diff format",
    },
  ),
  tool(
    "filesystem",
    "list_directory",
    "Get a detailed listing of all files and directories in a specified path.",
    { path: "Directory" },
  ),
  tool(
    "filesystem",
    "directory_tree",
    "Get a recursive tree view of files and directories as a JSON structure.",
    { path: "Root of the tree", excludePatterns: "Glob patterns to leave out" },
  ),
  tool(
    "filesystem",
    "move_file",
    "Move or rename files and directories. Can move files between directories and rename them in a single operation.",
    { source: "From where", destination: "To where" },
  ),
  tool("filesystem", "search_files", "Recursively search for files and directories matching a pattern.", {
    path: "Where to start",
    pattern: "Glob pattern",
    excludePatterns: "Patterns to leave out",
  }),
  tool(
    "filesystem",
    "get_file_info",
    "Retrieve detailed metadata about a file or directory, including size, creation time, last modified time and permissions.",
    { path: "Path of the file" },
  ),
  tool("memory", "create_entities", "Create multiple new entities in the knowledge graph.", {
    entities: "Entities with name, type and observations",
  }),
  tool(
    "memory",
    "create_relations",
    "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice.",
    { relations: "From, to and type of each relation" },
  ),
  tool("memory", "add_observations", "Add new observations to existing entities in the knowledge graph.", {
    observations: "Facts to remember about an entity",
  }),
  tool("memory", "search_nodes", "Search for nodes in the knowledge graph based on a query.", {
    query: "The search query to match against entity names, types, and observation content",
  }),
  tool("memory", "read_graph", "Read the entire knowledge graph."),
  tool(
    "calendar",
    "create-event",
    "Create a new calendar event with optional attendees, location, recurrence and reminders.",
    {
      summary: "Title of the event",
      start: "Start time in ISO 8601",
      end: "End time in ISO 8601",
      attendees: "Email addresses of the people to invite",
      timeZone: "IANA time zone",
    },
    { tags: ["meeting"] },
  ),
  tool(
    "calendar",
    "list-events",
    "List events from one or more calendars within a time range.",
    { calendarId: "ID of the calendar", timeMin: "Start of the range", timeMax: "End of the range" },
    { tags: ["meeting", "agenda"] },
  ),
  tool(
    "calendar",
    "get-freebusy",
    "Query free/busy information for calendars, to find out when people are available.",
    { calendars: "Calendars to look at", timeMin: "Start of the interval", timeMax: "End of the interval" },
    { tags: ["availability"] },
  ),
  tool("calendar", "delete-event", "Delete a calendar event.", {
    eventId: "ID of the event to delete",
    sendUpdates: "Whether attendees get a cancellation",
  }),
  tool("gmail", "sendEmail", "Sends a new email immediately.", {
    to: "List of recipient email addresses",
    subject: "Email subject",
    body: "Email body",
    cc: "List of CC recipients",
    attachments: "Paths of files to attach",
  }),
  tool("gmail", "draftEmail", "Saves a new email as a draft without sending it.", {
    to: "List of recipient email addresses",
    subject: "Email subject",
    body: "Email body",
  }),
  tool("gmail", "searchEmails", "Searches for emails using Gmail search syntax.", {
    query: "Gmail search query, such as from:example@gmail.com",
    maxResults: "Maximum number of results to return",
  }),
  tool(
    "gmail",
    "modifyLabels",
    "Modifies the labels of an email: moves it to other folders, archives it or marks it as read.",
    {
      messageId: "ID of the email message",
      addLabelIds: "Labels to add",
      removeLabelIds: "Labels to remove",
    },
  ),
  tool(
    "postgres",
    "query",
    "Run a read-only SQL query against the connected PostgreSQL database.",
    { sql: "The SQL statement" },
    { tags: ["database"] },
  ),
  tool(
    "postgres",
    "list_tables",
    "List all tables in the database with their columns.",
    { schema: "Schema to look into" },
    { tags: ["database"] },
  ),
  tool(
    "postgres",
    "explain_query",
    "Show the execution plan of a SQL query, to find out why it is slow.",
    { sql: "The SQL statement", analyze: "Run the query for real timings" },
    { tags: ["database", "performance"] },
  ),
  tool(
    "redis",
    "set_value",
    "Set a key to a value, optionally with a time to live.",
    { key: "Key", value: "Value", expireSeconds: "Seconds until the key expires" },
    { tags: ["cache"] },
  ),
  tool("redis", "get_value", "Get the value of a key.", { key: "Key" }, { tags: ["cache"] }),
  tool(
    "brave-search",
    "brave_web_search",
    "Performs a web search using the Brave Search API, ideal for general queries, news, articles, and online content.",
    {
      query: "Search query (max 400 chars, 50 words)",
      count: "Number of results (1-20)",
      offset: "Pagination offset",
    },
  ),
  tool(
    "brave-search",
    "brave_local_search",
    "Searches for local businesses and places, including addresses, phone numbers, ratings and opening hours.",
    { query: "Local search query, such as pizza near Central Park" },
  ),
  tool("fetch", "fetch", "Fetches a URL from the internet and extracts its contents as markdown.", {
    url: "URL to fetch",
    max_length: "Maximum number of characters to return",
    raw: "Get the actual HTML content of the requested page",
  }),
  tool(
    "puppeteer",
    "puppeteer_navigate",
    "Navigate the browser to a URL.",
    { url: "URL to navigate to" },
    { tags: ["browser"] },
  ),
  tool(
    "puppeteer",
    "puppeteer_screenshot",
    "Take a screenshot of the current page or a specific element.",
    {
      name: "Name for the screenshot",
      selector: "CSS selector for element to screenshot",
      width: "Width in pixels",
    },
    { tags: ["browser"] },
  ),
  tool(
    "puppeteer",
    "puppeteer_click",
    "Click an element on the page.",
    { selector: "CSS selector for element to click" },
    { tags: ["browser"] },
  ),
  tool(
    "puppeteer",
    "puppeteer_fill",
    "Fill out an input field.",
    { selector: "CSS selector for input field", value: "Value to fill" },
    { tags: ["browser", "form"] },
  ),
  tool("weather", "get-forecast", "Get the weather forecast for a location.", {
    latitude: "Latitude of the location",
    longitude: "Longitude of the location",
  }),
  tool("weather", "get-alerts", "Get severe weather alerts for a state.", {
    state: "Two-letter state code (such as CA, NY)",
  }),
  tool("stripe", "create_refund", "Refund a payment intent in full or in part.", {
    payment_intent: "The ID of the payment intent to refund",
    amount: "Amount to refund in cents",
  }),
  tool("stripe", "create_invoice", "Create an invoice for a customer.", {
    customer: "The ID of the customer",
    days_until_due: "Number of days until the invoice is due",
  }),
  tool("stripe", "list_customers", "List the customers of the account, optionally by email.", {
    email: "Email address of the customer",
    limit: "Number of customers",
  }),
  tool("kubernetes", "pods_list", "List all the Kubernetes pods in the current cluster.", {
    labelSelector: "Label selector to filter the pods by",
  }),
  tool("kubernetes", "pods_log", "Get the logs of a Kubernetes pod in the current or provided namespace.", {
    name: "Name of the pod",
    container: "Container to read from",
    tail: "Number of lines from the end",
  }),
  tool(
    "kubernetes",
    "resources_scale",
    "Get or update the scale (number of replicas) of a Kubernetes deployment or stateful set.",
    { name: "Name of the resource", scale: "Number of replicas" },
  ),
  tool("sentry", "search_events", "Search for errors, exceptions, logs and spans by natural language.", {
    naturalLanguageQuery: "What to look for",
    projectSlug: "Project",
  }),
  tool("time", "convert_time", "Convert time between timezones.", {
    source_timezone: "Source IANA timezone name",
    time: "Time to convert in 24-hour format (HH:MM)",
    target_timezone: "Target IANA timezone name",
  }),
  tool("linear", "create_issue", "Creates a new Linear issue.", {
    title: "The issue title",
    team: "The team",
    priority: "Urgent, high, normal or low",
  }),
  tool("notes", "検索", "ノートを全文検索します。", { 語句: "検索する語句" }, { title: "ノート検索" }),
];
