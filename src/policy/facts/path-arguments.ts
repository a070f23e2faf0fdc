import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import type { ToolTraits } from "../../domain/tools/tool-traits.ts";

export interface PathArgument {
  /** Where it stands, such as `path` or `paths[1]`. */
  readonly argument: string;
  /** As the model said it. */
  readonly input: string;
  /** Why it is no path; there is nothing to look for then. */
  readonly problem?: string;
}

export interface PathArguments {
  readonly paths: readonly PathArgument[];
  /** Why it is not certain which paths are meant. */
  readonly unclear?: string;
}

/** The paths in a call's arguments. */
export function readPathArguments(
  traits: ToolTraits | undefined,
  input: JsonObject,
): PathArguments {
  const declared = traits?.paths;
  const values = [...new Set(declared ?? PATH_NAMES)]
    .filter((name) => Object.hasOwn(input, name))
    .map((name) => [name, input[name] ?? null] as const);
  const read = declared === undefined ? guessPaths : readDeclaredPaths;
  const paths = values.flatMap(([name, value]) => read(name, value));
  const odd =
    declared === undefined ? values.find(([, value]) => !isStringOrStringList(value)) : undefined;
  const unclear =
    odd === undefined ? {} : { unclear: `${odd[0]} is neither text nor a list of it` };
  if (paths.length <= MAX_PATHS) return { paths, ...unclear };
  const problem = `there are more than ${MAX_PATHS} paths; name fewer in one call`;
  return { paths: [{ argument: "*", input: "", problem }], ...unclear };
}

/** What tools that say nothing of their paths call them. */
const PATH_NAMES = [
  "path",
  "file",
  "file_path",
  "target",
  "source_path",
  "old_path",
  "new_path",
  "target_path",
  "paths",
  "files",
  "cwd",
  "directory",
  "working_directory",
];

const MAX_PATHS = 256;
const MAX_PATH_LENGTH = 4_096;
/** In bytes: longer ones no file system takes. */
const MAX_NAME_BYTES = 255;

/** A tool that says which arguments are paths means them to be: anything but text is wrong there. */
function readDeclaredPaths(argument: string, value: JsonValue): PathArgument[] {
  return listItems(argument, value).flatMap(([at, item]): PathArgument[] => {
    if (typeof item === "string") return [createPathArgument(at, item)];
    if (item === null) return [];
    return [{ argument: at, input: toJsonText(item).slice(0, 200), problem: "it is no text" }];
  });
}

/** Where nobody said what is a path, every text in something else may be one, the names of its parts too. */
function guessPaths(argument: string, value: JsonValue): PathArgument[] {
  return listItems(argument, value).flatMap(([at, item]): PathArgument[] => {
    if (typeof item === "string") return [createPathArgument(at, item)];
    return collectStrings(item).map((input) => ({ argument: at, input }));
  });
}

function isStringOrStringList(value: JsonValue): boolean {
  const items = Array.isArray(value) ? value : [value];
  return items.every((item) => item === null || typeof item === "string");
}

function listItems(argument: string, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!Array.isArray(value)) return [[argument, value]];
  return value.slice(0, MAX_PATHS + 1).map((item: JsonValue, at) => [`${argument}[${at}]`, item]);
}

function createPathArgument(argument: string, input: string): PathArgument {
  if (input.length <= MAX_PATH_LENGTH) return { argument, input };
  const problem = `it is longer than ${MAX_PATH_LENGTH} characters`;
  return { argument, input: `${input.slice(0, 200)}…`, problem };
}

/** Each once, and no more than are needed to see that there are too many. */
function collectStrings(value: JsonValue): string[] {
  const texts = new Set<string>();
  const open: JsonValue[] = [value];
  while (open.length > 0 && texts.size <= MAX_PATHS) {
    const current = open.pop() ?? null;
    if (typeof current === "string" && mayBePath(current)) texts.add(current);
    if (Array.isArray(current)) for (const item of current) open.push(item);
    else if (isObject(current)) {
      for (const [name, inner] of Object.entries(current)) {
        if (!PATH_NAMES.includes(name) && mayBePath(name)) texts.add(name);
        open.push(inner);
      }
    }
  }
  return [...texts];
}

/** What a file holds often stands beside its path. */
function mayBePath(text: string): boolean {
  if (text === "" || text.length > MAX_PATH_LENGTH) return false;
  const names = text.split(/[/\\]/);
  return names.every((name) => new TextEncoder().encode(name).length <= MAX_NAME_BYTES);
}
