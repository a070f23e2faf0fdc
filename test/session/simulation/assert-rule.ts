/** Not `expect`, which is too slow: rules are checked some hundred times per story. */
export function must(isSo: boolean, rule: string): asserts isSo {
  if (!isSo) throw new Error(`Broken: ${rule}`);
}
