/**
 * Two small trackers, as servers of the official SDK: `github` with issues, and
 * `zenhub` with estimates and pipelines of the same issues. A composite joins
 * them. Issues exist as long as their server.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

/** The name of a tracker. */
export type TrackerName = "github" | "zenhub";

interface Issue {
  readonly id: number;
  readonly title: string;
  readonly html_url: string;
  readonly repository: { readonly id: number; readonly full_name: string };
}

const repository = { id: 77, full_name: "acme/crib" };
const text = { type: "string" } as const;
const count = { type: "integer" } as const;
const reading = { readOnlyHint: true, openWorldHint: true } as const;

/** Creates a tracker. */
export function createTrackerServer(name: TrackerName): McpServer {
  const server = new McpServer({ name: `mcp-server-${name}`, version: "1.0.0" });
  if (name === "github") registerGithub(server);
  else registerZenhub(server);
  return server;
}

function registerGithub(server: McpServer): void {
  const issues = ["Login fails on Safari", "Dark mode", "Login page is slow"].map(toIssue);

  server.registerTool(
    "searchIssues",
    {
      description: "Issues whose title has the words of the query, oldest first, as a JSON list",
      inputSchema: schemaOf<{ query: string }>({ query: text }, ["query"]),
      annotations: reading,
    },
    ({ query }) => {
      const wanted = query.toLowerCase();
      return jsonText(issues.filter(({ title }) => title.toLowerCase().includes(wanted)));
    },
  );
  server.registerTool(
    "createIssue",
    {
      description: "Creates an issue",
      inputSchema: schemaOf<{ title: string }>({ title: text }, ["title"]),
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    ({ title }) => {
      const issue = toIssue(title, issues.length);
      issues.push(issue);
      return structured({ ...issue });
    },
  );
  server.registerTool(
    "deleteIssue",
    { description: "Deletes an issue", inputSchema: schemaOf<{ id: number }>({ id: count }, ["id"]) },
    ({ id }) => {
      const at = issues.findIndex((issue) => issue.id === id);
      if (at === -1) throw new Error(`Issue ${id} not found`);
      issues.splice(at, 1);
      return structured({ deleted: id });
    },
  );
}

function registerZenhub(server: McpServer): void {
  server.registerTool(
    "getIssueDetails",
    {
      description: "Estimate, pipeline and dependencies of an issue",
      inputSchema: schemaOf<{ issueId: number; repoId: number }>({ issueId: count, repoId: count }, [
        "issueId",
        "repoId",
      ]),
      annotations: reading,
    },
    ({ issueId, repoId }) => {
      if (repoId !== repository.id || issueId < 1001) throw new Error(`Issue ${issueId} is not on any board`);
      const blockedBy = issueId === 1001 ? [{ id: 1003, title: "Login page is slow" }] : [];
      return structured({
        estimate: issueId - 998,
        pipeline: { name: "In Progress" },
        dependencies: blockedBy,
      });
    },
  );
  server.registerTool(
    "waitForBoard",
    {
      description: "Answers after some milliseconds",
      inputSchema: schemaOf<{ ms: number }>({ ms: count }, ["ms"]),
      annotations: reading,
    },
    async ({ ms }, { mcpReq }) => {
      await sleep(ms, undefined, { signal: mcpReq.signal });
      return structured({ waited: ms });
    },
  );
}

function toIssue(title: string, index: number): Issue {
  const html_url = `https://github.com/${repository.full_name}/issues/${index + 1}`;
  return { id: 1001 + index, title, html_url, repository };
}

function schemaOf<Arguments>(properties: object, required: readonly string[]) {
  return fromJsonSchema<Arguments>({ type: "object", properties, required: [...required] } as never);
}

function jsonText(value: unknown) {
  return { content: [{ type: "text" as const, text: JSON.stringify(value) }] };
}

function structured(value: Record<string, unknown>) {
  return { ...jsonText(value), structuredContent: value };
}
