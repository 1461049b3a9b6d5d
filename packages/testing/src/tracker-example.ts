/** The composite that joins the two trackers: the literal example of the Metatool document. */
export const trackerExample = `# Access proxied tools as functions
issue = github.searchIssues({
  "query": params.issueTitle
})[0]

zenhubData = zenhub.getIssueDetails({
  "issueId": issue.id,
  "repoId": issue.repository.id
})

return {
  "githubUrl": issue.html_url,
  "zenhubEstimate": zenhubData.estimate,
  "pipeline": zenhubData.pipeline.name,
  "blockedBy": zenhubData.dependencies
}
`;
