/** Not `expect`: rules are looked at some hundred times for every story. */
export function must(isSo: boolean, rule: string): asserts isSo {
  if (!isSo) throw new Error(`Broken: ${rule}`);
}
