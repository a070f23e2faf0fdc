/** Estimates how many bytes of memory plain data takes. Objects which occur twice count twice. */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") bytes += STRING_BYTES + next.length;
    else if (Array.isArray(next)) {
      bytes += OBJECT_BYTES + SLOT_BYTES * next.length;
      for (const item of next) rest.push(item);
    } else if (typeof next === "object" && next !== null) {
      bytes += OBJECT_BYTES;
      for (const member of Object.values(next)) {
        bytes += SLOT_BYTES;
        rest.push(member);
      }
    }
  }
  return bytes;
}

const OBJECT_BYTES = 40;
const STRING_BYTES = 16;
const SLOT_BYTES = 8;
