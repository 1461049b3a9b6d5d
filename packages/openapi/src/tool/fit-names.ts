/**
 * Names of parameters that models' providers take: letters, digits and `_.-`,
 * at most 64. A tool with another name is refused by some of them, and all
 * other tools of the request with it. What is sent stays the same: `page[size]`
 * and `page[after]` are fields of one parameter `page`, `ids[]` is `ids`, both
 * in `style: brackets`. A name that cannot be had so is left out and told.
 */

import type { ToolspecParam } from "@toolcrib/toolspec";
import { openapiParameterUnfit } from "../codes.ts";
import { type Findings, quote } from "../document/findings.ts";
import type { MapNode, Node } from "../document/node.ts";
import { toPlainLine } from "../write/plain-text.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";

const fitName = /^[A-Za-z0-9_.-]{1,64}$/;
const bracketed = /^([A-Za-z0-9_.-]{1,64})((?:\[[^[\]]+\])+)(\[\])?$/;

/** Whether a parameter of this name is taken by everybody. */
export function isFitName(name: string): boolean {
  return fitName.test(name);
}

/** The parameters under names that fit. @throws {UnfitOperation} where one that is needed has none */
export function fitNames(
  drafts: readonly DraftParam[],
  options: { readonly label: string; readonly findings: Findings; readonly isForm: boolean },
): readonly DraftParam[] {
  const kept: DraftParam[] = [];
  const groups = new Map<string, DraftParam[]>();
  for (const draft of drafts) {
    const { param } = draft;
    // What is always sent is no property of the tool.
    if (isFitName(param.name) || param.value !== undefined || param.in === "path") {
      kept.push(draft);
      continue;
    }
    const hasStyle = param.in === "query" || (param.in === "body" && options.isForm);
    const list =
      hasStyle && param.type === "array" ? /^([A-Za-z0-9_.-]{1,64})\[\]$/.exec(param.name)?.[1] : undefined;
    const base = hasStyle ? groupOf(param) : undefined;
    if (list !== undefined && !isTaken(list, drafts)) {
      kept.push({ ...draft, param: { ...param, name: list, style: "brackets" } });
    } else if (base !== undefined && !isTaken(base, drafts)) {
      const group = groups.get(base) ?? [];
      group.push(draft);
      groups.set(base, group);
    } else leaveOut(draft, options);
  }
  return [...kept, ...[...groups].map(([base, members]) => joined(base, members))];
}

function isTaken(name: string, drafts: readonly DraftParam[]): boolean {
  return drafts.some(({ param }) => param.name === name);
}

/** The parameter that this one can be a field of. */
function groupOf({ name, type, style }: ToolspecParam): string | undefined {
  const found = bracketed.exec(name);
  if (found === null || type === "object" || style !== undefined) return undefined;
  // A list within brackets is written with brackets of its own.
  return (type === "array") === (found[3] !== undefined) ? found[1] : undefined;
}

function joined(base: string, members: readonly DraftParam[]): DraftParam {
  const [first] = members as [DraftParam, ...DraftParam[]];
  const isRequired = members.some(({ param }) => param.required === true);
  const fields = members.map(({ param }) => {
    const path = stepsOf(param.name).join(".");
    const about = param.enum === undefined ? param.type : param.enum.slice(0, 6).join("|");
    const said =
      param.description === undefined ? "" : `: ${toPlainLine(param.description, 120).replace(/\.$/, "")}`;
    return `${path} (${about}${param.required === true ? ", required" : ""})${said}`;
  });
  const description = toPlainLine(`Fields: ${fields.join("; ")}`, 900);
  const style = "brackets" as const;
  const param = { name: base, in: first.param.in, type: "object" as const, style, description };
  return {
    param: isRequired ? { ...param, required: true } : param,
    place: first.place,
    example: exampleOf(members),
  };
}

/** `a`, `b` of `x[a][b]`. */
function stepsOf(name: string): readonly string[] {
  return [...name.matchAll(/\[([^[\]]+)\]/g)].map(([, step = ""]) => step);
}

/** The examples of those that are needed, as one object. */
function exampleOf(members: readonly DraftParam[]): Node | undefined {
  const fields = new Map<string, Node>();
  for (const { param, example } of members) {
    if (param.required !== true) continue;
    const [step, ...rest] = stepsOf(param.name);
    if (example === undefined || step === undefined || rest.length > 0) return undefined;
    fields.set(step, example);
  }
  const map: MapNode = { kind: "map", fields, starts: [] };
  return fields.size === 0 ? undefined : map;
}

function leaveOut(
  { param, place }: DraftParam,
  { label, findings }: { readonly label: string; readonly findings: Findings },
): void {
  const reason = `the name of parameter ${quote(param.name)} is none that models' providers take: letters, digits and _ . - are, 64 of them at most`;
  if (param.required === true) throw new UnfitOperation(reason, place);
  findings.report({
    code: openapiParameterUnfit,
    message: `Parameter ${quote(param.name)} of operation ${quote(label)} is left out: ${reason}`,
    place,
  });
}
