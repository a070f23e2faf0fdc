/** Decodes a percent-encoded path segment or cookie value. Empty if the encoding is invalid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
