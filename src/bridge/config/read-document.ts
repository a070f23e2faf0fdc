import { isMap, isScalar, parseDocument, visit, type Document } from "yaml";
import { readText, unusable } from "./read-text.ts";

/** What a file of YAML or JSON says, which is not checked yet. */
export async function readDocument(file: string): Promise<unknown> {
  const text = await readText(file);
  // An alias can make a small file endlessly large. Keys are compared below: the library compares each with all others.
  const document = parseDocument(text, { merge: false, prettyErrors: true, uniqueKeys: false });
  const [problem] = document.errors;
  // The line and column are in its first line; the rest is a picture of them.
  if (problem !== undefined)
    throw unusable(file, (problem.message.split("\n")[0] ?? "").replace(/:$/, ""));
  const twice = keyThatIsTwice(document);
  if (twice !== undefined) {
    const line = text.slice(0, twice.offset).split("\n").length;
    throw unusable(
      file,
      `the key ${JSON.stringify(twice.key)} is there twice, again at line ${line}`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (cause) {
    throw unusable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

const MOST_ALIASES = 100;

interface RepeatedKey {
  readonly key: string;
  readonly offset: number;
}

/** The second of the two would quietly take the place of the first. */
function keyThatIsTwice(document: Document.Parsed): RepeatedKey | undefined {
  let found: RepeatedKey | undefined;
  visit(document, {
    Map(_, map) {
      if (!isMap(map)) return undefined;
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          found = { key: name, offset: key.range?.[0] ?? 0 };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}
