/** The significant words of a text, in lowercase and without endings. */
export function extractWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word))
    .map(stemWord);
}

/** A simple stemmer for tool names: "files" matches "file", "deleting" matches "delete". */
function stemWord(word: string): string {
  if (word.length > 5 && word.endsWith("ing")) return word.slice(0, -3).replace(/e$/, "");
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) {
    return word.slice(0, -1).replace(/e$/, "");
  }
  return word.length > 3 ? word.replace(/e$/, "") : word;
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be but by can could do does for from get give has have i in is it its may me my of on or our please so some tell that the their them then there these this those to us use used using want was we what when where which who will with would you your".split(
    " ",
  ),
);
