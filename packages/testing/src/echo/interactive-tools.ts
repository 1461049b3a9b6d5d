/** Tools of the echo server that send requests to the client, and tools that change the server's tools and resources. */

import { count, defineTool, type EchoTool, flag, numberOf, stringOf, text, textResult } from "./echo-tool.ts";

export const interactiveTools: readonly EchoTool[] = [
  defineTool("ask_sampling", "Asks the client's model", { prompt: text }, [], async (given, call) => {
    const prompt = stringOf(given, "prompt", "Say something");
    const answer = await call.ask("sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: 100,
    });
    return textResult(JSON.stringify(answer));
  }),
  defineTool(
    "ask_elicitation",
    "Asks the user, with a form or with a page to visit",
    { message: text, url: text },
    [],
    async (given, call) => {
      const message = stringOf(given, "message", "What is your name?");
      const url = stringOf(given, "url", "");
      const form = {
        message,
        requestedSchema: { type: "object", properties: { name: text }, required: ["name"] },
      };
      const answer = await call.ask(
        "elicitation/create",
        url === "" ? form : { mode: "url", message, url, elicitationId: "echo-1" },
      );
      return textResult(JSON.stringify(answer));
    },
  ),
  defineTool("ask_roots", "Asks the client for its roots", {}, [], async (_given, call) =>
    textResult(JSON.stringify(await call.ask("roots/list", {}))),
  ),

  defineTool(
    "change_tools",
    "Adds, removes or redefines a tool and says so",
    {
      add: { ...text, description: "Name of a tool to add" },
      remove: { ...text, description: "Name of a tool to remove" },
      redefine: { ...text, description: "Name of a tool that gets another description" },
      silent: { ...flag, description: "Do not say so" },
    },
    [],
    (given, { server }) => {
      const add = stringOf(given, "add", "");
      const redefine = stringOf(given, "redefine", "");
      if (add !== "") server.addTool({ name: add, inputSchema: { type: "object" } });
      server.removeTool(stringOf(given, "remove", ""));
      if (redefine !== "") server.redefineTool(redefine);
      if (given["silent"] !== true) server.announce({ kind: "toolsListChanged" });
      return textResult(`${server.tools.size} tools`);
    },
  ),
  defineTool(
    "update_resource",
    "Changes the text of a resource and notifies its subscribers",
    { uri: text, text, times: count },
    [],
    (given, { server }) => {
      const uri = stringOf(given, "uri", "echo://watched");
      server.resources.set(uri, stringOf(given, "text", "changed"));
      for (let time = 0; time < numberOf(given, "times", 1); time += 1) {
        server.announce({ kind: "resourceUpdated", uri });
      }
      return textResult("updated");
    },
  ),
];
