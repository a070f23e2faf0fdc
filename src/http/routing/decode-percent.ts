/** A part of an address, or of a cookie, as it was before it was escaped; empty where it was not. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
