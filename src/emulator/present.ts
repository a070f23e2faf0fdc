type Present<Members> = {
  [Name in keyof Members]?: Exclude<Members[Name], undefined>;
};

/** The members that are there: an absent one and one that is undefined are not the same to a type, nor to a spread. */
export function present<Members extends object>(members: Members): Present<Members> {
  const set = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Present<Members>;
}
