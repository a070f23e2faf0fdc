/** A time in the words of HTTP, to the second: `Tue, 15 Nov 1994 08:12:31 GMT`. */
export function formatHttpTime(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}
