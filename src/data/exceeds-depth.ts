/** True if a value has more than `levels` levels of nesting. The recursion stops at this depth. */
export function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsDepth(inner, levels - 1));
}
