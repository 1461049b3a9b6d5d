/**
 * Resolves name clashes. The parameters of a tool share one namespace; those of an
 * operation have one per place. A path parameter can be renamed, because its name
 * is not sent; a header can be written in another case; of a query field and a
 * body field with the same name, one is left out.
 */

import { quote } from "@toolcrib/document";
import type { Findings } from "../document/findings.ts";
import { toParamName } from "../write/names.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";
import type { PathDraft } from "./read-parameters.ts";

/** Parameters without clashes, and the new names of path parameters. */
export interface ResolvedParams {
  readonly path: readonly PathDraft[];
  /** Maps names in the document to names in the tool. */
  readonly pathNames: ReadonlyMap<string, string>;
  readonly others: readonly DraftParam[];
}

/** Gives each parameter a unique name. @throws {UnfitOperation} when two required parameters clash. */
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
  // Required parameters come first, so that they are kept.
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
        message: `Parameter ${quote(param.name)} in the ${param.in} of operation ${quote(label)} is left out: the ${other.param.in} also has one of that name`,
        hint: "write a separate tool for it",
        place,
      });
    }
    if (isHeader) headers.add(param.name.toLowerCase());
  }
  return kept;
}

/** Maximum number of parameters of a tool; the limit of toolspecs. */
const paramsMaxCount = 200;

/** Leaves out optional parameters beyond the limit of a tool. */
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
