/** Whether a value has more levels than these in it. Looks no further than that. */
export function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsDepth(inner, levels - 1));
}
