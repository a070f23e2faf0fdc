import { isMap, isNode, isScalar, parseDocument, visit, type Document } from "yaml";
import { readConfigFile, createUnusableFileError } from "./read-config-file.ts";

/** Reads a YAML or JSON file without validating its content. */
export async function readDocument(file: string): Promise<unknown> {
  return parseConfigText(await readConfigFile(file), file);
}

/** Parses the text of a YAML or JSON file. */
export function parseConfigText(text: string, file: string): unknown {
  // Aliases can expand a small file to an enormous size; `toJS` limits their number below. `uniqueKeys` is off, because
  // the library compares each key with all others; `findKeyProblem` compares keys in linear time.
  const document = parseDocument(text, { merge: false, prettyErrors: true, uniqueKeys: false });
  const [problem] = document.errors;
  // The first line contains the position. The remaining lines repeat the source.
  if (problem !== undefined)
    throw createUnusableFileError(file, (problem.message.split("\n")[0] ?? "").replace(/:$/, ""));
  const structureProblem = findProblem(document);
  if (structureProblem !== undefined) {
    const line = text.slice(0, structureProblem.offset).split("\n").length;
    throw createUnusableFileError(
      file,
      `${structureProblem.description} at line ${line}${structureProblem.suggestion}`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw createUnusableFileError(
      file,
      cause instanceof Error ? cause.message : String(cause),
      cause,
    );
  }
}

const MAX_ALIASES = 100;

interface Problem {
  readonly description: string;
  /** The fix, printed after the position. */
  readonly suggestion: string;
  readonly offset: number;
}

/** Finds constructs which the library accepts silently, but parses differently from their appearance. */
function findProblem(document: Document.Parsed): Problem | undefined {
  let found: Problem | undefined;
  visit(document, {
    Node(_, node) {
      const offset = node.range?.[0] ?? 0;
      if (!isPlainTag(node.tag))
        found = {
          description: `it has the tag ${JSON.stringify(node.tag)}`,
          suggestion: ". Fix: remove the tag",
          offset,
        };
      else if (isMap(node)) found = findKeyProblem(node.items.map(({ key }) => key));
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** Other tags create sets, dates and bytes, which would be parsed as empty values. */
function isPlainTag(tag: string | undefined): boolean {
  return tag === undefined || PLAIN_TAGS.test(tag);
}

const PLAIN_TAGS = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/** Finds duplicate and non-scalar keys. The second of two equal keys would silently replace the first. */
function findKeyProblem(keys: readonly unknown[]): Problem | undefined {
  const seenKeys = new Set<string>();
  for (const key of keys) {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
    const value = isScalar(key) ? key.value : undefined;
    // The name of an alias, a list or an empty key is known only after the conversion.
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
      return {
        description: "it has a key that is not a plain word",
        suggestion: ". Fix: write the key out",
        offset,
      };
    const name = String(value);
    if (seenKeys.has(name))
      return {
        description: `the key ${JSON.stringify(name)} is duplicated`,
        suggestion: "",
        offset,
      };
    seenKeys.add(name);
  }
  return undefined;
}
