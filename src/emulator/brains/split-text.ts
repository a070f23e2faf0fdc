/** Splits text into pieces of the given sizes, never inside a surrogate pair. */
export function* splitText(text: string, size: () => number): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + Math.max(1, size()));
    if (end < text.length && isLeadSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

function isLeadSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
