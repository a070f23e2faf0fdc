/** Collects the values of an option that may be repeated. */
export function collectOption(
  text: string,
  collectedValues: readonly string[] | undefined,
): string[] {
  return [...(collectedValues ?? []), text];
}
