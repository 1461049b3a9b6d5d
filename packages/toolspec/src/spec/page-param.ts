/** What asks for a page: a parameter, or a field of one that is an object, such as `variables.after` of GraphQL. */

/** A parameter, and its field where that asks. */
export interface PageParam<T> {
  readonly param: T;
  readonly field: string | undefined;
}

/** What `written` names among `params`; a parameter that has the whole name comes first. */
export function findPageParam<T extends { readonly name: string; readonly type: string | undefined }>(
  params: readonly T[],
  written: string,
): PageParam<T> | undefined {
  const param = params.find(({ name }) => name === written);
  if (param !== undefined) return { param, field: undefined };
  const owner = params.find(
    ({ name, type }) =>
      type === "object" && written.startsWith(`${name}.`) && written.length > name.length + 1,
  );
  return owner && { param: owner, field: written.slice(owner.name.length + 1) };
}
