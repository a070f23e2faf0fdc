/** The type of `fields` without undefined: a field whose value may be undefined becomes optional. */
export type WithoutUndefined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<
    Fields[Name],
    undefined
  >;
};

/**
 * Copies an object without the fields whose value is undefined. With `exactOptionalPropertyTypes`, an optional field
 * must be absent rather than undefined:
 *
 * ```ts
 * return { type: "prompt", text, ...omitUndefined({ turnId, title: options.title }) };
 * ```
 *
 * About 100 ns slower than a conditional spread, so code on the path of every stream event uses the spread.
 */
export function omitUndefined<Fields extends object>(fields: Fields): WithoutUndefined<Fields> {
  const present: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) present[name] = value;
  }
  return present as WithoutUndefined<Fields>;
}
