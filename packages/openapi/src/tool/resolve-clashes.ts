/**
 * Parameters of a tool share one namespace, those of an operation have one for
 * each place. A path parameter may have any name, because its name is not sent;
 * a header may be written in another case; a field of the query and one of the
 * body cannot be told apart, and one of them is left out.
 */

import { quote } from "@toolcrib/document";
import type { Findings } from "../document/findings.ts";
import { toParamName } from "../write/names.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";
import type { PathDraft } from "./read-parameters.ts";

/** Parameters that do not clash, and the names that those of the path have now. */
export interface ResolvedParams {
  readonly path: readonly PathDraft[];
  /** From a name in the document to the one in the tool. */
  readonly pathNames: ReadonlyMap<string, string>;
  readonly others: readonly DraftParam[];
}

/** Give each of the parameters a name that no other has. @throws {UnfitOperation} where two that are needed clash. */
export function resolveClashes(
  path: readonly PathDraft[],
  others: readonly DraftParam[],
  options: { readonly label: string; readonly findings: Findings },
): ResolvedParams {
  const kept = keepOthers(others, options);
  const taken = new Set(kept.map(({ param }) => param.name));
  const pathNames = new Map<string, string>();
  const named = path.map((one): PathDraft => {
    const wanted = toParamName(one.param.name);
    let name = wanted;
    for (let count = 1; taken.has(name); count += 1)
      name = `${wanted.slice(0, 50)}_in_path${count === 1 ? "" : count}`;
    taken.add(name);
    pathNames.set(one.param.name, name);
    return { ...one, param: { ...one.param, name } };
  });
  return { path: named, pathNames, others: kept };
}

function keepOthers(
  others: readonly DraftParam[],
  { label, findings }: { readonly label: string; readonly findings: Findings },
): readonly DraftParam[] {
  const kept: DraftParam[] = [];
  const headers = new Set<string>();
  // What is needed comes first, so that it stays.
  const inOrder = [...others].sort(
    (a, b) => Number(b.param.required === true) - Number(a.param.required === true),
  );
  for (const one of inOrder) {
    const { param, place } = one;
    const isHeader = param.in === "header";
    if (isHeader && headers.has(param.name.toLowerCase())) continue;
    const other = kept.find((earlier) => earlier.param.name === param.name);
    if (other === undefined) kept.push(one);
    else if (isHeader) {
      const name = [param.name.toLowerCase(), param.name.toUpperCase()].find(
        (text) => !kept.some((earlier) => earlier.param.name === text),
      );
      if (name !== undefined) kept.push({ ...one, param: { ...param, name } });
    } else if (other.param.in === "header") {
      kept[kept.indexOf(other)] = {
        ...other,
        param: {
          ...other.param,
          name:
            other.param.name.toUpperCase() === param.name
              ? param.name.toLowerCase()
              : other.param.name.toUpperCase(),
        },
      };
      kept.push(one);
    } else {
      if (param.required === true)
        throw new UnfitOperation(
          `it needs ${quote(param.name)} both in the ${other.param.in} and in the ${param.in}`,
          place,
        );
      findings.report({
        code: "OPENAPI_PARAMETER_UNFIT",
        message: `Parameter ${quote(param.name)} in the ${param.in} of operation ${quote(label)} is left out: the ${other.param.in} has one of that name too`,
        hint: "write a tool of its own for it",
        place,
      });
    }
    if (isHeader) headers.add(param.name.toLowerCase());
  }
  return kept;
}

/** The most parameters that a tool has here; a toolspec takes as many. */
const paramsMaxCount = 200;

/** Leave out optional parameters past what a tool takes. */
export function limitParams(
  params: readonly DraftParam[],
  label: string,
  findings: Findings,
): readonly DraftParam[] {
  const dropped = params.slice(paramsMaxCount);
  const [first] = dropped;
  if (first === undefined) return params;
  if (dropped.some(({ param }) => param.required === true))
    throw new UnfitOperation(`it needs more than ${paramsMaxCount} parameters`, first.place);
  findings.report({
    code: "OPENAPI_PARAMETER_CHANGED",
    message: `Operation ${quote(label)} has ${params.length} parameters; ${dropped.length} optional ones are left out`,
    place: first.place,
  });
  return params.slice(0, paramsMaxCount);
}
