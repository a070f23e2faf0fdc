/** Reads an option that may be given several times. */
export function collectOption(
  text: string,
  collectedValues: readonly string[] | undefined,
): string[] {
  return [...(collectedValues ?? []), text];
}
