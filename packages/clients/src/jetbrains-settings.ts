/**
 * The servers of JetBrains AI Assistant in the settings of an IDE or a project, as the tree that other files have. Since
 * version 2025.3 these settings only say which servers are switched on; the servers are in `.ai/mcp/mcp.json`. Pure.
 */

import type { FileMember, FileNode } from "./file-node.ts";
import { parseXml, type XmlElement } from "./xml-tree.ts";

const components = new Set(["McpApplicationServerCommands", "McpProjectServerCommands"]);

/** Returns a map with the servers as its member `servers`. @throws {ClientsError} */
export function fromJetBrainsSettings(text: string): FileNode {
  const root = parseXml(text);
  const found = root.children.filter((one) => one.name === "component" && components.has(nameOf(one)));
  const entries = found
    .flatMap(({ children }) => children)
    .flatMap((one) => (/^(?:commands|urls)$/.test(one.name) ? one.children : [one]));
  const members = entries.flatMap((one): FileMember[] => {
    const value = entryOf(one);
    const name = optionOf(one, "name");
    return value === undefined || name === undefined ? [] : [{ key: name, at: one.at, value }];
  });
  return mapNode(root.at, [{ key: "servers", at: root.at, value: mapNode(root.at, members) }]);
}

/** Returns a server in the notation of JSON; undefined for the state of one that is elsewhere. */
function entryOf(element: XmlElement): FileNode | undefined {
  const command = optionOf(element, "programPath") ?? optionOf(element, "command");
  const url = optionOf(element, "url");
  if (command === undefined && url === undefined) return undefined;
  const words = valuesIn(element, "args") ?? splitWords(optionOf(element, "arguments") ?? "");
  const list: FileNode = {
    kind: "list",
    at: element.at,
    items: words.map((word) => scalar(element.at, word)),
  };
  const texts = [
    ["command", command],
    ["url", url],
    ["cwd", optionOf(element, "workingDirectory")],
  ] as const;
  return mapNode(element.at, [
    ...texts.flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, at: element.at, value: scalar(element.at, value) }],
    ),
    { key: "args", at: element.at, value: list },
    { key: "env", at: element.at, value: pairsIn(element, /^envs?$/) },
    { key: "headers", at: element.at, value: pairsIn(element, /^headers$/) },
    { key: "enabled", at: element.at, value: scalar(element.at, optionOf(element, "enabled") !== "false") },
  ]);
}

/** An option that is there, and not empty. */
function optionOf(element: XmlElement, name: string): string | undefined {
  const option = element.children.find((one) => one.name === "option" && nameOf(one) === name);
  const value = option?.attributes.get("value");
  return value === "" ? undefined : value;
}

/** The values below an option that is a list; undefined without one. */
function valuesIn(element: XmlElement, name: string): readonly string[] | undefined {
  const option = element.children.find((one) => one.name === "option" && nameOf(one) === name);
  const list = option?.children.find((one) => one.name === "list");
  return list?.children.flatMap((one) => one.attributes.get("value") ?? []);
}

/** The names and values of a list of variables or headers. */
function pairsIn(element: XmlElement, label: RegExp): FileNode {
  const found = element.children.find((one) => label.test(one.name) || label.test(nameOf(one)));
  const holder = found?.children.find((one) => one.name === "map") ?? found;
  const members = (holder?.children ?? []).flatMap((one): FileMember[] => {
    const key = one.attributes.get("name") ?? one.attributes.get("key");
    const value = one.attributes.get("value");
    return key === undefined || value === undefined
      ? []
      : [{ key, at: one.at, value: scalar(one.at, value) }];
  });
  return mapNode(found?.at ?? element.at, members);
}

/** Splits arguments as the IDE writes them: at spaces, with quotation marks around words that have some. */
function splitWords(text: string): readonly string[] {
  const words = text.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"/g, (_, inner: string) => inner.replaceAll('\\"', '"')),
  );
}

function nameOf({ attributes }: XmlElement): string {
  return attributes.get("name") ?? "";
}

function mapNode(at: number, members: readonly FileMember[]): FileNode {
  return { kind: "map", at, members };
}

function scalar(at: number, value: string | boolean): FileNode {
  return { kind: "scalar", at, value };
}
