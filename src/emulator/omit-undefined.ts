type WithoutUndefined<Members> = {
  [Name in keyof Members]?: Exclude<Members[Name], undefined>;
};

/** The members that are there: an absent one and one that is undefined are not the same to a type, nor to a spread. */
export function omitUndefined<Members extends object>(members: Members): WithoutUndefined<Members> {
  const set = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as WithoutUndefined<Members>;
}
