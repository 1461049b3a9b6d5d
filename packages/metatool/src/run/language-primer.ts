/**
 * The description of the language for a model that writes a composite: short enough
 * for the beginning of a conversation, with examples that the tests run.
 */

/** The language of composites in 1,500 tokens, in Markdown. */
export const languagePrimer = `# Writing composite tools

A composite is a short Starlark program (a small Python) that calls tools and returns JSON data. It has no imports, files, network, clock or randomness: tools are its only access to the outside.

\`\`\`python
# params: the arguments, with the defaults of the input schema applied
issues = github.searchIssues({"query": params.title, "state": "open"})
if not issues:
    return {"found": 0}
top = issues[0]
return {"found": len(issues), "url": top.html_url, "labels": [l.name for l in top.labels]}
\`\`\`

## Tools

- \`namespace.tool({...})\` or \`namespace.tool(field=value)\`: one dict or fields by name, never positional values. Calls look synchronous.
- Names that are no identifiers: \`my-server\` is \`my_server\`, and \`tools["my-server.list-all"](...)\` takes any name; \`"name" in tools\` asks. Saved tools: \`saved.NAME(...)\`. Prefer plain names: with \`tools[expression]\` nobody can tell what a composite may call.
- A call gives data: dicts, lists, strings, numbers, bools, None. JSON in a tool's text is parsed already.
- Side by side, results in order:

\`\`\`python
def details(issue):
    return github.getIssue(number=issue.number)

found = github.searchIssues(query="crash")
full = parallel_map(details, found)
a, b = parallel([lambda: github.getIssue(number=1), lambda: github.getIssue(number=2)], limit=2)
return [i.title for i in full] + [a.title, b.title]
\`\`\`

## Data

- \`x.field\` reads a key of a dict: \`issue.user.login\`; \`x["field"]\` does too and is the only way to write: \`x["a"] = 1\`. A missing key is an error: \`x.get("field")\` gives None, \`x.get("field", 0)\` another default. \`x.items()\`, \`x.keys()\`, \`x.pop(k)\` are methods.
- Optional parameters without a default: \`params.get("label")\`.
- f-strings (\`f"{n:.2f} of {name}"\`), \`+\`, \`"{}".format(x)\`; numbers do not join with text: \`str(n)\`.
- Strings are not iterable: \`s.elems()\`; \`split\`, \`splitlines\`, \`strip\`, \`replace\`, \`lower\`, \`startswith\`, \`find\`, \`join\` as in Python.
- \`json.decode(text)\`, \`json.encode(data)\`; \`math.floor\`, \`math.round\`, …; \`time.now()\` (start of the run), \`time.parse_time("2024-05-01T10:00:00Z")\`, \`time.parse_duration("36h")\`, which subtract, add and compare.

\`\`\`python
counts = {}
for row in params.rows:
    counts[row.team] = counts.get(row.team, 0) + 1
best = sorted(counts.items(), key=lambda pair: -pair[1])[:3]
print("teams", len(counts))  # goes to the logs of the result
return [{"team": team, "count": n} for team, n in best]
\`\`\`

## Errors

\`\`\`python
try:
    page = wiki.getPage({"title": params.title})
except ToolError as e:  # a tool failed: e.message, e.tool, e.details
    page = {"text": "", "note": e.message}
if len(page.text) > 10000:
    fail("the page is too long")  # ends the program; except Error catches everything
return page
\`\`\`

Limits (time, steps, memory, number of calls) cannot be caught.

## Unlike Python

- \`return\` works at the top level and gives the result: JSON data only.
- No \`import\`, \`class\`, \`with\`, \`raise\` (use \`fail\`), \`assert\`, \`del\` (\`x.pop(k)\`), \`global\`, \`is\` (use \`==\`), \`**\`, \`:=\`, \`isinstance\` (\`type(x) == "string"\`; also int, float, bool, list, dict, NoneType), no sets in braces (\`set([1])\`), no generators (\`any([x > 1 for x in xs])\`), no \`a < b < c\`, no star in lists (\`a + b\`, dicts \`a | b\`), no type annotations, no \`map\`/\`filter\` (use comprehensions), no \`list.sort\` (use \`sorted\`).
- There are \`while\`, recursion, lambdas, comprehensions, unpacking, default and keyword arguments, \`*args\`, \`**kwargs\`, \`enumerate\`, \`zip\`, \`range\`, \`min\`, \`max\`, \`sum\`, \`any\`, \`all\`, \`reversed\`.
- A function cannot rebind a variable outside of it; it can change a list or dict, but not while \`parallel\` runs: return values instead.
`;
