/** Cuts text into the objects and arrays that stand in it one after another, as `jq` prints them. */
export function* splitJsonValues(text: string): Generator<string, void, undefined> {
  let start = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth > 0) continue;
      yield text.slice(start, at + 1).trim();
      start = at + 1;
      depth = 0;
    }
  }
  const rest = text.slice(start).trim();
  if (rest !== "") yield rest;
}
