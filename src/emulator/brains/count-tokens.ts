/** A stand-in for a tokenizer: four characters to a token, which is near enough for limits and bills in tests. */
export const CHARACTERS_PER_TOKEN = 4;

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
