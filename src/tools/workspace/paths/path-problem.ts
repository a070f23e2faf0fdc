/** What is wrong with a text as a path, before anything is looked up; undefined when nothing is. */
export function findPathProblem(input: string): string | undefined {
  if (input === "") return "it is empty";
  if (input.includes("\0")) return "it has a NUL character";
  if (CONTROL.test(input)) return "it has control characters";
  if (!input.isWellFormed()) return "it is no Unicode text";
  if (input.includes("\\")) return "it has a backslash; folders are separated with /";
  if (/^[a-z]:/i.test(input)) return "it begins with a drive letter; there are none here";
  if (Buffer.byteLength(input) > MAX_PATH_BYTES) return "it is too long";
  return undefined;
}

/** Also those that turn the direction of a text around: a person who is asked sees another name than the one meant. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Linux takes this much with the byte that ends it. */
const MAX_PATH_BYTES = 4095;
