import { isMap, isNode, isScalar, parseDocument, visit, type Document } from "yaml";
import { readConfigFile, unusableFileError } from "./read-config-file.ts";

/** What a file of YAML or JSON says, which is not checked yet. */
export async function readDocument(file: string): Promise<unknown> {
  return parseConfigText(await readConfigFile(file), file);
}

/** The same where its text is known. */
export function parseConfigText(text: string, file: string): unknown {
  // An alias can make a small file endlessly large. Keys are compared below: the library compares each with all others.
  const document = parseDocument(text, { merge: false, prettyErrors: true, uniqueKeys: false });
  const [problem] = document.errors;
  // The line and column are in its first line; the rest is a picture of them.
  if (problem !== undefined)
    throw unusableFileError(file, (problem.message.split("\n")[0] ?? "").replace(/:$/, ""));
  const structureProblem = findProblem(document);
  if (structureProblem !== undefined) {
    const line = text.slice(0, structureProblem.offset).split("\n").length;
    throw unusableFileError(
      file,
      `${structureProblem.description} at line ${line}${structureProblem.suggestion}`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw unusableFileError(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

const MAX_ALIASES = 100;

interface Problem {
  readonly description: string;
  /** What to do about it, after the place. */
  readonly suggestion: string;
  readonly offset: number;
}

/** What the library reads without a word, and not as it looks. */
function findProblem(document: Document.Parsed): Problem | undefined {
  let found: Problem | undefined;
  visit(document, {
    Node(_, node) {
      const offset = node.range?.[0] ?? 0;
      if (!isPlainTag(node.tag))
        found = {
          description: `it has the tag ${JSON.stringify(node.tag)}`,
          suggestion: "; leave it out",
          offset,
        };
      else if (isMap(node)) found = findKeyProblem(node.items.map(({ key }) => key));
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** Others make sets, dates and bytes, which would be read as if nothing stood there. */
function isPlainTag(tag: string | undefined): boolean {
  return tag === undefined || PLAIN_TAGS.test(tag);
}

const PLAIN_TAGS = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/** The second of two that are the same would quietly take the place of the first. */
function findKeyProblem(keys: readonly unknown[]): Problem | undefined {
  const seenKeys = new Set<string>();
  for (const key of keys) {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
    const value = isScalar(key) ? key.value : undefined;
    // An alias, a list, nothing: what name comes of it is seen only later.
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
      return {
        description: "there is a key that is no plain word",
        suggestion: "; write it out",
        offset,
      };
    const name = String(value);
    if (seenKeys.has(name))
      return {
        description: `the key ${JSON.stringify(name)} is there twice, again`,
        suggestion: "",
        offset,
      };
    seenKeys.add(name);
  }
  return undefined;
}
