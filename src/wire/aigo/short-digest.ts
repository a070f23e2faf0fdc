/** Sixteen characters that are the same for the same text, and hardly ever for another. Not for secrets. */
export function shortDigest(text: string): string {
  let left = 0x811c9dc5;
  let right = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // FNV-1a, and a second one that starts and steps otherwise.
    left = Math.imul(left ^ code, 0x01000193);
    right = Math.imul(right ^ (code + at), 0x85ebca6b);
  }
  return hex(left ^ (right >>> 15)) + hex(right ^ (left >>> 13));
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
