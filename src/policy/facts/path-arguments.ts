import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import type { ToolTraits } from "../../domain/tools/tool-traits.ts";

export interface PathArgument {
  /** Position in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  /** As written by the model. */
  readonly input: string;
  /** Why the argument is not a valid path. Undefined if the path can be resolved. */
  readonly problem?: string;
}

export interface PathArguments {
  readonly paths: readonly PathArgument[];
  /** Why the list of paths is uncertain. Undefined if it is certain. */
  readonly unclear?: string;
}

/** Reads the paths of a call: the declared arguments of the tool, or else arguments with common path names. */
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
    odd === undefined ? {} : { unclear: `${odd[0]} is neither a string nor a list of strings` };
  if (paths.length <= MAX_PATHS) return { paths, ...unclear };
  const problem = `there are more than ${MAX_PATHS} paths; name fewer in one call`;
  return { paths: [{ argument: "*", input: "", problem }], ...unclear };
}

/** Usual names of path arguments, for tools without declared paths. */
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
/** No file system accepts longer names. */
const MAX_NAME_BYTES = 255;

/** A declared path argument must be a string: any other value is an invalid path. */
function readDeclaredPaths(argument: string, value: JsonValue): PathArgument[] {
  return listItems(argument, value).flatMap(([at, item]): PathArgument[] => {
    if (typeof item === "string") return [createPathArgument(at, item)];
    if (item === null) return [];
    return [{ argument: at, input: toJsonText(item).slice(0, 200), problem: "it is not a string" }];
  });
}

/** Without a declaration, every string inside a structured value may be a path, object keys included. */
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

/** Unique strings. Stops once there are too many paths. */
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

/** Excludes file contents, which are often passed next to the path: a path has limited length and limited names. */
function mayBePath(text: string): boolean {
  if (text === "" || text.length > MAX_PATH_LENGTH) return false;
  const names = text.split(/[/\\]/);
  return names.every((name) => new TextEncoder().encode(name).length <= MAX_NAME_BYTES);
}
