import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch } from "@toolcrib/search";
import { relevanceTools } from "./relevance-tools.ts";

/** Queries in the style of people and agents, and the tool that must be among the first three results. */
const expectations = `
open a new issue on github                        github:create_issue
create_issue                                      github:create_issue
linear create issue                               linear:create_issue
file a bug ticket with labels and assignees       github:create_issue
comment on an issue                               github:add_issue_comment
reply to a pull request with a comment            github:add_issue_comment
open a PR from my branch                          github:create_pull_request
merge pull request                                github:merge_pull_request
squash merge                                      github:merge_pull_request
list open pull requests                           github:list_pull_requests
search code for a function                        github:search_code
find repositories by topic                        github:search_repositories
fork a repo                                       github:fork_repository
create branch                                     github:create_branch
commit history of a branch                        github:list_commits
rerun failed CI jobs                              github:rerun_failed_jobs
githubSearchIssues                                github:search_issues
send a message to a slack channel                 slack:post_message
post message                                      slack:post_message
answer in a slack thread                          slack:reply_to_thread
react with an emoji                               slack:add_reaction
recent messages of a channel                      slack:get_channel_history
who is in the slack workspace users               slack:get_users
read a file                                       filesystem:read_text_file
last lines of a file                              filesystem:read_text_file
overwrite file contents                           filesystem:write_file
rename a file                                     filesystem:move_file
directory listing                                 filesystem:list_directory
find files matching a glob pattern                filesystem:search_files
file size and modification time                   filesystem:get_file_info
remember a fact about an entity                   memory:add_observations
knowledge graph                                   memory:read_graph
schedule a meeting and invite attendees           calendar:create-event
when are people available                         calendar:get-freebusy
cancel a calendar event                           calendar:delete-event
what is on my agenda                              calendar:list-events
send an email with attachments                    gmail:sendEmail
send_email                                        gmail:sendEmail
save email as draft                               gmail:draftEmail
mark email as read                                gmail:modifyLabels
run a sql query                                   postgres:query
why is my query slow                              postgres:explain_query
database tables and columns                       postgres:list_tables
cache a value with ttl expiry                     redis:set_value
search the web for news                           brave-search:brave_web_search
restaurants near me opening hours                 brave-search:brave_local_search
download a web page as markdown                   fetch:fetch
fetch                                             fetch:fetch
take a screenshot                                 puppeteer:puppeteer_screenshot
click a button in the browser                     puppeteer:puppeteer_click
fill in a form                                    puppeteer:puppeteer_fill
weather tomorrow forecast                         weather:get-forecast
storm alerts                                      weather:get-alerts
refund a payment                                  stripe:create_refund
invoice customer                                  stripe:create_invoice
container logs                                    kubernetes:pods_log
scale deployment replicas                         kubernetes:resources_scale
convert timezone                                  time:convert_time
exceptions in production                          sentry:search_events
scrennshot                                        puppeteer:puppeteer_screenshot
kuber pods                                        kubernetes:pods_list
screensh                                          puppeteer:puppeteer_screenshot
ノートを検索                                       notes:検索
`
  .trim()
  .split("\n")
  .map((line) => line.split(/\s{2,}|(?<=検索)\s+/));

const search = createToolSearch();
for (const document of relevanceTools) search.add(document);

for (const [query = "", expected = ""] of expectations) {
  test(`search("${query}") returns ${expected} among the first three`, () => {
    assert.ok(search.has(expected));
    const found = search.search(query, { limit: 3 }).map(({ id }) => id);
    assert.ok(found.includes(expected), `found ${found.join(", ")}`);
  });
}
